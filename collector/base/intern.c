// SPDX-License-Identifier: Apache-2.0
/* A hash set of texts whose bytes live in an arena, see intern.h. */
#include "base/intern.h"

#include "base/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct intern_slot {
	const char *text; /* NULL: free */
	uint32_t hash;
	uint32_t len;
};

static uint32_t hash_of(const char *text, size_t len)
{
	return (uint32_t)hash_seed_bytes(text, len);
}

static struct intern_slot *probe(const struct intern *intern, uint32_t hash, const char *text,
				 size_t len)
{
	size_t i = hash & (intern->size - 1);

	for (;; i = (i + 1) & (intern->size - 1)) {
		struct intern_slot *slot = &intern->slots[i];

		if (!slot->text ||
		    (slot->hash == hash && slot->len == len && memcmp(slot->text, text, len) == 0))
			return slot;
	}
}

static int grow(struct intern *intern)
{
	struct intern bigger = *intern;

	bigger.size = intern->size ? intern->size * 2 : 256;
	bigger.slots = calloc(bigger.size, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < intern->size; i++) {
		const struct intern_slot *slot = &intern->slots[i];

		if (slot->text)
			*probe(&bigger, slot->hash, slot->text, slot->len) = *slot;
	}
	free(intern->slots);
	*intern = bigger;
	return 0;
}

const char *intern_add(struct intern *intern, const char *text, size_t len)
{
	struct intern_slot *slot;
	uint32_t hash;

	if (len > UINT32_MAX)
		return NULL;
	if (intern->count + 1 > intern->size / 4 * 3 && grow(intern) < 0)
		return NULL;
	hash = hash_of(text, len);
	slot = probe(intern, hash, text, len);
	if (!slot->text) {
		const char *copy = arena_copy(&intern->arena, text, len);

		if (!copy)
			return NULL;
		*slot = (struct intern_slot){.text = copy, .hash = hash, .len = (uint32_t)len};
		intern->count++;
	}
	return slot->text;
}

const char *intern_add_str(struct intern *intern, const char *text)
{
	return intern_add(intern, text, strlen(text));
}

size_t intern_bytes(const struct intern *intern)
{
	return intern->arena.total_bytes + intern->size * sizeof(*intern->slots);
}

void intern_fini(struct intern *intern)
{
	arena_fini(&intern->arena);
	free(intern->slots);
	*intern = (struct intern){0};
}
