// SPDX-License-Identifier: Apache-2.0
/* Claims about unwind/stack_rests.h, on a stack made up in this process's own memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "unwind/live_stack.h"
#include "unwind/stack_rests.h"

#define PAGE	    4096u
#define STACK_BYTES (64u * PAGE)
#define COPY_BYTES  8192u
#define NOW	    UINT64_C(5000000000)

/* The "stack", with nothing mapped behind it; and what a sample copied of it. */
static uint8_t *memory;
static uint8_t copied[COPY_BYTES];
static struct stack_rests rests;

static int set_up(void **state)
{
	(void)state;
	memory = mmap(NULL, STACK_BYTES + PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED || mprotect(memory, STACK_BYTES, PROT_READ | PROT_WRITE) < 0)
		return -1;
	for (size_t i = 0; i < STACK_BYTES; i++)
		memory[i] = (uint8_t)(i * 31 + i / 251);
	rests = (struct stack_rests){0};
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	stack_rests_fini(&rests);
	return munmap(memory, STACK_BYTES + PAGE);
}

static struct snapshot copy_at(size_t offset)
{
	memcpy(copied, memory + offset, sizeof(copied));
	return (struct snapshot){.addr = (uint64_t)(uintptr_t)memory + offset,
				 .bytes = copied,
				 .len = sizeof(copied)};
}

static void keep(const struct snapshot *copy, uint64_t time_ns, size_t len)
{
	stack_rests_keep(&rests, getpid(), time_ns, copy, len);
}

static const struct stack_rest *find(const struct snapshot *copy, uint64_t time_ns)
{
	return stack_rests_find(&rests, getpid(), time_ns, copy, copy->addr);
}

static void rests_that_nobody_can_want_any_more_go(void **state)
{
	const struct snapshot copy = copy_at(PAGE);

	(void)state;
	keep(&copy, NOW, 2 * PAGE);
	memory[PAGE + COPY_BYTES - 1]++; /* another stack: the first rest is none of it */
	const struct snapshot other = copy_at(PAGE);
	keep(&other, NOW + STACK_RESTS_KEPT_NS, 2 * PAGE);
	assert_int_equal(rests.count, 2);
	memory[PAGE + COPY_BYTES - 1]++;
	const struct snapshot third = copy_at(PAGE);
	keep(&third, NOW + STACK_RESTS_KEPT_NS + 1, 2 * PAGE);
	assert_int_equal(rests.count, 2);
	assert_int_equal(rests.dropped, 0);
}

static void what_was_behind_a_copy_outlives_the_stack(void **state)
{
	struct snapshot copy = copy_at(PAGE);
	const uint8_t behind = memory[PAGE + COPY_BYTES + 77];
	struct live_stack live = {0};

	(void)state;
	keep(&copy, NOW, 2 * PAGE);
	memset(memory, 0, STACK_BYTES); /* the thread has returned */
	assert_non_null(find(&copy, NOW));
	assert_true(live_stack_append(&live, find(&copy, NOW), &copy));
	assert_int_equal(copy.len, COPY_BYTES + 2 * PAGE);
	assert_memory_equal(copy.bytes, copied, COPY_BYTES);
	assert_int_equal(copy.bytes[COPY_BYTES + 77], behind);
	live_stack_fini(&live);
}

/* The frames at its end are others. */
static void what_was_behind_another_stack_is_not_taken(void **state)
{
	struct snapshot copy = copy_at(PAGE);

	(void)state;
	keep(&copy, NOW, 2 * PAGE);
	copied[COPY_BYTES - 3] ^= 1;
	assert_null(find(&copy, NOW));
	copied[COPY_BYTES - 3] ^= 1;
	assert_non_null(find(&copy, NOW));
	assert_null(stack_rests_find(&rests, getpid() + 1, NOW, &copy, copy.addr));
	assert_null(find(&copy, NOW + 2 * STACK_RESTS_AGE_NS));
}

static void a_stack_that_has_changed_already_is_not_kept(void **state)
{
	struct snapshot copy = copy_at(PAGE);

	(void)state;
	memory[PAGE + COPY_BYTES - 1] ^= 1;
	keep(&copy, NOW, 2 * PAGE);
	assert_int_equal(rests.count, 0);
	assert_int_equal(rests.reads, 1);
}

/* Of two that fit, the one nearer in time: what lies behind equal ends need not be equal. */
static void the_nearest_in_time_is_found(void **state)
{
	const struct snapshot copy = copy_at(PAGE);
	const size_t behind = PAGE + COPY_BYTES + 8;

	(void)state;
	keep(&copy, NOW, PAGE);
	memory[behind] = 7;
	keep(&copy, NOW + 1000, 2 * PAGE);
	memory[behind] = 8;
	keep(&copy, NOW + 2000, 3 * PAGE);
	assert_int_equal(find(&copy, NOW + 1100)->bytes[STACK_TAIL_BYTES + 8], 7);
	assert_int_equal(find(&copy, NOW + 1900)->bytes[STACK_TAIL_BYTES + 8], 8);
}

/* The newer frames come and go: what is behind the older ones is read once. */
static void what_is_kept_already_is_not_read_again(void **state)
{
	struct snapshot copy = copy_at(PAGE);

	(void)state;
	keep(&copy, NOW, 8 * PAGE);
	copy = copy_at(2 * PAGE);
	keep(&copy, NOW + 1000, 7 * PAGE);
	assert_int_equal(rests.reads, 1);
	assert_non_null(find(&copy, NOW + 1000));
}

static void less_is_kept_where_the_stack_ends(void **state)
{
	const struct snapshot copy = copy_at(STACK_BYTES - COPY_BYTES - PAGE);

	(void)state;
	keep(&copy, NOW, 16 * PAGE);
	assert_int_equal(find(&copy, NOW)->len, STACK_TAIL_BYTES + PAGE);
}

static void nothing_is_wanted_where_stacks_end_with_the_copy(void **state)
{
	const struct snapshot copy = copy_at(PAGE);
	const uint64_t end = copy.addr + copy.len;

	(void)state;
	assert_int_equal(stack_rests_wanted(&rests, getpid(), NOW, &copy), 0);
	stack_rests_note(&rests, getpid(), NOW, &copy, end - 100);
	assert_int_equal(stack_rests_wanted(&rests, getpid(), NOW, &copy), 0);
	stack_rests_note(&rests, getpid(), NOW, &copy, end + 5000);
	assert_int_equal(stack_rests_wanted(&rests, getpid(), NOW, &copy), 5000);
	assert_int_equal(stack_rests_wanted(&rests, getpid() + 1, NOW, &copy), 0);
}

static void no_more_is_kept_than_there_may_be(void **state)
{
	struct snapshot copy = copy_at(PAGE);

	(void)state;
	for (uint32_t i = 0; i < 2 * STACK_RESTS_MAX; i++) {
		memory[PAGE + COPY_BYTES - 1] = (uint8_t)i;
		memory[PAGE + COPY_BYTES - 2] = (uint8_t)(i >> 8);
		copy = copy_at(PAGE);
		keep(&copy, NOW + i, 40 * PAGE);
		assert_true(rests.bytes <= STACK_RESTS_MAX_BYTES);
		assert_true(rests.count <= STACK_RESTS_MAX);
		assert_non_null(find(&copy, NOW + i));
	}
	assert_true(rests.count > 100);
}

#define TEST(claim) cmocka_unit_test_setup_teardown(claim, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(rests_that_nobody_can_want_any_more_go, set_up,
						tear_down),
		TEST(what_was_behind_a_copy_outlives_the_stack),
		TEST(what_was_behind_another_stack_is_not_taken),
		TEST(a_stack_that_has_changed_already_is_not_kept),
		TEST(the_nearest_in_time_is_found),
		TEST(what_is_kept_already_is_not_read_again),
		TEST(less_is_kept_where_the_stack_ends),
		TEST(nothing_is_wanted_where_stacks_end_with_the_copy),
		TEST(no_more_is_kept_than_there_may_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
