// SPDX-License-Identifier: Apache-2.0
/* Claims about store/store_time.h: what people write for a time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "store/store_time.h"

#include <errno.h>

#include <stdlib.h>
#include <time.h>

#define SEC UINT64_C(1000000000)
#define NOW (UINT64_C(1764126600) * SEC) /* 2025-11-26 03:10:00 UTC */

static void check(const char *text, uint64_t after_sec, uint64_t expected_sec)
{
	uint64_t ns = 0;

	assert_int_equal(store_time_parse(text, NOW, after_sec * SEC, &ns), 0);
	assert_int_equal(ns / SEC, expected_sec);
}

static void refuse(const char *text)
{
	uint64_t ns = 42;

	assert_int_equal(store_time_parse(text, NOW, 0, &ns), -EINVAL);
}

static void set_zone(const char *zone)
{
	setenv("TZ", zone, 1);
	tzset();
}

static void now_and_times_before_it(void **state)
{
	check("now", 0, 1764126600);
	check("-90s", 0, 1764126510);
	check("-1h30m", 0, 1764126600 - 5400);
	check("-7d", 0, 1764126600 - 7 * 86400);
}

static void a_time_of_the_day_is_the_last_one(void **state)
{
	set_zone("UTC");
	check("03:10", 0, 1764126600);
	check("03:09:30", 0, 1764126570);
	check("03:11", 0, 1764126660 - 86400);
}

static void an_end_is_behind_its_begin(void **state)
{
	set_zone("UTC");
	check("03:15", 1764126600, 1764126900);		/* though it is in the future */
	check("00:05", 1764126600 - 86400, 1764115500); /* past midnight */
	check("03:10", 1764126600 - 86400, 1764126600); /* a whole day */
}

static void local_times_are_of_the_zone(void **state)
{
	set_zone("CET-1CEST,M3.5.0,M10.5.0/3");
	check("04:10", 0, 1764126600);
	check("2025-11-26 04:10", 0, 1764126600);
	check("2025-07-01T12:00:00", 0, 1751364000); /* summer time */
	check("2025-11-26", 0, 1764111600);
	set_zone("UTC");
}

static void rfc_3339_has_its_own_zone(void **state)
{
	uint64_t ns;

	set_zone("CET-1CEST,M3.5.0,M10.5.0/3");
	check("2025-11-26T03:10:00Z", 0, 1764126600);
	check("2025-11-26T04:10:00+01:00", 0, 1764126600);
	check("2025-11-25T22:10:00-05:00", 0, 1764126600);
	assert_int_equal(store_time_parse("2025-11-26T03:10:00.25Z", NOW, 0, &ns), 0);
	assert_int_equal(ns, NOW + SEC / 4);
	set_zone("UTC");
}

static void other_texts_are_refused(void **state)
{
	const char *const texts[] = {"",
				     "-",
				     "-5",
				     "-5x",
				     "24:00",
				     "03:60",
				     "3:10",
				     "03:10pm",
				     "tomorrow",
				     "2025-13-01",
				     "2025-1-1",
				     "2025-11-26 ",
				     "-99999999999999999999d",
				     "2025-11-26T03:10:00+1",
				     "9999-01-01"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		refuse(texts[i]);
}

static void a_time_is_said_as_it_is_read(void **state)
{
	char text[STORE_TIME_BYTES];

	set_zone("UTC");
	assert_string_equal(store_time_say(NOW, text), "2025-11-26 03:10:00");
	check(text, 0, 1764126600);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(now_and_times_before_it),
		cmocka_unit_test(a_time_of_the_day_is_the_last_one),
		cmocka_unit_test(an_end_is_behind_its_begin),
		cmocka_unit_test(local_times_are_of_the_zone),
		cmocka_unit_test(rfc_3339_has_its_own_zone),
		cmocka_unit_test(other_texts_are_refused),
		cmocka_unit_test(a_time_is_said_as_it_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
