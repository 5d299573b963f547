// SPDX-License-Identifier: Apache-2.0
/* Numbered tuples, see tuples.h. The tuples hold only our own numbers, so the hash needs no key. */
#include "render/tuples.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_SIZE 256u

static uint32_t hash_of(const struct tuple *tuple)
{
	uint64_t hash = 0;

	for (int i = 0; i < 4; i++) {
		hash = (hash ^ tuple->v[i]) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 32;
	}
	return (uint32_t)hash;
}

static uint32_t *probe(const struct tuples *tuples, const struct tuple *tuple)
{
	const uint32_t mask = tuples->index_size - 1;
	uint32_t i = hash_of(tuple) & mask;

	while (tuples->index[i] != TUPLES_NONE &&
	       memcmp(&tuples->items[tuples->index[i]], tuple, sizeof(*tuple)) != 0)
		i = (i + 1) & mask;
	return &tuples->index[i];
}

static int grow(struct tuples *tuples)
{
	const uint32_t size = tuples->size ? tuples->size * 2 : FIRST_SIZE;
	struct tuple *items;
	uint32_t *index;

	if (tuples->size > UINT32_MAX / 8)
		return -1;
	items = realloc(tuples->items, size * sizeof(*items));
	if (!items)
		return -1;
	tuples->items = items;
	index = malloc(size * 2 * sizeof(*index));
	if (!index)
		return -1;
	free(tuples->index);
	memset(index, 0xff, size * 2 * sizeof(*index));
	tuples->index = index;
	tuples->index_size = size * 2;
	tuples->size = size;
	for (uint32_t i = 0; i < tuples->count; i++)
		*probe(tuples, &items[i]) = i;
	return 0;
}

uint32_t tuples_add(struct tuples *tuples, struct tuple tuple)
{
	uint32_t *slot;

	if (tuples->count == tuples->size && grow(tuples) < 0)
		return TUPLES_NONE;
	slot = probe(tuples, &tuple);
	if (*slot == TUPLES_NONE) {
		tuples->items[tuples->count] = tuple;
		*slot = tuples->count++;
	}
	return *slot;
}

void tuples_fini(struct tuples *tuples)
{
	free(tuples->items);
	free(tuples->index);
	*tuples = (struct tuples){0};
}
