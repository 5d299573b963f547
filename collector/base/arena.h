// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   many small allocations -> memory that is freed together
 * units:   bytes
 * threads: one at a time
 * errors:  NULL when memory is out
 * source:  none
 *
 * Memory of arena_alloc is aligned for any type, and all memory lives until arena_fini. A
 * zero-filled struct arena is valid and empty.
 */
#ifndef FG_BASE_ARENA_H
#define FG_BASE_ARENA_H

#include <stddef.h>

struct arena_chunk;

struct arena {
	struct arena_chunk *chunks;
	size_t used;	    /* of the newest chunk */
	size_t total_bytes; /* of all chunks */
	size_t chunk_bytes; /* of a chunk; 0: ARENA_CHUNK_BYTES; the owner may set another */
};

#define ARENA_CHUNK_BYTES ((size_t)64 << 10)

void *arena_alloc(struct arena *arena, size_t bytes);		     /* not cleared */
char *arena_copy(struct arena *arena, const void *data, size_t len); /* terminated */
/* What has been given out, and what was left over in chunks before the last one. */
size_t arena_used_bytes(const struct arena *arena);
void arena_fini(struct arena *arena);

#endif
