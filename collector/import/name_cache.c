// SPDX-License-Identifier: Apache-2.0
/* A table with open addressing; the texts and their meanings live in an arena. See name_cache.h. */
#include "import/name_cache.h"

#include "base/hash.h"
#include "import/import_limits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SIZE 1024u

static uint64_t hash_of(const struct name_cache *cache, unsigned realm, const char *text,
			size_t len)
{
	return quick_hash_text(cache->seed, text, len) + realm;
}

static struct name_slot *probe(const struct name_cache *cache, const struct name_slot *key)
{
	size_t i = key->hash & (cache->size - 1);

	for (;; i = (i + 1) & (cache->size - 1)) {
		struct name_slot *const slot = &cache->slots[i];

		if (!slot->text || (slot->hash == key->hash && slot->len == key->len &&
				    memcmp(slot->text, key->text, key->len) == 0))
			return slot;
	}
}

const struct named *name_cache_find(const struct name_cache *cache, unsigned realm,
				    const char *text, size_t len)
{
	const struct name_slot key = {hash_of(cache, realm, text, len), text, len, NULL};

	return cache->size > 0 ? probe(cache, &key)->named : NULL;
}

struct name_slot name_cache_key(struct name_cache *cache, unsigned realm, const char *text,
				size_t len)
{
	if (cache->seed == 0)
		cache->seed = quick_hash_seed(FIRST_SIZE);
	return (struct name_slot){hash_of(cache, realm, text, len), text, len, NULL};
}

static int grow(struct name_cache *cache)
{
	struct name_cache bigger = *cache;

	bigger.size = cache->size ? cache->size * 2 : FIRST_SIZE;
	bigger.slots = calloc(bigger.size, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < cache->size; i++)
		if (cache->slots[i].text)
			*probe(&bigger, &cache->slots[i]) = cache->slots[i];
	free(cache->slots);
	*cache = bigger;
	return 0;
}

int name_cache_add(struct name_cache *cache, const struct name_slot *key,
		   const struct frame *frames, size_t n, const struct named **ret)
{
	struct name_slot slot = *key;
	struct named *named;

	if (cache->arena.total_bytes + cache->profile->names.arena.total_bytes >
	    IMPORT_MAX_NAMES_BYTES)
		return -EFBIG;
	if (cache->count + 1 > cache->size / 2 && grow(cache) < 0)
		return -ENOMEM;
	slot.text = arena_copy(&cache->arena, key->text, key->len);
	named = arena_alloc(&cache->arena, sizeof(*named) + n * sizeof(named->names[0]));
	if (!slot.text || !named)
		return -ENOMEM;
	named->n = (uint32_t)n;
	for (size_t i = 0; i < n; i++) {
		const int rc = profile_keep_name(cache->profile, &frames[i], &named->names[i]);

		if (rc < 0)
			return rc;
	}
	slot.named = named;
	*probe(cache, &slot) = slot;
	cache->count++;
	*ret = named;
	return 0;
}

void name_cache_fini(struct name_cache *cache)
{
	arena_fini(&cache->arena);
	free(cache->slots);
	*cache = (struct name_cache){0};
}
