// SPDX-License-Identifier: Apache-2.0
/*
 * Open addressing with linear probing, at most three quarters full, see map64.h. A removal moves
 * later entries of the run back, so there are no tombstones.
 */
#include "base/map64.h"

#include "base/hash.h"

#include <errno.h>
#include <stdlib.h>

#define LEAST_SIZE 16

static size_t slot_of(const struct map64 *map, uint64_t key)
{
	return (size_t)hash_seed_mix(key) & (map->size - 1);
}

/* The key's slot, or the free slot where the key belongs. */
static size_t probe(const struct map64 *map, uint64_t key)
{
	size_t i = slot_of(map, key);

	while (map->slots[i].value && map->slots[i].key != key)
		i = (i + 1) & (map->size - 1);
	return i;
}

void *map64_find(const struct map64 *map, uint64_t key)
{
	return map->size ? map->slots[probe(map, key)].value : NULL;
}

static int resize(struct map64 *map, size_t size)
{
	struct map64 other = {.size = size};

	other.slots = calloc(other.size, sizeof(*other.slots));
	if (!other.slots)
		return -ENOMEM;
	for (size_t i = 0; i < map->size; i++) {
		if (map->slots[i].value)
			other.slots[probe(&other, map->slots[i].key)] = map->slots[i];
	}
	other.count = map->count;
	free(map->slots);
	*map = other;
	return 0;
}

static int grow(struct map64 *map)
{
	return resize(map, map->size ? map->size * 2 : LEAST_SIZE);
}

void map64_shrink(struct map64 *map)
{
	size_t size = map->size;

	while (size > LEAST_SIZE && map->count < size / 4)
		size /= 2;
	if (size < map->size)
		(void)resize(map, size);
}

int map64_put(struct map64 *map, uint64_t key, void *value)
{
	struct map64_slot *slot;

	if (map64_is_full(map)) {
		const int err = grow(map);

		if (err)
			return err;
	}
	slot = &map->slots[probe(map, key)];
	if (!slot->value)
		map->count++;
	*slot = (struct map64_slot){.key = key, .value = value};
	return 0;
}

void *map64_remove(struct map64 *map, uint64_t key)
{
	const size_t mask = map->size - 1;
	size_t hole, i;
	void *value;

	if (!map->size)
		return NULL;
	hole = probe(map, key);
	value = map->slots[hole].value;
	if (!value)
		return NULL;
	for (i = (hole + 1) & mask; map->slots[i].value; i = (i + 1) & mask) {
		const size_t home = slot_of(map, map->slots[i].key);

		/* The entry may move to the hole unless its home slot lies behind the hole. */
		if (((i - home) & mask) >= ((i - hole) & mask)) {
			map->slots[hole] = map->slots[i];
			hole = i;
		}
	}
	map->slots[hole].value = NULL;
	map->count--;
	return value;
}

bool map64_next(const struct map64 *map, size_t *pos, uint64_t *ret_key, void **ret_value)
{
	for (; *pos < map->size; ++*pos) {
		const struct map64_slot *slot = &map->slots[*pos];

		if (slot->value) {
			*ret_key = slot->key;
			*ret_value = slot->value;
			++*pos;
			return true;
		}
	}
	return false;
}

void map64_fini(struct map64 *map)
{
	free(map->slots);
	*map = (struct map64){0};
}

void map64_fini_all(struct map64 *map, void (*free_value)(void *value))
{
	for (size_t i = 0; i < map->size; i++) {
		if (map->slots[i].value)
			free_value(map->slots[i].value);
	}
	map64_fini(map);
}
