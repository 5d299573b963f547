// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the texts of frames, each kept once, and the frames made of them
 * units:   bytes
 * threads: the model's
 * errors:  a frame's name is NULL when memory is out
 * source:  none
 *
 * Java frames and native frames share one struct frame_texts: texts are found by value, frames by
 * their sources. All live until frame_texts_expire frees them because they are too many. A
 * zero-filled struct is valid and empty.
 */
#ifndef FG_SYMBOLIZE_FRAME_TEXTS_H
#define FG_SYMBOLIZE_FRAME_TEXTS_H

#include "base/intern.h"
#include "symbolize/frame_cache.h"

struct frame_texts {
	struct intern names;
	struct frame_cache frames; /* their texts are in names */
	uint64_t forgotten;	   /* how often all were freed */
	size_t max_bytes;	   /* of names; 0: FRAME_TEXTS_MAX_BYTES */
};

#define FRAME_TEXTS_MAX_BYTES ((size_t)32 << 20)

/* Room for the frames of one address, the innermost inlined one first. */
struct frame_room {
	struct frame *frames;
	size_t max; /* at least 1 */
};

void frame_texts_fini(struct frame_texts *texts);

/* The memory of texts and frames. */
size_t frame_texts_bytes(const struct frame_texts *texts);

/* Frees all texts and frames if they are too many. Call it between two stacks. */
void frame_texts_expire(struct frame_texts *texts);

/* A frame "[unknown: reason]" of kind FRAME_UNKNOWN. */
struct frame frame_texts_unknown(struct frame_texts *texts, const char *reason);

#endif
