// SPDX-License-Identifier: Apache-2.0
/* A hash table of indices with linear probing, at most half full. */
#include "methods/method_set.h"

/* The method's bucket, or the free bucket where the method belongs. */
static uint32_t probe(const struct method_set *set, jmethodID method)
{
	const uint64_t mixed = (uint64_t)(uintptr_t)method * 0x9e3779b97f4a7c15ull;
	uint32_t bucket = (uint32_t)(mixed >> 32) % METHOD_SET_BUCKETS;

	while (set->buckets[bucket] && set->methods[set->buckets[bucket] - 1] != method)
		bucket = (bucket + 1) % METHOD_SET_BUCKETS;
	return bucket;
}

void method_set_clear(struct method_set *set)
{
	/* Removes the last method first, so that the search for each other method still works. */
	while (set->n > 0) {
		set->buckets[probe(set, set->methods[set->n - 1])] = 0;
		set->n--;
	}
}

bool method_set_add(struct method_set *set, jmethodID method)
{
	const uint32_t bucket = probe(set, method);

	if (set->buckets[bucket])
		return true;
	if (set->n == METHOD_SET_MAX)
		return false;
	set->methods[set->n++] = method;
	set->buckets[bucket] = (uint16_t)set->n;
	return true;
}

uint32_t method_set_find(const struct method_set *set, jmethodID method)
{
	return set->buckets[probe(set, method)] - 1u;
}
