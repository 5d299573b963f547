// SPDX-License-Identifier: Apache-2.0
/* Claims about store/store_request.h: ranges that users ask for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "store/store_request.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#define SEC UINT64_C(1000000000)
#define NOW (UINT64_C(1764126600) * SEC) /* 2025-11-26 03:10:00 UTC */

static int set_up(void **state)
{
	setenv("TZ", "UTC", 1);
	tzset();
	return 0;
}

static void check(const char *from, const char *to, uint64_t from_sec, uint64_t to_sec)
{
	struct store_range range;

	assert_int_equal(store_request_range("--", from, to, NOW, &range), 0);
	assert_int_equal(range.from_ns / SEC, from_sec);
	assert_int_equal(range.to_ns / SEC, to_sec);
}

static void a_range_ends_now_and_begins_with_the_first_sample(void **state)
{
	check(NULL, NULL, 0, NOW / SEC);
	check("-1h", NULL, NOW / SEC - 3600, NOW / SEC);
}

static void an_end_is_after_its_begin_also_past_midnight(void **state)
{
	check("23:50", "00:10", NOW / SEC - 12000, NOW / SEC - 10800);
}

static void a_range_in_the_future_is_refused(void **state)
{
	struct store_range range;

	assert_int_equal(store_request_range("--", "2200-01-01", NULL, NOW, &range), -EINVAL);
}

static void a_range_without_any_time_is_refused(void **state)
{
	struct store_range range;

	assert_int_equal(store_request_range("--", "-1h", "-2h", NOW, &range), -EINVAL);
	assert_int_equal(store_request_range("--", "-1h", "-1h", NOW, &range), -EINVAL);
}

static void no_time_is_refused(void **state)
{
	struct store_range range;

	assert_int_equal(store_request_range("--", "soon", NULL, NOW, &range), -EINVAL);
	assert_int_equal(store_request_range("--", "-1h", "soon", NOW, &range), -EINVAL);
}

static void a_pid_is_a_number(void **state)
{
	static const char *const bad[] = {"", "0", "-1", "12x", "99999999999", "4194305"};
	pid_t pid = 0;

	assert_int_equal(store_request_set_pid(&pid, "-p", "4711"), 0);
	assert_int_equal(pid, 4711);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(store_request_set_pid(&pid, "-p", bad[i]), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_range_ends_now_and_begins_with_the_first_sample),
		cmocka_unit_test(an_end_is_after_its_begin_also_past_midnight),
		cmocka_unit_test(a_range_in_the_future_is_refused),
		cmocka_unit_test(a_range_without_any_time_is_refused),
		cmocka_unit_test(no_time_is_refused),
		cmocka_unit_test(a_pid_is_a_number),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
