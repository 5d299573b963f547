// SPDX-License-Identifier: Apache-2.0
/* A table of limited size of the methods that have been named. See method_ids.h. */
#include "methods/method_ids.h"

/*
 * The first slot of the method's set. jmethodIDs are addresses or counters, so they are mixed
 * first.
 */
static uint32_t set_of(jmethodID method)
{
	const uint64_t mixed = (uint64_t)(uintptr_t)method * 0x9e3779b97f4a7c15ull;

	return (uint32_t)(mixed >> 32) % (METHOD_IDS_SLOTS / METHOD_IDS_WAYS) * METHOD_IDS_WAYS;
}

uint32_t method_ids_find(const struct method_ids *ids, jmethodID method)
{
	const uint32_t set = set_of(method);

	for (uint32_t slot = set; slot < set + METHOD_IDS_WAYS; slot++) {
		if (ids->slots[slot] == method)
			return slot + 1;
	}
	return 0;
}

/* A free slot of the set, or the slot to be taken over next. */
static uint32_t choose_slot(struct method_ids *ids, uint32_t set)
{
	for (uint32_t slot = set; slot < set + METHOD_IDS_WAYS; slot++) {
		if (!ids->slots[slot])
			return slot;
	}
	return set + ids->turn++ % METHOD_IDS_WAYS;
}

uint32_t method_ids_add(struct method_ids *ids, jmethodID method)
{
	uint32_t slot;

	if (ids->n_pending == METHOD_IDS_PENDING)
		return 0;
	slot = choose_slot(ids, set_of(method));
	ids->pending[ids->n_pending].slot = slot;
	ids->pending[ids->n_pending].before = ids->slots[slot];
	ids->n_pending++;
	ids->slots[slot] = method;
	return slot + 1;
}

void method_ids_keep(struct method_ids *ids)
{
	ids->n_pending = 0;
}

void method_ids_take_back(struct method_ids *ids)
{
	while (ids->n_pending > 0) {
		ids->n_pending--;
		ids->slots[ids->pending[ids->n_pending].slot] = ids->pending[ids->n_pending].before;
	}
}
