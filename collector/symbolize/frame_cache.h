// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the sources of a frame's texts -> the frame that was made from them before
 * units:   none
 * threads: one at a time
 * errors:  none; a frame that is not found is made again
 * source:  none
 *
 * The same frames come over and over, and writing a frame's name is much of its cost. A key
 * consists of the pointers and numbers from which the texts were made, and of the serial number of
 * their owner: a name pool, an inline table, a file's symbol table, the kernel's symbols. Serial
 * numbers are never used again, so an owner that is freed need not be removed here: its frames are
 * never found again. While an owner lives, a pointer must always mean the same text.
 *
 * Each hash has one place, which the latest frame takes. A zero-filled struct is valid and empty.
 */
#ifndef FG_SYMBOLIZE_FRAME_CACHE_H
#define FG_SYMBOLIZE_FRAME_CACHE_H

#include "symbolize/frame.h"

#include <stdbool.h>
#include <stddef.h>

#define FRAME_CACHE_BITS 14

struct frame_key {
	uint64_t owner; /* made by serial_next; 0: never kept nor found */
	uint64_t parts[4];
	uint32_t line;
	uint32_t style; /* the style in which texts are written */
};

struct frame_place {
	struct frame_key key;
	struct frame frame;
};

struct frame_cache {
	struct frame_place *places; /* 1 << FRAME_CACHE_BITS of them; NULL before the first frame */
};

void frame_cache_fini(struct frame_cache *cache);
size_t frame_cache_bytes(const struct frame_cache *cache); /* its memory */

/* The frame, borrowed until the next change, or NULL. */
const struct frame *frame_cache_find(const struct frame_cache *cache, const struct frame_key *key);

/* A frame is not kept if it has no name, if its owner is 0, or if there is no memory. */
void frame_cache_put(struct frame_cache *cache, const struct frame_key *key,
		     const struct frame *frame);

/* Empties the cache: call it when the texts are freed. */
void frame_cache_clear(struct frame_cache *cache);

#endif
