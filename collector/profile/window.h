// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   named stacks -> the stacks of the last seconds, as a call tree and a timeline
 * units:   CLOCK_MONOTONIC nanoseconds; whole seconds since start_ns; weights of one kind
 * threads: one
 * errors:  -ENOMEM; past a limit a stack is cut at [overflow], or its thread is not kept; both
 *          counted
 * source:  none
 *
 * The window is the current second, as far as it has gone, and the `seconds` whole seconds before
 * it. Stacks are in two generations of trees. One generation grows for as long as the window, then
 * stays unchanged for the same time while the other one grows. So memory has a limit, nothing is
 * ever removed from a tree, and a stack that is already known costs a look-up. Time never goes
 * back: a late sample counts for the current second.
 */
#ifndef FG_PROFILE_WINDOW_H
#define FG_PROFILE_WINDOW_H

#include "profile/profile.h"
#include "profile/timeline.h"

#include <stdint.h>

#define WINDOW_DEFAULT_SECONDS 10u
#define WINDOW_MAX_SECONDS     600u
#define WINDOW_MAX_NODES       131072u	   /* in a generation */
#define WINDOW_MAX_ENTRIES     262144u	   /* in a generation: threads at leaves, with the time */
#define WINDOW_MAX_NAME_BYTES  (16u << 20) /* in a generation: bytes of all names */

struct window_generation {
	struct profile profile;
	struct timeline timeline; /* begins at the start of second `first` */
	uint64_t first;		  /* number of its first second */
};

struct window_second {
	uint64_t number;
	struct profile_quality quality;
	uint64_t untimed; /* samples for whose thread there was no room */
};

struct window {
	uint64_t start_ns, now_ns;
	unsigned seconds;
	struct window_generation generations[2]; /* the one that grows, and the one before it */
	struct window_second *ring;		 /* the seconds of the window */
	uint64_t lost, stackless;		 /* as last given to window_note_losses */
	size_t max_bytes; /* of the window; 0: as the limits above are; see window_set_max_bytes */
};

struct window_sample {
	uint64_t time_ns;
	const struct frame *frames; /* leaf first */
	size_t n_frames;
	uint32_t thread; /* number in the timeline of window_timeline */
	uint64_t weight;
	const struct profile_quality *flaws; /* what profile_add cannot count */
};

/* The content of a window at one moment. A zero-filled struct is valid and empty. */
struct window_copy {
	struct profile profile;
	/* one bucket, one entry for each thread and leaf; lost_samples of the window */
	struct timeline timeline;
	struct profile_quality quality;
	uint64_t covered_ns; /* shorter than the window while the window fills */
};

int window_init(struct window *window, uint64_t start_ns, unsigned seconds);
void window_fini(struct window *window); /* a zero-filled struct is legal */

/*
 * Sets the limit of memory, of which nodes, entries and names have their parts. What has been kept
 * so far stays until it leaves the window.
 */
void window_set_max_bytes(struct window *window, size_t bytes);
size_t window_bytes(const struct window *window); /* its memory */
/* The limit of the names of a generation. */
size_t window_name_bytes(const struct window *window);

/* Moves the window to now_ns: no sample before now_ns will follow. */
void window_advance(struct window *window, uint64_t now_ns);
/*
 * The timeline in which to number the thread of a sample at time_ns. window_add must be the next
 * call.
 */
struct timeline *window_timeline(struct window *window, uint64_t time_ns);
int window_add(struct window *window, const struct window_sample *sample);
/* lost and stackless are sums since the start; their growth counts for the current second. */
void window_note_losses(struct window *window, uint64_t lost, uint64_t stackless);

/* Fills quality, covered_ns and timeline.lost_samples alone; tree and timeline stay empty. */
void window_sum(const struct window *window, struct window_copy *ret);
/* On -ENOMEM ret is empty. */
int window_copy(const struct window *window, struct window_copy *ret);
void window_copy_fini(struct window_copy *copy);

#endif
