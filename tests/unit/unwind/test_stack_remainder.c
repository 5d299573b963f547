// SPDX-License-Identifier: Apache-2.0
/* Claims about unwind/stack_remainder.h, on a made-up stack in the memory of this process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "unwind/live_stack.h"
#include "unwind/stack_remainder.h"

#define PAGE	    4096u
#define STACK_BYTES (64u * PAGE)
#define COPY_BYTES  8192u
#define NOW	    UINT64_C(5000000000)

/* The "stack", with nothing mapped behind it, and the copy of it in a sample. */
static uint8_t *memory;
static uint8_t copied[COPY_BYTES];
static struct stack_remainders remainders;

static int set_up(void **state)
{
	memory = mmap(NULL, STACK_BYTES + PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED || mprotect(memory, STACK_BYTES, PROT_READ | PROT_WRITE) < 0)
		return -1;
	for (size_t i = 0; i < STACK_BYTES; i++)
		memory[i] = (uint8_t)(i * 31 + i / 251);
	remainders = (struct stack_remainders){0};
	return 0;
}

static int tear_down(void **state)
{
	stack_remainders_fini(&remainders);
	return munmap(memory, STACK_BYTES + PAGE);
}

static struct snapshot copy_at(size_t offset)
{
	memcpy(copied, memory + offset, sizeof(copied));
	return (struct snapshot){.addr = (uint64_t)(uintptr_t)memory + offset,
				 .bytes = copied,
				 .len = sizeof(copied)};
}

static struct stack_copy taken(const struct snapshot *bytes, uint64_t time_ns)
{
	return (struct stack_copy){.pid = getpid(), .time_ns = time_ns, .bytes = *bytes};
}

/* Keeps a remainder that is read at now_ns. */
static void keep_at(const struct snapshot *bytes, uint64_t time_ns, size_t len, uint64_t now_ns)
{
	const struct stack_copy copy = taken(bytes, time_ns);

	stack_remainders_keep(&remainders, &copy, len, now_ns);
}

static void keep(const struct snapshot *bytes, uint64_t time_ns, size_t len)
{
	keep_at(bytes, time_ns, len, time_ns);
}

static struct stack_remainders_found find_both(const struct snapshot *bytes, uint64_t time_ns)
{
	const struct stack_copy copy = taken(bytes, time_ns);

	return stack_remainders_find(&remainders, &copy, bytes->addr);
}

static const struct stack_remainder *find(const struct snapshot *bytes, uint64_t time_ns)
{
	return find_both(bytes, time_ns).nearest;
}

static size_t wanted(const struct snapshot *bytes)
{
	const struct stack_copy copy = taken(bytes, NOW);

	return stack_remainders_wanted(&remainders, &copy);
}

static void note(const struct snapshot *bytes, uint64_t root)
{
	const struct stack_copy copy = taken(bytes, NOW);

	stack_remainders_note(&remainders, &copy, root);
}

static void remainders_that_nobody_can_want_any_more_go(void **state)
{
	const struct snapshot copy = copy_at(PAGE);

	keep(&copy, NOW, 2 * PAGE);
	memory[PAGE + COPY_BYTES - 1]++; /* another stack: the first remainder is none of it */
	const struct snapshot other = copy_at(PAGE);
	keep(&other, NOW + STACK_REMAINDERS_KEPT_NS, 2 * PAGE);
	assert_int_equal(remainders.count, 2);
	memory[PAGE + COPY_BYTES - 1]++;
	const struct snapshot third = copy_at(PAGE);
	keep(&third, NOW + STACK_REMAINDERS_KEPT_NS + 1, 2 * PAGE);
	assert_int_equal(remainders.count, 2);
	assert_int_equal(remainders.dropped, 0);
}

static void what_was_behind_a_copy_outlives_the_stack(void **state)
{
	struct snapshot copy = copy_at(PAGE);
	const uint8_t behind = memory[PAGE + COPY_BYTES + 77];
	struct live_stack live = {0};

	keep(&copy, NOW, 2 * PAGE);
	memset(memory, 0, STACK_BYTES); /* the thread has returned */
	assert_non_null(find(&copy, NOW));
	assert_true(live_stack_append(&live, find(&copy, NOW), &copy));
	assert_int_equal(copy.len, COPY_BYTES + 2 * PAGE);
	assert_memory_equal(copy.bytes, copied, COPY_BYTES);
	assert_int_equal(copy.bytes[COPY_BYTES + 77], behind);
	live_stack_fini(&live);
}

/* The frames at the end of the other stack are others. */
static void what_was_behind_another_stack_is_not_taken(void **state)
{
	struct snapshot copy = copy_at(PAGE);

	keep(&copy, NOW, 2 * PAGE);
	copied[COPY_BYTES - 3] ^= 1;
	assert_null(find(&copy, NOW));
	copied[COPY_BYTES - 3] ^= 1;
	assert_non_null(find(&copy, NOW));
	struct stack_copy of_another = taken(&copy, NOW);
	of_another.pid++;
	assert_null(stack_remainders_find(&remainders, &of_another, copy.addr).nearest);
	assert_null(find(&copy, NOW + 2 * STACK_REMAINDERS_AGE_NS));
}

static void a_stack_that_has_changed_already_is_not_kept(void **state)
{
	struct snapshot copy = copy_at(PAGE);

	memory[PAGE + COPY_BYTES - 1] ^= 1;
	keep(&copy, NOW, 2 * PAGE);
	assert_int_equal(remainders.count, 0);
	assert_int_equal(remainders.reads, 1);
}

/*
 * Of two remainders that fit, the one nearer in time is found, because stacks with equal ends may
 * go on differently.
 */
static void the_nearest_in_time_is_found(void **state)
{
	const struct snapshot copy = copy_at(PAGE);
	const size_t behind = PAGE + COPY_BYTES + 8;

	keep(&copy, NOW, PAGE);
	memory[behind] = 7;
	keep(&copy, NOW + 1000, 2 * PAGE);
	memory[behind] = 8;
	keep(&copy, NOW + 2000, 3 * PAGE);
	assert_int_equal(find(&copy, NOW + 1100)->bytes[STACK_TAIL_BYTES + 8], 7);
	assert_int_equal(find(&copy, NOW + 1900)->bytes[STACK_TAIL_BYTES + 8], 8);
}

/*
 * Newer frames come and go. The remainder behind older frames is read once for all samples that
 * wait.
 */
static void what_was_read_since_is_not_read_again(void **state)
{
	struct snapshot copy = copy_at(PAGE);

	keep_at(&copy, NOW, 8 * PAGE, NOW + 5000);
	copy = copy_at(2 * PAGE);
	keep_at(&copy, NOW + 1000, 7 * PAGE, NOW + 5100);
	assert_int_equal(remainders.reads, 1);
	assert_non_null(find(&copy, NOW + 1000));
}

static void what_was_read_before_is_read_again_and_kept_once(void **state)
{
	struct snapshot copy = copy_at(PAGE);

	keep_at(&copy, NOW, 8 * PAGE, NOW + 1000);
	keep_at(&copy, NOW + 2000, 8 * PAGE, NOW + 3000);
	assert_int_equal(remainders.reads, 2);
	assert_int_equal(remainders.count, 1);
	assert_non_null(find(&copy, NOW + 2000));
	assert_null(find_both(&copy, NOW + 2000).other);
	assert_int_equal(find(&copy, NOW + 2000)->seen_ns, NOW + 3000);
}

/* The thread has left the stack's frames and made them again, with other frames behind them. */
static void what_changed_about_then_is_found_as_it_was_and_as_it_is(void **state)
{
	const struct snapshot copy = copy_at(PAGE);
	const size_t behind = PAGE + COPY_BYTES + 8;
	struct stack_remainders_found found;

	memory[behind] = 7;
	keep_at(&copy, NOW, PAGE, NOW + 1000);
	memory[behind] = 8;
	keep_at(&copy, NOW + 2000, PAGE, NOW + 3500);
	assert_int_equal(remainders.count, 2);
	found = find_both(&copy, NOW + 2000);
	assert_non_null(found.other);
	assert_int_equal(found.nearest->bytes[STACK_TAIL_BYTES + 8], 7);
	assert_int_equal(found.other->bytes[STACK_TAIL_BYTES + 8], 8);
	/* What was seen to be so before and after is certain. */
	keep_at(&copy, NOW + 4000, PAGE, NOW + 5000);
	found = find_both(&copy, NOW + 4000);
	assert_null(found.other);
	assert_int_equal(found.nearest->bytes[STACK_TAIL_BYTES + 8], 8);
	assert_null(find_both(&copy, NOW).other);
	assert_non_null(find_both(&copy, NOW + 2000).other);
	/* A later change of the stack does not matter. */
	memory[behind] = 9;
	keep_at(&copy, NOW + 6000, PAGE, NOW + 7000);
	assert_null(find_both(&copy, NOW + 4000).other);
	assert_non_null(find_both(&copy, NOW + 6000).other);
}

/* The bytes in front of the older copy's end have not been compared since. */
static void what_was_seen_again_is_so_only_behind_the_copy_it_was_seen_for(void **state)
{
	struct snapshot copy = copy_at(2 * PAGE);

	keep_at(&copy, NOW, 8 * PAGE, NOW + 1000);
	copy = copy_at(3 * PAGE);
	keep_at(&copy, NOW + 2000, 7 * PAGE, NOW + 3000);
	assert_int_equal(remainders.count, 1);
	copy = copy_at(2 * PAGE);
	keep_at(&copy, NOW + 2500, 8 * PAGE, NOW + 3100);
	assert_int_equal(remainders.reads, 3);
}

static void more_than_was_kept_is_read(void **state)
{
	const struct snapshot copy = copy_at(PAGE);

	keep_at(&copy, NOW, PAGE, NOW + 1000);
	keep_at(&copy, NOW + 100, 2 * PAGE, NOW + 1100);
	assert_int_equal(remainders.reads, 2);
	assert_int_equal(remainders.count, 2);
}

static void a_stack_that_has_no_more_is_not_asked_for_more(void **state)
{
	const struct snapshot copy = copy_at(STACK_BYTES - COPY_BYTES - PAGE);

	keep_at(&copy, NOW, 16 * PAGE, NOW + 1000);
	keep_at(&copy, NOW + 100, 16 * PAGE, NOW + 1100);
	assert_int_equal(remainders.reads, 1);
}

/* The stack may be deep: no stack of the thread has been walked yet. */
static void what_lies_behind_the_first_full_copy_is_wanted(void **state)
{
	const struct snapshot ended = copy_at(PAGE), full = copy_at(PAGE + 64);

	assert_int_equal(wanted(&ended), 0);
	assert_int_equal(wanted(&full), 128 * 1024);
	note(&full, full.addr + full.len - 100);
	assert_int_equal(wanted(&full), 0);
}

static void less_is_kept_where_the_stack_ends(void **state)
{
	const struct snapshot copy = copy_at(STACK_BYTES - COPY_BYTES - PAGE);

	keep(&copy, NOW, 16 * PAGE);
	assert_int_equal(find(&copy, NOW)->len, STACK_TAIL_BYTES + PAGE);
}

static void nothing_is_wanted_where_stacks_end_with_the_copy(void **state)
{
	const struct snapshot copy = copy_at(PAGE);
	const uint64_t end = copy.addr + copy.len;

	assert_int_equal(wanted(&copy), 0);
	note(&copy, end - 100);
	assert_int_equal(wanted(&copy), 0);
	note(&copy, end + 5000);
	assert_int_equal(wanted(&copy), 5000);
	struct stack_copy of_another = taken(&copy, NOW);
	of_another.pid++;
	assert_int_equal(stack_remainders_wanted(&remainders, &of_another), 0);
}

static void no_more_is_kept_than_there_may_be(void **state)
{
	struct snapshot copy = copy_at(PAGE);

	for (uint32_t i = 0; i < 2 * STACK_REMAINDERS_MAX; i++) {
		memory[PAGE + COPY_BYTES - 1] = (uint8_t)i;
		memory[PAGE + COPY_BYTES - 2] = (uint8_t)(i >> 8);
		copy = copy_at(PAGE);
		keep(&copy, NOW + i, 30 * PAGE);
		assert_true(remainders.bytes <= STACK_REMAINDERS_MAX_BYTES);
		assert_true(remainders.count <= STACK_REMAINDERS_MAX);
		assert_non_null(find(&copy, NOW + i));
	}
	assert_true(remainders.count > 100);
}

#define TEST(claim) cmocka_unit_test_setup_teardown(claim, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(remainders_that_nobody_can_want_any_more_go, set_up,
						tear_down),
		TEST(what_was_behind_a_copy_outlives_the_stack),
		TEST(what_was_behind_another_stack_is_not_taken),
		TEST(a_stack_that_has_changed_already_is_not_kept),
		TEST(the_nearest_in_time_is_found),
		TEST(what_was_read_since_is_not_read_again),
		TEST(what_was_read_before_is_read_again_and_kept_once),
		TEST(what_changed_about_then_is_found_as_it_was_and_as_it_is),
		TEST(what_was_seen_again_is_so_only_behind_the_copy_it_was_seen_for),
		TEST(more_than_was_kept_is_read),
		TEST(a_stack_that_has_no_more_is_not_asked_for_more),
		TEST(what_lies_behind_the_first_full_copy_is_wanted),
		TEST(less_is_kept_where_the_stack_ends),
		TEST(nothing_is_wanted_where_stacks_end_with_the_copy),
		TEST(no_more_is_kept_than_there_may_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
