// SPDX-License-Identifier: Apache-2.0
/* Claims about recording/patience.h, by times and counts of loads that are made up. */
#include "recording/patience.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define SEC UINT64_C(1000000000)

/* Whether a sample of that second waits on in that second, when so many loads have ended. */
static bool lasts(struct patience *patience, uint64_t sec, uint64_t now_sec, uint64_t loads)
{
	const struct patience_ask ask = {
		.time_ns = sec * SEC, .now_ns = now_sec * SEC, .loads = loads};

	return patience_lasts(patience, &ask);
}

static bool lasts_loading(struct patience *patience, uint64_t sec, uint64_t now_sec)
{
	const struct patience_ask ask = {
		.time_ns = sec * SEC, .now_ns = now_sec * SEC, .is_loading = true};

	return patience_lasts(patience, &ask);
}

static void a_sample_waits_on_while_loads_end(void **state)
{
	struct patience patience = {0};
	uint64_t loads = 0;

	for (uint64_t now_sec = 100; now_sec < 130; now_sec += 4)
		assert_true(lasts(&patience, 100, now_sec, ++loads));
	assert_false(lasts(&patience, 100, 130, ++loads));
	assert_true(lasts(&patience, 101, 130, loads));
}

static void no_load_that_has_ended_lately_is_no_reason_to_wait(void **state)
{
	struct patience patience = {0};

	assert_false(lasts(&patience, 100, 100, 0));
	assert_true(lasts(&patience, 100, 103, 7));
	assert_true(lasts(&patience, 100, 107, 7));
	assert_false(lasts(&patience, 100, 108, 7));
	assert_true(lasts(&patience, 100, 109, 8));
}

static void a_load_that_goes_on_is_waited_for(void **state)
{
	struct patience patience = {0};

	assert_true(lasts_loading(&patience, 100, 100));
	assert_true(lasts_loading(&patience, 100, 129));
	assert_false(lasts_loading(&patience, 100, 130));
	assert_false(lasts(&patience, 100, 129, 0));
}

static void what_is_kept_for_samples_follows_how_far_they_lag(void **state)
{
	assert_int_equal(patience_lag_ns(UINT64_MAX, 100 * SEC), PATIENCE_USUAL_NS);
	assert_int_equal(patience_lag_ns(99 * SEC, 100 * SEC), PATIENCE_USUAL_NS);
	assert_int_equal(patience_lag_ns(88 * SEC, 100 * SEC), 12 * SEC);
	assert_int_equal(patience_lag_ns(0, 100 * SEC), PATIENCE_MOST_NS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sample_waits_on_while_loads_end),
		cmocka_unit_test(no_load_that_has_ended_lately_is_no_reason_to_wait),
		cmocka_unit_test(a_load_that_goes_on_is_waited_for),
		cmocka_unit_test(what_is_kept_for_samples_follows_how_far_they_lag),
	};

	return cmocka_run_group_tests_name("patience", tests, NULL, NULL);
}
