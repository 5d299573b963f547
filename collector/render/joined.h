// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   profiles of several kinds -> samples by thread and stack, those of all kinds side by
 *          side
 * units:   those of the kinds
 * threads: any after joined_init
 * errors:  -ENOMEM
 * source:  none
 *
 * For formats in which a stack has a weight of each kind. Kinds have timelines of their own; rows
 * of these are one thread if all that is known of thread and process is equal.
 */
#ifndef FG_RENDER_JOINED_H
#define FG_RENDER_JOINED_H

#include "base/intern.h"
#include "base/map64.h"
#include "profile/profile_part.h"
#include "render/tuples.h"

#include <stddef.h>
#include <stdint.h>

#define JOINED_NO_THREAD UINT32_MAX

struct joined_sample {
	uint32_t thread; /* index in threads, or JOINED_NO_THREAD */
	uint32_t stack;
	uint32_t part; /* number of its kind */
	uint64_t weight;
};

/* A thread of all kinds; borrowed from the timeline of the first kind that has the thread. */
struct joined_thread {
	const struct timeline_thread *thread;
	const struct timeline_process *process;
};

struct joined {
	struct joined_sample *samples; /* by thread, then by stack, then by part */
	size_t n_samples, samples_size;
	struct joined_thread *threads;
	uint32_t threads_size;
	struct tuples processes, rows; /* what makes a process and a thread, in numbers of texts */
	struct intern texts;
	struct map64 text_numbers; /* address in texts -> number + 1 */
};

/* stacks[i][node] is the stack that ends in a node of the profile of parts[i]. */
int joined_init(struct joined *joined, const struct profile_part *parts, size_t n,
		uint32_t *const *stacks);
void joined_fini(struct joined *joined);

#endif
