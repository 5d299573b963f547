// SPDX-License-Identifier: Apache-2.0
/* Reads times, see store_time.h. */
#include "store/store_time.h"

#include "base/clock.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define MOST_SEC   UINT64_C(9000000000) /* of a number of seconds; fits as nanoseconds */
#define MOST_YEAR  2250
#define LEAST_YEAR 1970

/* Reads exactly n digits. -1: they are not there. */
static int take_digits(const char **text, int n)
{
	int number = 0;

	for (int i = 0; i < n; i++, (*text)++) {
		if (**text < '0' || **text > '9')
			return -1;
		number = number * 10 + (**text - '0');
	}
	return number;
}

static bool take_char(const char **text, char c)
{
	if (**text != c)
		return false;
	(*text)++;
	return true;
}

/* Reads 03:10 or 03:10:30, and with a fraction the nanoseconds. */
static bool take_clock(const char **text, struct tm *ret, uint64_t *ret_ns)
{
	uint64_t unit = CLOCK_NS_PER_SEC;

	ret->tm_hour = take_digits(text, 2);
	if (ret->tm_hour < 0 || ret->tm_hour > 23 || !take_char(text, ':'))
		return false;
	ret->tm_min = take_digits(text, 2);
	ret->tm_sec = 0;
	*ret_ns = 0;
	if (ret->tm_min < 0 || ret->tm_min > 59)
		return false;
	if (!take_char(text, ':'))
		return true;
	ret->tm_sec = take_digits(text, 2);
	if (ret->tm_sec < 0 || ret->tm_sec > 60)
		return false;
	if (!take_char(text, '.'))
		return true;
	if (**text < '0' || **text > '9')
		return false;
	for (; **text >= '0' && **text <= '9'; (*text)++) {
		unit /= 10;
		*ret_ns += unit * (uint64_t)(**text - '0');
	}
	return true;
}

static bool take_date(const char **text, struct tm *ret)
{
	const int year = take_digits(text, 4);
	int month, day;

	if (year < LEAST_YEAR || year > MOST_YEAR || !take_char(text, '-'))
		return false;
	month = take_digits(text, 2);
	if (month < 1 || month > 12 || !take_char(text, '-'))
		return false;
	day = take_digits(text, 2);
	ret->tm_year = year - 1900;
	ret->tm_mon = month - 1;
	ret->tm_mday = day;
	return day >= 1 && day <= 31;
}

/* Seconds since 1970 of a time in the local zone, or of one with a zone behind. */
static bool take_zone(const char **text, struct tm *tm, int64_t *ret)
{
	const char sign = **text;
	int hours, minutes;

	tm->tm_isdst = -1;
	if (!sign) {
		*ret = mktime(tm);
		return true;
	}
	*ret = timegm(tm);
	if (take_char(text, 'Z') || take_char(text, 'z'))
		return true;
	if (sign != '+' && sign != '-')
		return false;
	(*text)++;
	hours = take_digits(text, 2);
	if (hours < 0 || hours > 23 || !take_char(text, ':'))
		return false;
	minutes = take_digits(text, 2);
	if (minutes < 0 || minutes > 59)
		return false;
	*ret -= (sign == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
	return true;
}

static bool parse_date(const char *text, uint64_t *ret)
{
	uint64_t part_ns = 0;
	struct tm tm = {0};
	int64_t seconds;

	if (!take_date(&text, &tm))
		return false;
	if ((take_char(&text, ' ') || take_char(&text, 'T') || take_char(&text, 't')) &&
	    !take_clock(&text, &tm, &part_ns))
		return false;
	if (!take_zone(&text, &tm, &seconds) || *text || seconds < 0)
		return false;
	*ret = (uint64_t)seconds * CLOCK_NS_PER_SEC + part_ns;
	return true;
}

/* The time of the day, so many days after the day of base_ns. */
static uint64_t at_day(const struct tm *clock, uint64_t base_ns, int days)
{
	const time_t base = (time_t)(base_ns / CLOCK_NS_PER_SEC);
	struct tm tm;
	int64_t seconds;

	if (!localtime_r(&base, &tm))
		return 0;
	tm.tm_hour = clock->tm_hour;
	tm.tm_min = clock->tm_min;
	tm.tm_sec = clock->tm_sec;
	tm.tm_mday += days;
	tm.tm_isdst = -1;
	seconds = mktime(&tm);
	return seconds > 0 ? (uint64_t)seconds * CLOCK_NS_PER_SEC : 0;
}

static bool parse_clock(const char *text, uint64_t now_ns, uint64_t after_ns, uint64_t *ret)
{
	struct tm clock = {0};
	uint64_t part_ns;

	if (!take_clock(&text, &clock, &part_ns) || *text)
		return false;
	if (after_ns > 0) {
		*ret = at_day(&clock, after_ns, 0) + part_ns;
		if (*ret <= after_ns)
			*ret = at_day(&clock, after_ns, 1) + part_ns;
		return true;
	}
	*ret = at_day(&clock, now_ns, 0) + part_ns;
	if (*ret > now_ns)
		*ret = at_day(&clock, now_ns, -1) + part_ns;
	return true;
}

static uint64_t unit_of(char letter)
{
	switch (letter) {
	case 's':
		return 1;
	case 'm':
		return 60;
	case 'h':
		return 60 * 60;
	case 'd':
		return 24 * 60 * 60;
	default:
		return 0;
	}
}

/* Reads -1h30m. */
static bool parse_ago(const char *text, uint64_t now_ns, uint64_t *ret)
{
	uint64_t all = 0;

	if (!take_char(&text, '-') || !*text)
		return false;
	while (*text) {
		uint64_t number = 0;
		const char *const start = text;

		for (; *text >= '0' && *text <= '9' && number < MOST_SEC; text++)
			number = number * 10 + (uint64_t)(*text - '0');
		if (text == start || unit_of(*text) == 0)
			return false;
		all += number * unit_of(*text++);
		if (all > MOST_SEC)
			return false;
	}
	all *= CLOCK_NS_PER_SEC;
	*ret = now_ns > all ? now_ns - all : 0;
	return true;
}

int store_time_parse(const char *text, uint64_t now_ns, uint64_t after_ns, uint64_t *ret)
{
	if (strcmp(text, "now") == 0) {
		*ret = now_ns;
		return 0;
	}
	return parse_ago(text, now_ns, ret) || parse_clock(text, now_ns, after_ns, ret) ||
			       parse_date(text, ret)
		       ? 0
		       : -EINVAL;
}

const char *store_time_say(uint64_t ns, char ret[STORE_TIME_BYTES])
{
	const time_t seconds = (time_t)(ns / CLOCK_NS_PER_SEC);
	struct tm tm;

	ret[0] = '\0';
	if (localtime_r(&seconds, &tm))
		strftime(ret, STORE_TIME_BYTES, "%Y-%m-%d %H:%M:%S", &tm);
	return ret;
}
