// SPDX-License-Identifier: Apache-2.0
/* Finds out what the values of a pprof profile weigh, see pprof_kinds.h. */
#include "import/pprof_kinds.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define NONE SIZE_MAX

struct unit_of_time {
	const char *word;
	uint32_t multiplier, divisor; /* to microseconds */
};

struct names_of_kind {
	const struct profile_kind *kind;
	const char *names[6]; /* NULL ends them */
};

static const struct unit_of_time *find_time(const char *unit)
{
	static const struct unit_of_time units[] = {
		{"nanoseconds", 1, 1000},  {"ns", 1, 1000},
		{"microseconds", 1, 1},	   {"us", 1, 1},
		{"milliseconds", 1000, 1}, {"ms", 1000, 1},
		{"seconds", 1000000, 1},   {"s", 1000000, 1},
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (strcmp(units[i].word, unit) == 0)
			return &units[i];
	return NULL;
}

/* The known kind that a type's name stands for, or NULL. */
static const struct profile_kind *find_kind(const char *name)
{
	static const struct names_of_kind all[] = {
		{&profile_kind_cpu, {"cpu", "cpu-time", "cpu_time"}},
		{&profile_kind_wall, {"wall", "wall-time", "wall_time", "wallclock", "wall-clock"}},
		{&profile_kind_offcpu, {"offcpu", "off_cpu", "off-cpu", "offcpu-time"}},
		{&profile_kind_alloc, {"alloc_space", "alloc"}},
		{&profile_kind_objects, {"alloc_objects", "objects"}},
		{&profile_kind_live, {"inuse_space", "live"}},
		{&profile_kind_live_objects, {"inuse_objects", "live_objects"}},
		{&profile_kind_lock, {"delay", "lock"}},
		{&profile_kind_contentions, {"contentions"}},
		{&profile_kind_exceptions, {"exceptions"}},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		for (const char *const *known = all[i].names; *known; known++)
			if (strcasecmp(*known, name) == 0)
				return all[i].kind;
	return NULL;
}

static bool is_count(const char *unit)
{
	return strcmp(unit, PROFILE_UNIT_COUNT) == 0 || strcmp(unit, "counter") == 0 ||
	       strcmp(unit, PROFILE_UNIT_SAMPLES) == 0;
}

/* The known kind that a type is, by its name and its unit, or NULL. */
static const struct profile_kind *find_type(const struct pprof_type *type)
{
	const struct profile_kind *const kind = find_kind(type->name);

	if (!kind)
		return NULL;
	if (profile_kind_is_bytes(kind))
		return strcmp(type->unit, kind->unit) == 0 ? kind : NULL;
	if (strcmp(kind->unit, PROFILE_UNIT_COUNT) == 0)
		return is_count(type->unit) ? kind : NULL;
	return find_time(type->unit) ? kind : NULL;
}

static bool is_cpu_time(const struct pprof_type *type)
{
	return find_time(type->unit) && find_kind(type->name) == &profile_kind_cpu;
}

static bool has_times(const struct pprof_type *types, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (find_time(types[i].unit))
			return true;
	return false;
}

static bool has_times_of_cpu_alone(const struct pprof_type *types, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (find_time(types[i].unit) && !is_cpu_time(&types[i]))
			return false;
	return has_times(types, n);
}

/* Whether the type counts samples of processor time. */
static bool counts_cpu(const struct pprof_type *types, size_t n, size_t i)
{
	if (!is_count(types[i].unit))
		return false;
	if (strcmp(types[i].name, PROFILE_UNIT_SAMPLES) != 0 &&
	    strcasecmp(types[i].name, "sample") != 0)
		return find_kind(types[i].name) == &profile_kind_cpu;
	return !has_times(types, n) || has_times_of_cpu_alone(types, n) ||
	       (i + 1 < n && is_cpu_time(&types[i + 1]));
}

/* The type that counts samples of processor time; NONE: there is none. */
static size_t find_cpu_count(const struct pprof_type *types, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (counts_cpu(types, n, i))
			return i;
	return NONE;
}

static bool has_name(const struct pprof_kinds *kinds, const char *name)
{
	for (size_t i = 0; i < kinds->n; i++)
		if (strcmp(kinds->items[i].name, name) == 0)
			return true;
	return false;
}

static int fail(struct pprof_kinds *kinds, int err, const char *reason)
{
	kinds->reason = reason;
	return err;
}

/* The kind's own name, or where another type has that name already, the type's. */
static int set_name(struct pprof_kinds *kinds, const struct profile_kind *known,
		    const struct pprof_type *type, char ret[PROFILE_KIND_BYTES])
{
	int len = snprintf(ret, PROFILE_KIND_BYTES, "%s", known ? known->name : type->name);

	if (has_name(kinds, ret))
		len = snprintf(ret, PROFILE_KIND_BYTES, "%s", type->name);
	if (has_name(kinds, ret))
		len = snprintf(ret, PROFILE_KIND_BYTES, "%s_%s", type->name, type->unit);
	if (len >= (int)PROFILE_KIND_BYTES)
		return fail(kinds, -EFBIG, "a type of samples has a name of more than 63 bytes");
	return has_name(kinds, ret) ? fail(kinds, -EINVAL, "two types of samples have one name")
				    : 0;
}

static int add(struct pprof_kinds *kinds, const struct pprof_type *type, size_t value, bool is_cpu)
{
	const struct unit_of_time *const time = find_time(type->unit);
	struct pprof_kind kind = {.value = (uint32_t)value, .multiplier = 1, .divisor = 1};
	const struct profile_kind *const known = is_cpu ? &profile_kind_cpu : find_type(type);
	const char *unit = known ? known->unit : type->unit;
	int err;

	if (time) {
		unit = PROFILE_UNIT_MICROSECONDS;
		kind.multiplier = time->multiplier;
		kind.divisor = time->divisor;
	}
	if (strlen(unit) >= PROFILE_KIND_BYTES)
		return fail(kinds, -EFBIG, "a type of samples has a unit of more than 63 bytes");
	snprintf(kind.unit, sizeof(kind.unit), "%s", unit);
	err = set_name(kinds, known, type, kind.name);
	if (!err)
		kinds->items[kinds->n++] = kind;
	return err;
}

/* Puts sizes, behind the first kind, before the number of things that have them. */
static void order(struct pprof_kinds *kinds)
{
	for (size_t i = 1; i + 1 < kinds->n; i++) {
		const struct pprof_kind count = kinds->items[i];
		const char *const next = kinds->items[i + 1].name;

		if ((strcmp(count.name, "objects") == 0 && strcmp(next, "alloc") == 0) ||
		    (strcmp(count.name, "live_objects") == 0 && strcmp(next, "live") == 0) ||
		    (strcmp(count.name, "contentions") == 0 && strcmp(next, "lock") == 0)) {
			kinds->items[i] = kinds->items[i + 1];
			kinds->items[++i] = count;
		}
	}
}

static size_t find_default(const struct pprof_type *types, size_t n, const char *name)
{
	for (size_t i = 0; i < n && *name; i++)
		if (strcmp(types[i].name, name) == 0)
			return i;
	return n - 1;
}

/* Types without a name or a unit count something, and nobody knows what. */
static struct pprof_type named(const struct pprof_type *type)
{
	return (struct pprof_type){*type->name ? type->name : PROFILE_UNIT_SAMPLES,
				   *type->unit ? type->unit : PROFILE_UNIT_COUNT};
}

int pprof_kinds_init(struct pprof_kinds *kinds, const struct pprof_type *from, size_t n,
		     const char *default_type)
{
	struct pprof_type types[PPROF_KINDS_MAX];
	size_t cpu_count, first;
	int err;

	kinds->n = 0;
	if (n == 0)
		return fail(kinds, -EINVAL, "no type of samples, so this is no pprof profile");
	if (n > PPROF_KINDS_MAX)
		return fail(kinds, -EFBIG, "more than 64 types of samples");
	for (size_t i = 0; i < n; i++)
		types[i] = named(&from[i]);
	cpu_count = find_cpu_count(types, n);
	first = find_default(types, n, default_type);
	if (cpu_count != NONE && is_cpu_time(&types[first]))
		first = cpu_count;
	err = add(kinds, &types[first], first, first == cpu_count);
	for (size_t i = 0; !err && i < n; i++) {
		const bool is_counted = cpu_count != NONE && is_cpu_time(&types[i]);

		if (i != first && !is_counted)
			err = add(kinds, &types[i], i, i == cpu_count);
	}
	order(kinds);
	return err;
}

uint64_t pprof_kinds_cpu_ns(const struct pprof_type *type, uint64_t amount)
{
	const struct unit_of_time *const time = find_time(type->unit);
	uint64_t product;

	if (!time || !is_cpu_time(type) ||
	    __builtin_mul_overflow(amount, UINT64_C(1000) * time->multiplier, &product))
		return 0;
	return product / time->divisor;
}

uint64_t pprof_kind_weight(const struct pprof_kind *kind, uint64_t value)
{
	uint64_t product;

	if (__builtin_mul_overflow(value, kind->multiplier, &product))
		return UINT64_MAX;
	return product / kind->divisor +
	       (kind->divisor > 1 && product % kind->divisor >= kind->divisor / 2);
}
