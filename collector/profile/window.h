// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   named stacks -> those of the last seconds, as a call tree and who they were of
 * units:   CLOCK_MONOTONIC nanoseconds; whole seconds since start_ns; weights are samples
 * threads: one
 * errors:  -ENOMEM; past its room a stack is cut at [overflow], or its thread not kept: counted
 * source:  none
 *
 * The window is the newest second, of which there is a part so far, and `seconds` whole ones before
 * it. Stacks are in two generations of trees: one grows for as many seconds as the window has,
 * and is kept for as many again. So memory has a bound however long it runs, nothing is ever taken
 * out of a tree, and a stack that is met again costs a look-up. Time never goes back: what comes
 * late counts for the second that it is.
 */
#ifndef FG_PROFILE_WINDOW_H
#define FG_PROFILE_WINDOW_H

#include "profile/profile.h"
#include "profile/timeline.h"

#include <stdint.h>

#define WINDOW_DEFAULT_SECONDS 10u
#define WINDOW_MAX_SECONDS     600u
#define WINDOW_MAX_NODES       131072u	   /* of a generation */
#define WINDOW_MAX_ENTRIES     262144u	   /* likewise: threads at leaves, with the time */
#define WINDOW_MAX_NAME_BYTES  (16u << 20) /* likewise: of all names together */

struct window_generation {
	struct profile profile;
	struct timeline timeline; /* from the start of its first second on */
	uint64_t first;		  /* second */
};

struct window_second {
	uint64_t number;
	struct profile_quality quality;
	uint64_t untimed; /* samples without room for their thread: in no row */
};

struct window {
	uint64_t start_ns, now_ns;
	unsigned seconds;
	struct window_generation generations[2]; /* the growing one, and the one before */
	struct window_second *ring;		 /* of seconds */
	uint64_t lost, stackless;		 /* sums, as last noted */
};

struct window_sample {
	uint64_t time_ns;
	const struct frame *frames; /* leaf first */
	size_t n_frames;
	uint32_t thread;		     /* of window_timeline's, at that time */
	const struct profile_quality *flaws; /* what profile_add cannot see, 1 or 0 each */
};

/* What the window held at one moment. A zero-filled one is a valid, empty one. */
struct window_copy {
	struct profile profile;
	struct timeline timeline; /* all in one bucket; each thread and leaf once; what it lost */
	struct profile_quality quality;
	uint64_t covered_ns; /* less than the window has while it fills */
};

int window_init(struct window *window, uint64_t start_ns, unsigned seconds);
void window_fini(struct window *window); /* a zero-filled one is legal */

/* There will be nothing of before now_ns. */
void window_advance(struct window *window, uint64_t now_ns);
/* Where the thread of a sample of that time is numbered; window_add comes next. */
struct timeline *window_timeline(struct window *window, uint64_t time_ns);
int window_add(struct window *window, const struct window_sample *sample);
/* Sums since the start; what is new counts for the second that it is now. */
void window_note_losses(struct window *window, uint64_t lost, uint64_t stackless);

/* quality, covered_ns and timeline.lost_samples alone; trees stay empty. */
void window_sum(const struct window *window, struct window_copy *ret);
/* On -ENOMEM ret is empty. */
int window_copy(const struct window *window, struct window_copy *ret);
void window_copy_fini(struct window_copy *copy);

#endif
