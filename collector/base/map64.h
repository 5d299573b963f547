// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   u64 key -> pointer, open addressing
 * units:   none
 * threads: one at a time
 * errors:  map64_put returns -ENOMEM and leaves the map as it was
 * source:  none
 *
 * Values are borrowed, never NULL. Every key is allowed. A zero-filled struct map64 is valid and
 * empty.
 */
#ifndef FG_BASE_MAP64_H
#define FG_BASE_MAP64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map64_slot {
	uint64_t key;
	void *value; /* NULL: free */
};

struct map64 {
	struct map64_slot *slots;
	size_t size; /* 0 or a power of two */
	size_t count;
};

void *map64_find(const struct map64 *map, uint64_t key);     /* NULL if there is none */
int map64_put(struct map64 *map, uint64_t key, void *value); /* replaces */
void *map64_remove(struct map64 *map, uint64_t key);	     /* returns the value, or NULL */
/* Walks in no order; *pos starts at 0. The map must not change meanwhile. */
bool map64_next(const struct map64 *map, size_t *pos, uint64_t *ret_key, void **ret_value);
void map64_fini(struct map64 *map);
/* As map64_fini, and each value is freed by the function. */
void map64_fini_all(struct map64 *map, void (*free_value)(void *value));
/* Makes slots fewer if most are free. Without memory the map stays as it was. */
void map64_shrink(struct map64 *map);

/* The memory of the slots. */
static inline size_t map64_bytes(const struct map64 *map)
{
	return map->size * sizeof(struct map64_slot);
}

/* Whether the next new key doubles the slots. */
static inline bool map64_is_full(const struct map64 *map)
{
	return map->count + 1 > map->size / 4 * 3;
}

#endif
