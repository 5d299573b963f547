// SPDX-License-Identifier: Apache-2.0
/* What is heard of at once does not take all the time, and costs nothing where there is nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "app/rests.h"

#define US  UINT64_C(1000)
#define MS  UINT64_C(1000000)
#define NOW (UINT64_C(1000) * MS)

static void who_heard_of_nothing_does_not_rest(void **state)
{
	struct rests rests = {0};

	(void)state;
	rests_from_side(&rests, NOW, 3 * MS, false);
	rests_from_samples(&rests, NOW, 3 * MS, false);
	assert_int_equal(rests.side_until_ns, 0);
	assert_int_equal(rests.sample_until_ns, 0);
	assert_int_equal(rests.taken, 0);
}

static void processes_take_a_fifth_of_the_time(void **state)
{
	struct rests rests = {0};

	(void)state;
	rests_from_side(&rests, NOW, 3 * MS, true);
	assert_int_equal(rests.side_until_ns, NOW + 12 * MS);
	assert_int_equal(rests.taken, 1);
	rests_from_side(&rests, NOW, 100 * MS, true);
	assert_int_equal(rests.side_until_ns, NOW + RESTS_SIDE_MAX_NS);
	rests_from_side(&rests, NOW, 10 * US, true); /* several come together */
	assert_int_equal(rests.side_until_ns, NOW + 1 * MS);
	assert_int_equal(rests.taken, 2);
	assert_int_equal(rests.sample_until_ns, 0);
}

static void samples_take_a_fifth_of_the_time(void **state)
{
	struct rests rests = {0};

	(void)state;
	rests_from_samples(&rests, NOW, 50 * US, true);
	assert_int_equal(rests.sample_until_ns, NOW + 200 * US);
	rests_from_samples(&rests, NOW, 30 * MS, true);
	assert_int_equal(rests.sample_until_ns, NOW + RESTS_SAMPLE_MAX_NS);
	rests_from_samples(&rests, NOW, 1 * US, true);
	assert_int_equal(rests.sample_until_ns, NOW + 100 * US);
	assert_int_equal(rests.side_until_ns, 0);
	assert_int_equal(rests.taken, 0);
}

static void turns_by_the_clock_take_a_fifth_of_the_time(void **state)
{
	(void)state;
	assert_int_equal(rests_interval_ns(20 * US), 1 * MS);
	assert_int_equal(rests_interval_ns(500 * US), 2 * MS);
	assert_int_equal(rests_interval_ns(20 * MS), RESTS_SAMPLE_MAX_NS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_heard_of_nothing_does_not_rest),
		cmocka_unit_test(processes_take_a_fifth_of_the_time),
		cmocka_unit_test(samples_take_a_fifth_of_the_time),
		cmocka_unit_test(turns_by_the_clock_take_a_fifth_of_the_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
