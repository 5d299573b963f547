// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what a frame's texts are made from -> the frame, made before
 * units:   none
 * threads: one at a time
 * errors:  none; what is not found is made again
 * source:  none
 *
 * Stacks have the same frames over and over, and to write a name is much of what a frame costs. A
 * key says by pointers and numbers what the texts were made from, and by a serial number who owns
 * these: a name pool, an inline table, a file's symbols, the kernel's. No other ever has that
 * number, so that an owner need not be forgotten when it goes: its frames are not found any more.
 * Within an owner a pointer must go on to mean the same text.
 *
 * A place for each hash, the last comer's. A zero-filled cache is a valid, empty one.
 */
#ifndef FG_SYMBOLIZE_FRAME_CACHE_H
#define FG_SYMBOLIZE_FRAME_CACHE_H

#include "symbolize/frame.h"

#include <stdbool.h>

#define FRAME_CACHE_BITS 14

struct frame_key {
	uint64_t owner; /* of serial_next; 0: is never found */
	uint64_t parts[4];
	uint32_t line;
	uint32_t style; /* however texts are written */
};

struct frame_place {
	struct frame_key key;
	struct frame frame;
};

struct frame_cache {
	struct frame_place *places; /* 1 << FRAME_CACHE_BITS; NULL: none yet */
};

void frame_cache_fini(struct frame_cache *cache);

/* Borrowed until the next change, or NULL. */
const struct frame *frame_cache_find(const struct frame_cache *cache, const struct frame_key *key);

/* A frame without a name, or one of owner 0, is not kept; nor is any without memory. */
void frame_cache_put(struct frame_cache *cache, const struct frame_key *key,
		     const struct frame *frame);

/* The texts are no more. */
void frame_cache_clear(struct frame_cache *cache);

#endif
