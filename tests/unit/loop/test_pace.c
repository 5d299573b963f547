// SPDX-License-Identifier: Apache-2.0
/* Claims about loop/pace.h: a turn takes a fifth of the time, within limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "loop/pace.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)

static void a_turn_is_followed_by_four_times_its_length(void **state)
{
	assert_int_equal(pace_wait_ns(500 * US, 1 * MS, 10 * MS), 2 * MS);
}

static void a_short_turn_is_followed_by_the_least_wait(void **state)
{
	assert_int_equal(pace_wait_ns(0, 1 * MS, 10 * MS), 1 * MS);
	assert_int_equal(pace_wait_ns(250 * US, 1 * MS, 10 * MS), 1 * MS);
}

static void no_wait_is_longer_than_the_most(void **state)
{
	assert_int_equal(pace_wait_ns(2500 * US, 1 * MS, 10 * MS), 10 * MS);
	assert_int_equal(pace_wait_ns(20 * MS, 1 * MS, 10 * MS), 10 * MS);
	assert_int_equal(pace_wait_ns(UINT64_MAX, 1 * MS, 10 * MS), 10 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_turn_is_followed_by_four_times_its_length),
		cmocka_unit_test(a_short_turn_is_followed_by_the_least_wait),
		cmocka_unit_test(no_wait_is_longer_than_the_most),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
