// SPDX-License-Identifier: Apache-2.0
/* How long a table of top is sampled for, by its options and by what began before it. */
#include "base/clock.h"
#include "top/top_options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define MS   CLOCK_NS_PER_MS
#define HOLD (350 * MS)

/* The first table of options with a -d and a --window, 0 for none of these, after started_ns. */
static uint64_t first_ns(bool is_once, uint64_t delay_ns, uint32_t window, uint64_t started_ns)
{
	struct top_options options = {.is_once = is_once};

	assert_int_equal(top_options_finish(&options, delay_ns, &window), 0);
	return top_options_first_ns(&options, started_ns, HOLD);
}

static void one_table_is_of_a_second_where_sampling_began_at_once(void **state)
{
	assert_int_equal(first_ns(true, 0, 0, 0), 1000 * MS);
	assert_int_equal(first_ns(true, 0, 0, 650 * MS), 1000 * MS);
}

static void one_table_is_there_two_seconds_after_it_was_asked_for(void **state)
{
	for (uint64_t started_ns = 650 * MS; started_ns <= 1250 * MS; started_ns += 50 * MS)
		assert_int_equal(started_ns + first_ns(true, 0, 0, started_ns) + HOLD, 2000 * MS);
}

static void one_table_has_samples_however_late_sampling_began(void **state)
{
	assert_int_equal(first_ns(true, 0, 0, 1300 * MS), 400 * MS);
	assert_int_equal(first_ns(true, 0, 0, 1650 * MS), 400 * MS);
	assert_int_equal(first_ns(true, 0, 0, 20000 * MS), 400 * MS);
}

static void what_was_asked_for_is_never_shorter(void **state)
{
	assert_int_equal(first_ns(true, 1000 * MS, 0, 1250 * MS), 1000 * MS);
	assert_int_equal(first_ns(true, 5000 * MS, 0, 1250 * MS), 5000 * MS);
	assert_int_equal(first_ns(true, 0, 3, 1250 * MS), 3000 * MS);
	assert_int_equal(first_ns(false, 0, 0, 1250 * MS), 2000 * MS);
	assert_int_equal(first_ns(false, 500 * MS, 0, 1250 * MS), 500 * MS);
}

static void a_table_of_too_little_time_waits_unless_it_was_asked_for(void **state)
{
	const struct top_options free = {.is_once = true, .is_delay_free = true};
	const struct top_options asked = {.is_once = true};

	assert_true(top_options_is_too_short(&free, 0));
	assert_true(top_options_is_too_short(&free, 399 * MS));
	assert_false(top_options_is_too_short(&free, 400 * MS));
	assert_false(top_options_is_too_short(&asked, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_table_is_of_a_second_where_sampling_began_at_once),
		cmocka_unit_test(one_table_is_there_two_seconds_after_it_was_asked_for),
		cmocka_unit_test(one_table_has_samples_however_late_sampling_began),
		cmocka_unit_test(what_was_asked_for_is_never_shorter),
		cmocka_unit_test(a_table_of_too_little_time_waits_unless_it_was_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
