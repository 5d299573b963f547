// SPDX-License-Identifier: Apache-2.0
/* Claims about serve/dial_look.h, by sleeps and times that are made up. */
#include "serve/dial_look.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)

static bool sleeps(struct dial_look *look, uint64_t sleeps, uint64_t now_ms)
{
	const struct diagnose_dialler now = {.sleeps = sleeps, .is_asleep = true};

	return dial_look_step(look, &now, now_ms * MS);
}

static bool runs(struct dial_look *look, uint64_t sleeps, uint64_t now_ms)
{
	const struct diagnose_dialler now = {.sleeps = sleeps};

	return dial_look_step(look, &now, now_ms * MS);
}

static void who_has_tried_and_not_come_is_not_waited_for(void **state)
{
	struct dial_look look = {0};

	assert_false(sleeps(&look, 7, 100));
	assert_false(sleeps(&look, 7, 900));
	assert_false(sleeps(&look, 8, 1000)); /* it has dialled in between */
	assert_false(sleeps(&look, 8, 1100));
	assert_true(sleeps(&look, 8, 1200));
	assert_true(sleeps(&look, 8, 1300));
}

static void an_attempt_under_way_at_the_first_look_is_none(void **state)
{
	struct dial_look look = {0};

	assert_false(runs(&look, 7, 100));
	for (uint64_t ms = 200; ms < 1200; ms += 100)
		assert_false(sleeps(&look, 8, ms));
	assert_false(sleeps(&look, 9, 1200));
	assert_false(sleeps(&look, 9, 1300));
	assert_true(sleeps(&look, 9, 1400));
}

static void who_sleeps_longer_than_a_dialler_does_is_not_waited_for(void **state)
{
	struct dial_look look = {0};

	assert_false(sleeps(&look, 527, 100));
	assert_false(sleeps(&look, 527, 1349));
	assert_true(sleeps(&look, 527, 1350));
}

static void who_is_to_wake_on_a_busy_host_is_waited_for(void **state)
{
	struct dial_look look = {0};

	assert_false(sleeps(&look, 7, 100));
	for (uint64_t ms = 1000; ms < 9000; ms += 100)
		assert_false(runs(&look, 7, ms));
	assert_false(sleeps(&look, 8, 9000));
	assert_false(sleeps(&look, 8, 9100));
	assert_true(sleeps(&look, 8, 9200));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_has_tried_and_not_come_is_not_waited_for),
		cmocka_unit_test(an_attempt_under_way_at_the_first_look_is_none),
		cmocka_unit_test(who_sleeps_longer_than_a_dialler_does_is_not_waited_for),
		cmocka_unit_test(who_is_to_wake_on_a_busy_host_is_waited_for),
	};

	return cmocka_run_group_tests_name("dial_look", tests, NULL, NULL);
}
