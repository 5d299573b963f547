// SPDX-License-Identifier: Apache-2.0
/* Parses numbers with units, see quantity.h. */
#include "encode/quantity.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS	    "0123456789"
#define DIGITS_MOST 64u /* more than any number needs that a double tells from others */

struct unit {
	char letter;
	uint64_t factor;
};

static const struct unit durations[] = {
	{'s', 1}, {'m', 60}, {'h', 60 * 60}, {'d', 24 * 60 * 60}, {0}};
static const struct unit sizes[] = {{'k', UINT64_C(1) << 10}, {'K', UINT64_C(1) << 10},
				    {'m', UINT64_C(1) << 20}, {'M', UINT64_C(1) << 20},
				    {'g', UINT64_C(1) << 30}, {'G', UINT64_C(1) << 30},
				    {'T', UINT64_C(1) << 40}, {0}};

/* What the letter behind a number stands for. 0: it is no unit, or something is behind it. */
static uint64_t factor_of(const char *letter, const struct unit *units)
{
	if (!*letter)
		return 1;
	while (units->letter && units->letter != *letter)
		units++;
	return letter[1] ? 0 : units->factor;
}

static bool parse(const char *text, const struct unit *units, uint64_t *ret)
{
	unsigned long long number;
	uint64_t factor;
	char *end;

	errno = 0;
	number = strtoull(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || errno)
		return false;
	factor = factor_of(end, units);
	if (factor == 0 || number > UINT64_MAX / factor)
		return false;
	*ret = number * factor;
	return true;
}

bool quantity_parse_digits(const char *text, const char **ret_end, double *ret)
{
	const size_t whole = strspn(text, DIGITS);
	const size_t point = text[whole] == '.';
	const size_t fraction = point ? strspn(text + whole + 1, DIGITS) : 0;
	const size_t len = whole + point + fraction;
	char number[DIGITS_MOST + 1] = "";

	/* strtod alone would go on to an exponent, or to the digits behind 0x. */
	if (whole + fraction == 0 || len > DIGITS_MOST)
		return false;
	memcpy(number, text, len);
	*ret = strtod(number, NULL);
	*ret_end = text + len;
	return true;
}

bool quantity_parse_time(const char *text, uint64_t *ret_sec)
{
	return parse(text, durations, ret_sec);
}

bool quantity_parse_seconds(const char *text, double *ret_sec)
{
	const char *end;
	double number;
	uint64_t factor;

	if (!quantity_parse_digits(text, &end, &number))
		return false;
	factor = factor_of(end, durations);
	if (factor == 0)
		return false;
	*ret_sec = number * (double)factor;
	return true;
}

bool quantity_parse_size(const char *text, uint64_t *ret_bytes)
{
	return parse(text, sizes, ret_bytes);
}
