// SPDX-License-Identifier: Apache-2.0
/* Names of kinds for engines, see push_kinds.h. */
#include "push/push_kinds.h"

#define NS_PER_SEC UINT64_C(1000000000)

static const struct push_kind kinds[] = {
	{&profile_kind_cpu,
	 "process_cpu",
	 {"cpu", PROFILE_UNIT_SAMPLES},
	 "cpu",
	 "cpu",
	 "nanoseconds"},
	{&profile_kind_wall,
	 "wall",
	 {"wall", PROFILE_UNIT_MICROSECONDS},
	 "wall",
	 "wall",
	 "nanoseconds"},
	{&profile_kind_offcpu,
	 "off_cpu",
	 {"off_cpu", PROFILE_UNIT_MICROSECONDS},
	 "off_cpu",
	 NULL,
	 "nanoseconds"},
	{&profile_kind_alloc,
	 "memory",
	 {"alloc_space", PROFILE_UNIT_BYTES},
	 "space",
	 "memory",
	 "bytes"},
	{&profile_kind_objects,
	 "memory",
	 {"alloc_objects", PROFILE_UNIT_COUNT},
	 "space",
	 "memory",
	 "bytes"},
	{&profile_kind_lock,
	 "mutex",
	 {"delay", PROFILE_UNIT_MICROSECONDS},
	 "mutex",
	 "mutex",
	 "count"},
	{&profile_kind_contentions,
	 "mutex",
	 {"contentions", PROFILE_UNIT_COUNT},
	 "mutex",
	 "mutex",
	 "count"},
	{&profile_kind_exceptions,
	 "exceptions",
	 {"exceptions", PROFILE_UNIT_COUNT},
	 "exceptions",
	 "exceptions",
	 "count"},
};

const struct push_kind *push_kind_of(const struct profile_kind *kind)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (profile_kind_is_same(kinds[i].kind, kind))
			return &kinds[i];
	return NULL;
}

uint64_t push_kind_period(const struct push_kind *kind, unsigned hz)
{
	const bool is_timed =
		kind->kind == &profile_kind_cpu || profile_kind_is_of_threads(kind->kind);

	return is_timed && hz ? NS_PER_SEC / hz : 1;
}

const char *push_kind_type(const struct push_kind *kind)
{
	return kind->kind == &profile_kind_cpu ? PROFILE_UNIT_SAMPLES : kind->as.name;
}

const char *push_kind_unit(const struct push_kind *kind)
{
	if (profile_kind_is_time(&kind->as))
		return "nanoseconds";
	return kind->kind == &profile_kind_cpu ? PROFILE_UNIT_COUNT : kind->as.unit;
}

uint64_t push_kind_factor(const struct push_kind *kind)
{
	return profile_kind_is_time(&kind->as) ? 1000 : 1;
}
