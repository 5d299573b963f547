// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the named stack of who has ended a wait -> frames on top of the wait, upside down
 * units:   bytes, frames
 * threads: one at a time; no system calls
 * errors:  a stack of more frames or longer texts than there is room for loses its callers, and
 *          says so in its last frame
 * source:  sample/record.h: SAMPLE_OF_WAKER
 *
 * The stack comes as a record of its own in front of the wait's, and is kept here until then. All
 * frames become frames of kind FRAME_WAIT, for they say why the thread that waited did not run.
 */
#ifndef FG_RECORDING_WAKER_STACK_H
#define FG_RECORDING_WAKER_STACK_H

#include "sample/record.h"
#include "symbolize/frame.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WAKER_STACK_MAX_FRAMES 256u
#define WAKER_STACK_MAX_BYTES  (64u << 10)

/* A zero-filled struct is valid and empty. */
struct waker_stack {
	uint32_t number; /* of the wait's sample; 0: empty */
	pid_t tid;	 /* of who has waited */
	uint64_t time_ns;
	size_t n, n_bytes;
	struct frame frames[WAKER_STACK_MAX_FRAMES]; /* leaf first */
	char texts[WAKER_STACK_MAX_BYTES];
};

/* Keeps copies of the frames, leaf first, of the record of a waker's stack. */
void waker_stack_keep(struct waker_stack *stack, const struct record *record,
		      const struct frame *frames, size_t n);
/* Whether it is the stack of the waker of the wait that the record tells of. */
bool waker_stack_is_of(const struct waker_stack *stack, const struct record *wait);
/* Writes the frames in front of *end, the leaf next to it. Returns how many there are. */
size_t waker_stack_write(const struct waker_stack *stack, struct frame *end);

#endif
