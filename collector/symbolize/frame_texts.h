// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   texts of frames, each kept once, and the frames that were made of them
 * units:   bytes
 * threads: the model's
 * errors:  a frame's name is NULL when memory is out
 * source:  none
 *
 * Whoever names an address shares these: texts by value, frames by what they were made from. Both
 * live until frame_texts_expire finds that they have become too many. A zero-filled struct is a
 * valid, empty one.
 */
#ifndef FG_SYMBOLIZE_FRAME_TEXTS_H
#define FG_SYMBOLIZE_FRAME_TEXTS_H

#include "base/intern.h"
#include "symbolize/frame_cache.h"

struct frame_texts {
	struct intern names;
	struct frame_cache frames; /* whose texts are in names */
	uint64_t forgotten;	   /* times that all were */
};

/* Where frames go that were inlined into each other, innermost first. */
struct frame_room {
	struct frame *frames;
	size_t max; /* at least 1 */
};

void frame_texts_fini(struct frame_texts *texts);

/* Between two stacks: forgets all if it has become too much. */
void frame_texts_expire(struct frame_texts *texts);

/* "[unknown: reason]", of kind FRAME_UNKNOWN. */
struct frame frame_texts_unknown(struct frame_texts *texts, const char *reason);

#endif
