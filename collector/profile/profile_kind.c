// SPDX-License-Identifier: Apache-2.0
/* The known kinds of profiles, and amounts with their unit; see profile_kind.h. */
#include "profile/profile_kind.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const struct profile_kind profile_kind_cpu = {"cpu", PROFILE_UNIT_SAMPLES};
const struct profile_kind profile_kind_wall = {"wall", PROFILE_UNIT_MICROSECONDS};
const struct profile_kind profile_kind_offcpu = {"offcpu", PROFILE_UNIT_MICROSECONDS};

const struct profile_kind profile_kind_alloc = {"alloc", PROFILE_UNIT_BYTES};
const struct profile_kind profile_kind_objects = {"objects", PROFILE_UNIT_COUNT};
const struct profile_kind profile_kind_live = {"live", PROFILE_UNIT_BYTES};
const struct profile_kind profile_kind_live_objects = {"live_objects", PROFILE_UNIT_COUNT};
const struct profile_kind profile_kind_lock = {"lock", PROFILE_UNIT_MICROSECONDS};
const struct profile_kind profile_kind_contentions = {"contentions", PROFILE_UNIT_COUNT};
const struct profile_kind profile_kind_exceptions = {"exceptions", PROFILE_UNIT_COUNT};

static const struct profile_kind *const known[] = {
	&profile_kind_cpu,	    &profile_kind_wall,	   &profile_kind_offcpu,
	&profile_kind_alloc,	    &profile_kind_objects, &profile_kind_live,
	&profile_kind_live_objects, &profile_kind_lock,	   &profile_kind_contentions,
	&profile_kind_exceptions,
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

bool profile_kind_is_of_threads(const struct profile_kind *kind)
{
	return profile_kind_is_same(kind, &profile_kind_wall) ||
	       profile_kind_is_same(kind, &profile_kind_offcpu);
}

bool profile_kind_is_bytes(const struct profile_kind *kind)
{
	return strcmp(kind->unit, PROFILE_UNIT_BYTES) == 0;
}

bool profile_kind_is_measured(const struct profile_kind *kind)
{
	return profile_kind_is_time(kind) || profile_kind_is_bytes(kind);
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

/*
 * How many parts of a unit of 2^shift bytes the bytes are, rounded half up. parts: of a whole unit,
 * at most 100.
 */
static uint64_t parts_of(uint64_t bytes, unsigned shift, unsigned parts)
{
	const uint64_t unit = UINT64_C(1) << shift;

	return (bytes >> shift) * parts + (((bytes & (unit - 1)) * parts + unit / 2) >> shift);
}

/* Two or three digits tell enough of small sizes; from a GiB on, one digit more. */
static void format_bytes(uint64_t bytes, char ret[PROFILE_AMOUNT_BYTES])
{
	static const struct {
		unsigned shift;
		const char *name;
		bool is_large;
	} units[] = {
		{10, "KiB", false},
		{20, "MiB", false},
		{30, "GiB", true},
		{40, "TiB", true},
	};
	const unsigned last = sizeof(units) / sizeof(*units) - 1;
	char number[PROFILE_GROUPED_BYTES];
	uint64_t tenths, hundredths;
	unsigned i = 0;

	while (i < last && parts_of(bytes, units[i].shift, units[i].is_large ? 10 : 1) >=
				   (units[i].is_large ? 10240 : 1024))
		i++;
	tenths = parts_of(bytes, units[i].shift, 10);
	hundredths = parts_of(bytes, units[i].shift, 100);
	if (bytes < 1024)
		snprintf(ret, PROFILE_AMOUNT_BYTES, "%s B", profile_kind_grouped(bytes, number));
	else if (units[i].is_large && hundredths < 1000)
		snprintf(ret, PROFILE_AMOUNT_BYTES, "%" PRIu64 ".%02" PRIu64 " %s",
			 hundredths / 100, hundredths % 100, units[i].name);
	else if (units[i].is_large || tenths < 100)
		snprintf(ret, PROFILE_AMOUNT_BYTES, "%s.%" PRIu64 " %s",
			 profile_kind_grouped(tenths / 10, number), tenths % 10, units[i].name);
	else
		snprintf(ret, PROFILE_AMOUNT_BYTES, "%s %s",
			 profile_kind_grouped(parts_of(bytes, units[i].shift, 1), number),
			 units[i].name);
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
	else if (profile_kind_is_bytes(kind))
		format_bytes(amount, ret);
	else
		snprintf(ret, PROFILE_AMOUNT_BYTES, "%s %s", profile_kind_grouped(amount, number),
			 profile_kind_noun(kind));
	return ret;
}

const char *profile_kind_amount_of(const struct profile_kind *kind, uint64_t amount,
				   char ret[PROFILE_AMOUNT_BYTES])
{
	size_t len;

	profile_kind_amount(kind, amount, ret);
	len = strlen(ret);
	if (strcmp(profile_kind_noun(kind), kind->name) != 0)
		snprintf(ret + len, PROFILE_AMOUNT_BYTES - len, " of %s", kind->name);
	return ret;
}

const char *profile_kind_plain_amount(const struct profile_kind *kind, uint64_t amount,
				      const char *noun, char ret[PROFILE_AMOUNT_BYTES])
{
	if (profile_kind_is_measured(kind))
		return profile_kind_amount(kind, amount, ret);
	snprintf(ret, PROFILE_AMOUNT_BYTES, "%" PRIu64 " %s", amount, noun);
	return ret;
}
