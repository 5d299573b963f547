// SPDX-License-Identifier: Apache-2.0
/* A list of chunks, each given out from its front, see arena.h. */
#include "base/arena.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

struct arena_chunk {
	struct arena_chunk *next;
	size_t size;
	alignas(max_align_t) unsigned char data[];
};

static struct arena_chunk *add_chunk(struct arena *arena, size_t bytes)
{
	const size_t usual = arena->chunk_bytes ? arena->chunk_bytes : ARENA_CHUNK_BYTES;
	const size_t size = bytes > usual ? bytes : usual;
	struct arena_chunk *chunk = malloc(sizeof(*chunk) + size);

	if (!chunk)
		return NULL;
	chunk->size = size;
	chunk->next = arena->chunks;
	arena->chunks = chunk;
	arena->used = 0;
	arena->total_bytes += sizeof(*chunk) + size;
	return chunk;
}

static void *carve(struct arena *arena, size_t bytes, size_t align)
{
	struct arena_chunk *chunk = arena->chunks;
	size_t at = (arena->used + align - 1) & ~(align - 1);

	if (!chunk || at > chunk->size || bytes > chunk->size - at) {
		chunk = add_chunk(arena, bytes);
		if (!chunk)
			return NULL;
		at = 0;
	}
	arena->used = at + bytes;
	return chunk->data + at;
}

void *arena_alloc(struct arena *arena, size_t bytes)
{
	return carve(arena, bytes, alignof(max_align_t));
}

char *arena_copy(struct arena *arena, const void *data, size_t len)
{
	char *copy = carve(arena, len + 1, 1);

	if (!copy)
		return NULL;
	if (len > 0)
		memcpy(copy, data, len);
	copy[len] = '\0';
	return copy;
}

size_t arena_used_bytes(const struct arena *arena)
{
	const struct arena_chunk *const last = arena->chunks;

	return last ? arena->total_bytes - (last->size - arena->used) : 0;
}

void arena_fini(struct arena *arena)
{
	for (struct arena_chunk *chunk = arena->chunks, *next; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
	*arena = (struct arena){0};
}
