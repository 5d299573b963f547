// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   equal texts -> one pointer, up to a limit, and only as long as somebody holds them
 * units:   bytes, CLOCK_MONOTONIC nanoseconds
 * threads: one at a time
 * errors:  a text that is new and for which there is no room becomes NAME_POOL_LIMIT_TEXT
 * source:  none
 *
 * For the names of one process, which come from inside a container and without end: code is loaded
 * and dropped as long as a JVM lives. So a pool has a maximum, and its owner moves what it still
 * holds to a fresh one when that is worth it. Texts hold no NUL; they are terminated, may be
 * compared by pointer within a pool, and live until name_pool_fini.
 */
#ifndef FG_CODE_NAME_POOL_H
#define FG_CODE_NAME_POOL_H

#include "base/arena.h"
#include "base/map64.h"

#include <stdbool.h>

#define NAME_POOL_MAX_BYTES  (64u << 20) /* of texts and the index of them */
#define NAME_POOL_MOVE_BYTES (8u << 20)	 /* below, a move is not worth it */
#define NAME_POOL_LIMIT_TEXT "[name limit]"

struct name_pool {
	uint64_t serial; /* of no other pool before or after; 0: not initialised */
	struct arena arena;
	struct map64 by_hash;	/* the hash, or the next free number after it -> text */
	const char *limit_text; /* made in advance, so that it is there when nothing else is */
	size_t kept_bytes;	/* at the last move; 0: none yet */
	uint64_t moved_ns;
};

int name_pool_init(struct name_pool *pool);  /* -ENOMEM: there is nothing to end */
void name_pool_fini(struct name_pool *pool); /* a zero-filled pool is legal */

/* Never NULL. */
const char *name_pool_add(struct name_pool *pool, const char *text, size_t len);

size_t name_pool_bytes(const struct name_pool *pool);

/*
 * Whether it has doubled since the last move; a full one is also due every ten seconds, because its
 * owner may have let go of much.
 */
bool name_pool_is_due(const struct name_pool *pool, uint64_t now_ns);

#endif
