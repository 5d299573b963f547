// SPDX-License-Identifier: Apache-2.0
/* Claims about guard/reader.h: others read, and who is not answered holds up nobody. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/reach.h"
#include "guard/reader.h"
#include "base/thread.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FOR_EVER UINT64_MAX

/* Tells of the process that makes the call. */
static ssize_t run_pid(const void *request, size_t len, int fd, void *bytes)
{
	const pid_t pid = getpid();

	memcpy(bytes, &pid, sizeof(pid));
	return sizeof(pid);
}

static ssize_t run_file(const void *request, size_t len, int fd, void *bytes)
{
	return len == 3 && memcmp(request, "abc", 3) == 0 ? read(fd, bytes, 16) : -EBADMSG;
}

/* Says that it has begun, and does not end. */
static ssize_t run_never(const void *request, size_t len, int fd, void *bytes)
{
	(void)!write(fd, "x", 1);
	while (pause() < 0)
		continue;
	return 0;
}

static const struct reader_role pid_role = {run_pid};
static const struct reader_role file_role = {run_file};
static const struct reader_role never_role = {run_never};

static int setup(void **state)
{
	return reach_start();
}

static int teardown(void **state)
{
	reach_stop();
	return 0;
}

static pid_t pid_of(struct reader *reader)
{
	const void *bytes;
	pid_t pid = 0;

	reader_set(reader, &pid_role, NULL, 0);
	assert_true(reader_begin(reader, REACH_NO_FD));
	assert_true(reader_wait(reader, FOR_EVER));
	assert_int_equal(reader_result(reader, &bytes), sizeof(pid));
	memcpy(&pid, bytes, sizeof(pid));
	return pid;
}

static void one_process_makes_one_call_after_the_other(void **state)
{
	struct reader *const reader = reader_take(), *other;
	pid_t pid;

	assert_non_null(reader);
	pid = pid_of(reader);
	assert_true(pid > 0 && pid != getpid());
	assert_int_equal(pid_of(reader), pid);
	other = reader_take();
	assert_true(pid_of(other) != pid);
	reader_give(other);
	reader_give(reader);
	assert_ptr_equal(reader_take(), reader); /* the last one that was given back */
	reader_give(reader);
}

static void a_call_has_its_request_and_its_descriptor(void **state)
{
	struct reader *const reader = reader_take();
	const void *bytes;
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write(fds[1], "hello", 5), 5);
	reader_set(reader, &file_role, "abc", 3);
	assert_true(reader_begin(reader, fds[0]));
	assert_true(reader_wait(reader, FOR_EVER));
	assert_int_equal(reader_result(reader, &bytes), 5);
	assert_memory_equal(bytes, "hello", 5);
	close(fds[0]);
	reader_give(reader);
	/* The reader has closed its own. */
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(write(fds[1], "x", 1), -1);
	assert_int_equal(errno, EPIPE);
	close(fds[1]);
}

static void memory_is_read_piece_by_piece(void **state)
{
	const size_t len = READER_MAX_BYTES + 4096;
	char *const all = malloc(len), *const got = calloc(1, len);
	const struct iovec from[] = {{all + 100, len - 100}, {all, 100}};
	const struct iovec to[] = {{got, 3}, {got + 3, len - 3}};

	for (size_t i = 0; i < len; i++)
		all[i] = (char)(i * 7 + i / 251);
	assert_int_equal(reader_read_memory(getpid(), to, 2, from, 2), len);
	assert_memory_equal(got, all + 100, len - 100);
	assert_memory_equal(got + len - 100, all, 100);
	free(all);
	free(got);
}

static void what_is_not_mapped_ends_a_read(void **state)
{
	char word[8] = "1234567", got[16] = {0};
	const struct iovec from[] = {{word, 8}, {(void *)8, 8}};
	const struct iovec to = {got, sizeof(got)};

	assert_int_equal(reader_read_memory(getpid(), &to, 1, from, 2), 8);
	assert_string_equal(got, word);
	assert_int_equal(reader_read_memory(getpid(), &to, 1, from + 1, 1), -EFAULT);
}

static void a_reader_that_does_not_answer_is_left_to_itself(void **state)
{
	struct reader *const reader = reader_take();
	struct reader *other;
	int fds[2];
	char byte;

	assert_int_equal(pipe(fds), 0);
	reader_set(reader, &never_role, NULL, 0);
	assert_true(reader_begin(reader, fds[1]));
	assert_int_equal(read(fds[0], &byte, 1), 1);
	assert_false(reader_wait(reader, 0));
	while (reader_is_busy(reader))
		sched_yield();
	other = reader_take();
	assert_true(pid_of(other) > 0);
	reader_give(other);
	reader_give(reader);
	reach_stop();
	close(fds[1]);
	assert_int_equal(read(fds[0], &byte, 1), 0); /* its process has ended */
	close(fds[0]);
}

static void a_reader_that_ends_says_so_and_another_takes_its_place(void **state)
{
	struct reader *reader = reader_take();
	const pid_t pid = pid_of(reader);
	const void *bytes;

	assert_int_equal(kill(pid, SIGKILL), 0);
	reader_set(reader, &pid_role, NULL, 0);
	/* It has ended by now, or does so with the call. */
	if (reader_begin(reader, REACH_NO_FD))
		assert_true(reader_wait(reader, FOR_EVER));
	assert_int_equal(reader_result(reader, &bytes), -ECHILD);
	reader_give(reader);
	reader = reader_take();
	assert_true(pid_of(reader) != pid);
	reader_give(reader);
}

static void *read_in_vain(void *arg)
{
	struct reader *const reader = arg;

	reader_wait(reader, FOR_EVER);
	return NULL;
}

static void who_waits_is_told_when_calls_end(void **state)
{
	struct reader *const reader = reader_take();
	const struct iovec piece = {&(char){0}, 1};
	pthread_t thread;
	const void *bytes;
	int fds[2];
	char byte;

	assert_int_equal(pipe(fds), 0);
	reader_set(reader, &never_role, NULL, 0);
	assert_true(reader_begin(reader, fds[1]));
	assert_int_equal(read(fds[0], &byte, 1), 1);
	assert_int_equal(thread_start(&thread, read_in_vain, reader), 0);
	reach_stop();
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(reader_result(reader, &bytes), -ECHILD);
	reader_give(reader);
	/* Nothing is read by this process itself, now that it is about to end. */
	assert_int_equal(reader_read_memory(getpid(), &piece, 1, &piece, 1), -ECHILD);
	close(fds[0]);
	close(fds[1]);
}

#define CLAIM(claim) cmocka_unit_test_setup_teardown(claim, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM(one_process_makes_one_call_after_the_other),
		CLAIM(a_call_has_its_request_and_its_descriptor),
		CLAIM(memory_is_read_piece_by_piece),
		CLAIM(what_is_not_mapped_ends_a_read),
		CLAIM(a_reader_that_does_not_answer_is_left_to_itself),
		CLAIM(a_reader_that_ends_says_so_and_another_takes_its_place),
		CLAIM(who_waits_is_told_when_calls_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
