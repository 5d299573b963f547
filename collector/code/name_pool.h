// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   equal texts -> one pointer, up to a limit
 * units:   bytes, CLOCK_MONOTONIC nanoseconds
 * threads: one at a time
 * errors:  a new text for which there is no room becomes NAME_POOL_LIMIT_TEXT
 * source:  none
 *
 * A pool holds the names of one process. Names come from inside a container and without end,
 * because code is loaded and dropped as long as a JVM lives. So a pool has a maximum, and the
 * pool's owner moves the names that are still in use to a new pool when name_pool_is_due says so.
 * Texts hold no NUL; they are terminated, may be compared by pointer within a pool, and live until
 * name_pool_fini.
 */
#ifndef FG_CODE_NAME_POOL_H
#define FG_CODE_NAME_POOL_H

#include "base/arena.h"
#include "base/map64.h"

#include <stdbool.h>

#define NAME_POOL_MAX_BYTES  (64u << 20) /* of texts and their index */
#define NAME_POOL_MAX_TEXTS  786432u	 /* what fills an index of 2^20 places, see map64.h */
#define NAME_POOL_MOVE_BYTES (8u << 20)	 /* a smaller pool is not worth a move */
#define NAME_POOL_LIMIT_TEXT "[name limit]"

struct name_pool {
	uint64_t serial; /* no other pool ever has it; 0: not initialised */
	struct arena arena;
	struct map64 by_hash;	/* a text's hash, or the next free number after it -> text */
	const char *limit_text; /* NAME_POOL_LIMIT_TEXT, made in advance; NULL: not initialised */
	size_t kept_bytes;	/* size after the last move, set by the owner; 0: no move yet */
	uint64_t moved_ns;	/* time of the last move, set by the owner */
	uint64_t took_ns;	/* processor time of the last move, set by the owner */
};

int name_pool_init(struct name_pool *pool);  /* -ENOMEM: the pool is zero-filled */
void name_pool_fini(struct name_pool *pool); /* a zero-filled pool is legal */

/* The pool's copy of the text, or limit_text; never NULL. */
const char *name_pool_add(struct name_pool *pool, const char *text, size_t len);

size_t name_pool_bytes(const struct name_pool *pool);

/*
 * Whether the pool's owner is to move its names: the pool has doubled since the last move, or the
 * pool is full and the last move is fifty times as old as it took: from ten seconds to twenty.
 */
bool name_pool_is_due(const struct name_pool *pool, uint64_t now_ns);

#endif
