// SPDX-License-Identifier: Apache-2.0
/*
 * Walks a chain of records, each with a header {kind, version, next}. A record of inlining goes on
 * with a number of entries {end of the code, number of frames, their methods, their bytecode
 * indices}. HotSpot makes one record. The limit of records ends the walk of a chain that is a ring.
 */
#include "methods/regions.h"

#include "shared/wire.h"

#define RECORDS_MAX 16

void regions_init(struct regions *regions, const void *compile_info, const void *addr,
		  uint32_t size)
{
	*regions = (struct regions){
		.record = compile_info,
		.addr = (uintptr_t)addr,
		.size = size,
	};
}

static bool is_inline(const jvmtiCompiledMethodLoadRecordHeader *record)
{
	return record->kind == JVMTI_CMLR_INLINE_INFO &&
	       record->majorinfoversion == JVMTI_CMLR_MAJOR_VERSION_1;
}

/* The next entry, even if it is not usable; NULL at the end. */
static const PCStackInfo *next_entry(struct regions *regions)
{
	while (regions->record && regions->n_records < RECORDS_MAX) {
		const jvmtiCompiledMethodLoadInlineRecord *record = (const void *)regions->record;

		if (is_inline(regions->record) && record->pcinfo && regions->next < record->numpcs)
			return &record->pcinfo[regions->next++];
		regions->record = regions->record->next;
		regions->next = 0;
		regions->n_records++;
	}
	regions->record = NULL;
	return NULL;
}

static bool has_all_methods(const PCStackInfo *entry)
{
	if (entry->numstackframes < 1 || entry->numstackframes > WIRE_INLINE_MAX_DEPTH ||
	    !entry->methods || !entry->bcis)
		return false;
	for (jint i = 0; i < entry->numstackframes; i++) {
		if (!entry->methods[i])
			return false;
	}
	return true;
}

/* The next usable entry, as a region. */
static bool next_good(struct regions *regions, struct region *ret)
{
	const PCStackInfo *entry;

	while ((entry = next_entry(regions))) {
		const uintptr_t end = (uintptr_t)entry->pc - regions->addr;

		if (end <= regions->end || end > regions->size || !has_all_methods(entry))
			continue;
		regions->end = (uint32_t)end;
		*ret = (struct region){.end = (uint32_t)end, .stack = entry};
		return true;
	}
	return false;
}

static bool is_same(const PCStackInfo *a, const PCStackInfo *b)
{
	return a->numstackframes == b->numstackframes &&
	       regions_shared(a, b) == (uint32_t)a->numstackframes;
}

bool regions_next(struct regions *regions, struct region *ret)
{
	if (!regions->has_ahead && !next_good(regions, &regions->ahead))
		return false;
	do {
		*ret = regions->ahead;
		regions->has_ahead = next_good(regions, &regions->ahead);
	} while (regions->has_ahead && is_same(ret->stack, regions->ahead.stack));
	return true;
}

uint32_t regions_shared(const PCStackInfo *a, const PCStackInfo *b)
{
	const jint depth =
		a->numstackframes < b->numstackframes ? a->numstackframes : b->numstackframes;
	uint32_t shared = 0;

	for (jint i = 1; i <= depth; i++) {
		const jint in_a = a->numstackframes - i, in_b = b->numstackframes - i;

		if (a->methods[in_a] != b->methods[in_b] || a->bcis[in_a] != b->bcis[in_b])
			break;
		shared++;
	}
	return shared;
}
