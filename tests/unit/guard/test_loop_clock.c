// SPDX-License-Identifier: Apache-2.0
/* Claims about guard/loop_clock.h: the time in which a loop stands is nobody's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "guard/loop_clock.h"

#define SEC UINT64_C(1000000000)

static uint64_t stood(void)
{
	uint64_t longest;

	return loop_clock_stood_ns(&longest);
}

static void a_loop_that_runs_has_the_time_of_all(void **state)
{
	const uint64_t before = stood();

	loop_clock_begin();
	loop_clock_pass(100 * SEC, 0);
	loop_clock_pass(100 * SEC + LOOP_CLOCK_SLACK_NS, 0);
	loop_clock_pass(105 * SEC, 5 * SEC);
	loop_clock_pass(106 * SEC, 30 * SEC); /* woken before */
	assert_int_equal(stood(), before);
}

static void a_wait_that_ends_late_counts_as_long_as_it_was_meant(void **state)
{
	uint64_t before, longest;

	loop_clock_begin();
	loop_clock_pass(100 * SEC, 0);
	before = loop_clock_at(100 * SEC);
	loop_clock_pass(111 * SEC, 1 * SEC); /* stopped for 10 s meanwhile */
	assert_int_equal(loop_clock_at(111 * SEC) - before, 1 * SEC + LOOP_CLOCK_SLACK_NS);
	loop_clock_stood_ns(&longest);
	assert_int_equal(longest, 10 * SEC - LOOP_CLOCK_SLACK_NS);
}

static void a_turn_that_is_long_counts_as_a_short_one(void **state)
{
	uint64_t before;

	loop_clock_begin();
	loop_clock_pass(100 * SEC, 0);
	before = loop_clock_at(100 * SEC);
	loop_clock_pass(103 * SEC, 0);
	assert_int_equal(loop_clock_at(103 * SEC) - before, LOOP_CLOCK_SLACK_NS);
}

/* What is noted late in a long turn was later than the time after it, and so seemed ages old. */
static void the_clock_never_goes_back(void **state)
{
	uint64_t noted;

	loop_clock_begin();
	loop_clock_pass(100 * SEC, 0);
	noted = loop_clock_at(103 * SEC);
	loop_clock_pass(103 * SEC, 0);
	assert_int_equal(loop_clock_at(103 * SEC), noted);
	assert_int_equal(loop_clock_at(103 * SEC + 1), noted + 1);
}

static void the_time_before_a_loop_begins_is_no_stall(void **state)
{
	const uint64_t before = stood();

	loop_clock_begin();
	loop_clock_pass(1000 * SEC, 0);
	assert_int_equal(stood(), before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_loop_that_runs_has_the_time_of_all),
		cmocka_unit_test(a_wait_that_ends_late_counts_as_long_as_it_was_meant),
		cmocka_unit_test(a_turn_that_is_long_counts_as_a_short_one),
		cmocka_unit_test(the_clock_never_goes_back),
		cmocka_unit_test(the_time_before_a_loop_begins_is_no_stall),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
