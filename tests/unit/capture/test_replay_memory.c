// SPDX-License-Identifier: Apache-2.0
/* Reads are answered by what a capture's steps have read, and by nothing else. */
#include "capture/replay_memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

#define PID 4711
#define A   UINT64_C(0x7f0000001000)
#define B   UINT64_C(0x7f0000002000)

static struct replay_memory memory;
static struct bytes reads; /* of the step that is being made */
static uint64_t n_reads;
static struct bytes steps[16]; /* of all steps: bytes are borrowed from them */
static size_t n_steps;

static int tear_down(void **state)
{
	replay_memory_fini(&memory);
	for (size_t i = 0; i < n_steps; i++)
		bytes_fini(&steps[i]);
	bytes_fini(&reads);
	memset(steps, 0, sizeof(steps));
	n_steps = 0;
	n_reads = 0;
	return 0;
}

/* ---- steps ---- */

/* A read of a piece: result bytes of text, or result is negative. */
static void add_read(uint64_t addr, uint64_t len, int64_t result, const char *text)
{
	bytes_add_varint(&reads, 1);
	bytes_add_varint(&reads, addr);
	bytes_add_varint(&reads, len);
	capture_put_signed(&reads, result);
	bytes_add(&reads, text, strlen(text));
	n_reads++;
}

static void add(uint64_t addr, const char *text)
{
	add_read(addr, strlen(text), (int64_t)strlen(text), text);
}

/* Two pieces, both of len bytes. */
static void add_pair(uint64_t first, uint64_t second, uint64_t len, const char *text)
{
	bytes_add_varint(&reads, 2);
	bytes_add_varint(&reads, first);
	bytes_add_varint(&reads, len);
	bytes_add_varint(&reads, second);
	bytes_add_varint(&reads, len);
	capture_put_signed(&reads, (int64_t)strlen(text));
	bytes_add(&reads, text, strlen(text));
	n_reads++;
}

/* Begins a step with the reads that were added, or, cut, with all but so many of their bytes. */
static int begin_cut(pid_t pid, size_t cut)
{
	struct bytes *const step = &steps[n_steps++];
	struct capture_cursor cursor;

	bytes_add_varint(step, n_reads);
	bytes_add(step, reads.data, reads.len);
	reads.len = 0;
	n_reads = 0;
	cursor = (struct capture_cursor){.at = (const uint8_t *)step->data,
					 .end = (const uint8_t *)step->data + step->len - cut};
	return replay_memory_begin(&memory, pid, &cursor);
}

static void begin(pid_t pid)
{
	assert_int_equal(begin_cut(pid, 0), 0);
}

/* ---- reads ---- */

static void check_read(uint64_t addr, size_t len, const char *expected)
{
	char text[64] = "";
	const struct iovec to = {.iov_base = text, .iov_len = len},
			   from = {.iov_base = (void *)(uintptr_t)addr, .iov_len = len};

	assert_int_equal(replay_memory_read(&memory, &to, &from, 1), strlen(expected));
	assert_string_equal(text, expected);
}

static void check_refused(uint64_t addr, size_t len, ssize_t err)
{
	char text[64] = "untouched";
	const struct iovec to = {.iov_base = text, .iov_len = len},
			   from = {.iov_base = (void *)(uintptr_t)addr, .iov_len = len};

	assert_int_equal(replay_memory_read(&memory, &to, &from, 1), err);
	assert_string_equal(text, "untouched");
}

static void check_unanswered(uint64_t addr, size_t len)
{
	const uint64_t before = memory.unanswered;

	check_refused(addr, len, -EFAULT);
	assert_int_equal(memory.unanswered, before + 1);
}

static void check_pair(uint64_t first, uint64_t second, size_t len, const char *expected)
{
	char text[64] = "";
	const struct iovec to[] = {{text, len}, {text + len, len}};
	const struct iovec from[] = {{(void *)(uintptr_t)first, len},
				     {(void *)(uintptr_t)second, len}};

	assert_int_equal(replay_memory_read(&memory, to, from, 2), strlen(expected));
	assert_string_equal(text, expected);
}

/* ---- claims ---- */

static void an_equal_read_of_the_step_answers(void **state)
{
	add(A, "alpha");
	add(B, "beta");
	begin(PID);
	check_read(B, 4, "beta");
	check_read(A, 5, "alpha");
	assert_int_equal(memory.unanswered, 0);
}

static void a_read_that_failed_or_was_short_is_so_again(void **state)
{
	add_read(A, 8, -EFAULT, "");
	add_read(B, 8, 3, "abc");
	add_read(B + 16, 8, 0, "");
	add_read(B + 32, UINT64_MAX, -EINVAL, "");
	begin(PID);
	check_refused(A, 8, -EFAULT);
	check_read(B, 8, "abc");
	check_read(B + 16, 8, "");
	check_refused(B + 32, SIZE_MAX, -EINVAL);
	assert_int_equal(memory.unanswered, 0); /* the capture says so */
}

static void pieces_are_filled_one_after_the_other(void **state)
{
	add_pair(A, B, 4, "onetwo!!");
	add_pair(A, B, 4, "cut s");
	begin(PID);
	check_pair(A, B, 4, "onetwo!!");
	check_pair(A, B, 4, "cut s");
}

/* The memory has changed meanwhile: the walk reads it twice. */
static void of_equal_reads_those_not_used_come_first(void **state)
{
	add(A, "old");
	add(A, "mid");
	add(A, "new");
	begin(PID);
	check_read(A, 3, "old");
	check_read(A, 3, "mid");
	check_read(A, 3, "new");
	check_read(A, 3, "new");
	assert_int_equal(memory.unanswered, 0);
}

static void bytes_of_an_earlier_step_answer_what_a_cache_spared(void **state)
{
	add(A, "first");
	begin(PID);
	begin(PID);
	check_read(A, 5, "first");
	check_read(A, 3, "fir"); /* the beginning of what was read */
	check_unanswered(A, 6);
	check_unanswered(A + 1, 1); /* that is not where a read began */
}

static void the_step_itself_goes_before_earlier_steps(void **state)
{
	add(A, "first");
	begin(PID);
	add(A, "again");
	begin(PID);
	check_read(A, 5, "again");
	begin(PID);
	check_read(A, 5, "again"); /* the last of all */
}

static void pieces_of_several_earlier_reads_answer_one(void **state)
{
	add(A, "one ");
	begin(PID);
	add(B, "two ");
	begin(PID);
	begin(PID);
	check_pair(A, B, 4, "one two ");
	assert_int_equal(memory.unanswered, 0);
}

static void all_pieces_are_known_or_the_read_is_unanswered(void **state)
{
	char text[8];
	const struct iovec to[] = {{text, 4}, {text + 4, 4}};
	const struct iovec from[] = {{(void *)(uintptr_t)A, 4}, {(void *)(uintptr_t)B, 4}};

	add(A, "one ");
	begin(PID);
	begin(PID);
	assert_int_equal(replay_memory_read(&memory, to, from, 2), -EFAULT);
	assert_int_equal(memory.unanswered, 1);
}

/* Its length says that there was more, which was not mapped then and may be now. */
static void a_short_read_of_an_earlier_step_is_not_known(void **state)
{
	add_read(A, 8, 3, "abc");
	begin(PID);
	begin(PID);
	check_unanswered(A, 3);
}

static void another_process_has_other_memory(void **state)
{
	add(A, "mine");
	begin(PID);
	begin(PID + 1);
	check_unanswered(A, 4);
	begin(PID);
	check_read(A, 4, "mine");
}

static void reads_of_a_step_before_are_no_reads_of_this_one(void **state)
{
	add_read(A, 8, -EFAULT, "");
	begin(PID);
	check_refused(A, 8, -EFAULT);
	assert_int_equal(memory.unanswered, 0);
	begin(PID);
	check_unanswered(A, 8);
}

static void unanswered_reads_are_counted(void **state)
{
	begin(PID);
	for (unsigned i = 0; i < 5; i++)
		check_unanswered(A + i, 4);
	assert_int_equal(memory.unanswered, 5);
}

static void nothing_was_read_before_the_first_step(void **state)
{
	check_unanswered(A, 4);
}

/* ---- damage ---- */

static void damaged_reads_are_refused(void **state)
{
	add_read(A, 4, 5, "12345"); /* more than was asked for */
	assert_int_equal(begin_cut(PID, 0), -EINVAL);
	add_read(A, 8, INT64_MAX, "12345678");
	assert_int_equal(begin_cut(PID, 0), -EINVAL);
	bytes_add_varint(&reads, CAPTURE_MAX_PIECES + 1);
	n_reads = 1;
	assert_int_equal(begin_cut(PID, 0), -EINVAL);
	n_reads = CAPTURE_MAX_READS + 1;
	assert_int_equal(begin_cut(PID, 0), -EINVAL);
	add(A, "right");
	begin(PID);
	check_read(A, 5, "right");
}

static void each_cut_of_a_step_is_refused(void **state)
{
	for (size_t cut = 1; cut < 12; cut++) {
		add(A, "12345"); /* with its count, 15 bytes */
		assert_int_equal(begin_cut(PID, cut), -EINVAL);
	}
}

#define CASE(test) cmocka_unit_test_teardown(test, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(an_equal_read_of_the_step_answers),
		CASE(a_read_that_failed_or_was_short_is_so_again),
		CASE(pieces_are_filled_one_after_the_other),
		CASE(of_equal_reads_those_not_used_come_first),
		CASE(bytes_of_an_earlier_step_answer_what_a_cache_spared),
		CASE(the_step_itself_goes_before_earlier_steps),
		CASE(pieces_of_several_earlier_reads_answer_one),
		CASE(all_pieces_are_known_or_the_read_is_unanswered),
		CASE(a_short_read_of_an_earlier_step_is_not_known),
		CASE(another_process_has_other_memory),
		CASE(reads_of_a_step_before_are_no_reads_of_this_one),
		CASE(unanswered_reads_are_counted),
		CASE(nothing_was_read_before_the_first_step),
		CASE(damaged_reads_are_refused),
		CASE(each_cut_of_a_step_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
