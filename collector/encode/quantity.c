// SPDX-License-Identifier: Apache-2.0
/* Parses numbers with units, see quantity.h. */
#include "encode/quantity.h"

#include <errno.h>
#include <stdlib.h>

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

static bool parse(const char *text, const struct unit *units, uint64_t *ret)
{
	unsigned long long number;
	uint64_t factor = 1;
	char *end;

	errno = 0;
	number = strtoull(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || errno)
		return false;
	if (*end) {
		while (units->letter && units->letter != *end)
			units++;
		if (!units->letter || end[1])
			return false;
		factor = units->factor;
	}
	if (number > UINT64_MAX / factor)
		return false;
	*ret = number * factor;
	return true;
}

bool quantity_parse_time(const char *text, uint64_t *ret_sec)
{
	return parse(text, durations, ret_sec);
}

bool quantity_parse_size(const char *text, uint64_t *ret_bytes)
{
	return parse(text, sizes, ret_bytes);
}
