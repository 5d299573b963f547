// SPDX-License-Identifier: Apache-2.0
/* Claims about serve/finishing.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "serve/finishing.h"

#define BEGUN  (100 * CLOCK_NS_PER_SEC)
#define SECOND CLOCK_NS_PER_SEC

static bool goes_on(bool is_busy, uint64_t asked_ns, uint64_t after_ns)
{
	const struct finishing finishing = {
		.begun_ns = BEGUN, .is_busy = is_busy, .asked_ns = asked_ns};

	return finishing_goes_on(&finishing, BEGUN + after_ns);
}

static void a_silent_client_is_waited_for_two_seconds(void **state)
{
	assert_true(goes_on(false, 0, 2 * SECOND - 1));
	assert_false(goes_on(false, 0, 2 * SECOND));
}

static void who_asked_before_the_end_and_not_since_is_silent(void **state)
{
	assert_false(goes_on(false, BEGUN, 2 * SECOND));
	assert_false(goes_on(false, BEGUN - SECOND, 2 * SECOND));
}

static void who_asks_on_is_waited_for_five_seconds(void **state)
{
	assert_true(goes_on(false, BEGUN + SECOND, 3 * SECOND - 1));
	assert_false(goes_on(false, BEGUN + SECOND, 3 * SECOND));
	assert_true(goes_on(false, BEGUN + 4 * SECOND, 5 * SECOND - 1));
	assert_false(goes_on(false, BEGUN + 4 * SECOND, 5 * SECOND));
}

static void who_is_drawn_for_is_waited_for_five_seconds(void **state)
{
	assert_true(goes_on(true, 0, 5 * SECOND - 1));
	assert_false(goes_on(true, 0, 5 * SECOND));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_silent_client_is_waited_for_two_seconds),
		cmocka_unit_test(who_asked_before_the_end_and_not_since_is_silent),
		cmocka_unit_test(who_asks_on_is_waited_for_five_seconds),
		cmocka_unit_test(who_is_drawn_for_is_waited_for_five_seconds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
