// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "wall/thread_blame.h"

enum { EVE = 1001, BOB };

#define NOW (7 * CLOCK_NS_PER_SEC)

static int start(void **state)
{
	static struct thread_blame blame;

	blame = (struct thread_blame){0};
	*state = &blame;
	return 0;
}

static int stop(void **state)
{
	thread_blame_fini(*state);
	return 0;
}

static void note_times(struct thread_blame *blame, unsigned times)
{
	for (unsigned i = 0; i < times; i++)
		thread_blame_note(blame, (pid_t)(10 + i), EVE, NOW);
}

static void one_process_pays_for_itself(void **state)
{
	struct thread_blame *const blame = *state;

	note_times(blame, 1);
	assert_false(thread_blame_has_stacks(blame, 10, EVE));
	assert_true(thread_blame_has_stacks(blame, 11, EVE));
	assert_true(thread_blame_has_stacks(blame, 60, BOB));
}

static void many_processes_of_a_user_cost_the_user_its_stacks_and_nobody_elses(void **state)
{
	struct thread_blame *const blame = *state;

	note_times(blame, THREAD_BLAME_MOST - 1);
	assert_true(thread_blame_has_stacks(blame, 50, EVE));
	thread_blame_note(blame, 51, EVE, NOW);
	assert_false(thread_blame_has_stacks(blame, 50, EVE));
	assert_true(thread_blame_has_stacks(blame, 60, BOB));
}

static void where_threads_are_scarce_one_time_is_enough(void **state)
{
	struct thread_blame *const blame = *state;

	note_times(blame, 1);
	thread_blame_set_crowded(blame, true);
	assert_false(thread_blame_has_stacks(blame, 50, EVE));
	assert_true(thread_blame_has_stacks(blame, 60, BOB));
	thread_blame_set_crowded(blame, false);
	assert_true(thread_blame_has_stacks(blame, 50, EVE));
}

static void a_group_is_forgiven_and_its_process_is_not(void **state)
{
	struct thread_blame *const blame = *state;
	const uint64_t version = blame->version;

	note_times(blame, THREAD_BLAME_MOST);
	thread_blame_step(blame, NOW + THREAD_BLAME_FORGET_NS - 1);
	assert_false(thread_blame_has_stacks(blame, 50, EVE));
	assert_int_equal(blame->version, version + THREAD_BLAME_MOST);
	thread_blame_step(blame, NOW + THREAD_BLAME_FORGET_NS);
	assert_true(thread_blame_has_stacks(blame, 50, EVE));
	assert_int_equal(blame->version, version + THREAD_BLAME_MOST + 1);
	assert_false(thread_blame_has_stacks(blame, 10, EVE));
	for (uint64_t i = 2; i <= THREAD_BLAME_MOST; i++)
		thread_blame_step(blame, NOW + i * THREAD_BLAME_FORGET_NS);
	assert_int_equal(blame->groups.sum, 0);
}

/* Who has the PID next is blamed for nothing. */
static void a_process_that_is_gone_is_forgotten(void **state)
{
	struct thread_blame *const blame = *state;
	struct map64 wanted = {0};

	note_times(blame, 2);
	assert_int_equal(map64_put(&wanted, 11, blame), 0);
	thread_blame_keep(blame, &wanted);
	assert_true(thread_blame_has_stacks(blame, 10, BOB));
	assert_false(thread_blame_has_stacks(blame, 11, BOB));
	assert_int_equal(pool_amount(&blame->groups, EVE), 2);
	map64_fini(&wanted);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(one_process_pays_for_itself, start, stop),
		cmocka_unit_test_setup_teardown(
			many_processes_of_a_user_cost_the_user_its_stacks_and_nobody_elses, start,
			stop),
		cmocka_unit_test_setup_teardown(where_threads_are_scarce_one_time_is_enough, start,
						stop),
		cmocka_unit_test_setup_teardown(a_group_is_forgiven_and_its_process_is_not, start,
						stop),
		cmocka_unit_test_setup_teardown(a_process_that_is_gone_is_forgotten, start, stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
