// SPDX-License-Identifier: Apache-2.0
/* A table with one place for each hash of a key, see frame_cache.h. */
#include "symbolize/frame_cache.h"

#include <stdlib.h>
#include <string.h>

#define PLACES ((size_t)1 << FRAME_CACHE_BITS)

size_t frame_cache_bytes(const struct frame_cache *cache)
{
	return cache->places ? PLACES * sizeof(*cache->places) : 0;
}

void frame_cache_fini(struct frame_cache *cache)
{
	free(cache->places);
	*cache = (struct frame_cache){0};
}

/*
 * The place of a key. A process that makes keys collide only has its own frames made again, as
 * without a cache.
 */
static struct frame_place *place_of(const struct frame_cache *cache, const struct frame_key *key)
{
	uint64_t hash = key->owner ^ (uint64_t)key->line << 32 ^ key->style;

	for (size_t i = 0; i < sizeof(key->parts) / sizeof(key->parts[0]); i++) {
		hash = (hash ^ key->parts[i]) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 32;
	}
	return &cache->places[hash & (PLACES - 1)];
}

static bool are_equal(const struct frame_key *a, const struct frame_key *b)
{
	return a->owner == b->owner && a->line == b->line && a->style == b->style &&
	       memcmp(a->parts, b->parts, sizeof(a->parts)) == 0;
}

const struct frame *frame_cache_find(const struct frame_cache *cache, const struct frame_key *key)
{
	const struct frame_place *place;

	if (!cache->places || key->owner == 0)
		return NULL;
	place = place_of(cache, key);
	return are_equal(&place->key, key) ? &place->frame : NULL;
}

void frame_cache_put(struct frame_cache *cache, const struct frame_key *key,
		     const struct frame *frame)
{
	if (key->owner == 0 || !frame->name)
		return;
	if (!cache->places)
		cache->places = calloc(PLACES, sizeof(*cache->places));
	if (cache->places)
		*place_of(cache, key) = (struct frame_place){.key = *key, .frame = *frame};
}

void frame_cache_clear(struct frame_cache *cache)
{
	if (cache->places)
		memset(cache->places, 0, PLACES * sizeof(*cache->places));
}
