// SPDX-License-Identifier: Apache-2.0
/* The known kinds of profiles, and amounts with their unit; see profile_kind.h. */
#include "profile/profile_kind.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const struct profile_kind profile_kind_cpu = {"cpu", PROFILE_UNIT_SAMPLES};
const struct profile_kind profile_kind_wall = {"wall", PROFILE_UNIT_MICROSECONDS};
const struct profile_kind profile_kind_offcpu = {"offcpu", PROFILE_UNIT_MICROSECONDS};

static const struct profile_kind *const known[] = {
	&profile_kind_cpu,
	&profile_kind_wall,
	&profile_kind_offcpu,
};

const struct profile_kind *profile_kind_find(const char *name)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (strcmp(known[i]->name, name) == 0)
			return known[i];
	return NULL;
}

bool profile_kind_is_same(const struct profile_kind *a, const struct profile_kind *b)
{
	return strcmp(a->name, b->name) == 0 && strcmp(a->unit, b->unit) == 0;
}

bool profile_kind_is_time(const struct profile_kind *kind)
{
	return strcmp(kind->unit, PROFILE_UNIT_MICROSECONDS) == 0;
}

const char *profile_kind_grouped(uint64_t value, char buf[PROFILE_GROUPED_BYTES])
{
	char *at = buf + PROFILE_GROUPED_BYTES;

	*--at = '\0';
	for (int digits = 0; digits == 0 || value > 0; value /= 10) {
		if (digits > 0 && digits % 3 == 0)
			*--at = ',';
		*--at = (char)('0' + value % 10);
		digits++;
	}
	return at;
}

/* The quotient, rounded half up, without a sum that could overflow. */
static uint64_t rounded(uint64_t value, uint64_t by)
{
	return value / by + (value % by >= by - by / 2);
}

/* Two or three digits tell enough of a time; seconds of long times are never cut. */
static void format_time(uint64_t us, char ret[PROFILE_AMOUNT_BYTES])
{
	char number[PROFILE_GROUPED_BYTES];
	uint64_t parts;

	if (us == 0) {
		snprintf(ret, PROFILE_AMOUNT_BYTES, "0 s");
	} else if (us < 1000) {
		snprintf(ret, PROFILE_AMOUNT_BYTES, "%" PRIu64 " \u00b5s", us);
	} else if (us < 9950) {
		parts = rounded(us, 100);
		snprintf(ret, PROFILE_AMOUNT_BYTES, "%" PRIu64 ".%" PRIu64 " ms", parts / 10,
			 parts % 10);
	} else if (us < 999500) {
		snprintf(ret, PROFILE_AMOUNT_BYTES, "%" PRIu64 " ms", rounded(us, 1000));
	} else if (us < 9995000) {
		parts = rounded(us, 10000);
		snprintf(ret, PROFILE_AMOUNT_BYTES, "%" PRIu64 ".%02" PRIu64 " s", parts / 100,
			 parts % 100);
	} else {
		parts = rounded(us, 100000);
		snprintf(ret, PROFILE_AMOUNT_BYTES, "%s.%" PRIu64 " s",
			 profile_kind_grouped(parts / 10, number), parts % 10);
	}
}

const char *profile_kind_noun(const struct profile_kind *kind)
{
	return strcmp(kind->unit, PROFILE_UNIT_COUNT) == 0 ? kind->name : kind->unit;
}

const char *profile_kind_amount(const struct profile_kind *kind, uint64_t amount,
				char ret[PROFILE_AMOUNT_BYTES])
{
	char number[PROFILE_GROUPED_BYTES];

	if (profile_kind_is_time(kind))
		format_time(amount, ret);
	else
		snprintf(ret, PROFILE_AMOUNT_BYTES, "%s %s", profile_kind_grouped(amount, number),
			 profile_kind_noun(kind));
	return ret;
}

const char *profile_kind_plain_amount(const struct profile_kind *kind, uint64_t amount,
				      const char *noun, char ret[PROFILE_AMOUNT_BYTES])
{
	if (profile_kind_is_time(kind))
		return profile_kind_amount(kind, amount, ret);
	snprintf(ret, PROFILE_AMOUNT_BYTES, "%" PRIu64 " %s", amount, noun);
	return ret;
}
