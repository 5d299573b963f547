// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a timeline's entries -> the entries of each thread
 * units:   samples
 * threads: any after by_thread_init
 * errors:  -ENOMEM
 * source:  none
 *
 * A thread with several sets of labels has several rows in the timeline. The entries of all of them
 * are the first row's, and the other rows have none, unless the order is BY_THREAD_ROW.
 *
 * A timeline may lack samples that the profile has, and there may be no timeline. The samples
 * without an entry are the rest, by node: what a format writes of the threads and of the rest is
 * all samples.
 */
#ifndef FG_RENDER_BY_THREAD_H
#define FG_RENDER_BY_THREAD_H

#include "profile/profile.h"
#include "profile/timeline.h"

#include <stdbool.h>

enum by_thread_order {
	BY_THREAD_TIME, /* by thread, then by time */
	/* by thread, then by node; entries of one thread and node are joined, in bucket 0 */
	BY_THREAD_NODE,
	BY_THREAD_ROW,	  /* as BY_THREAD_NODE, for each row */
	BY_THREAD_MOMENT, /* by time, of all threads; first has only the end */
};

struct by_thread {
	struct timeline_entry *entries;
	uint32_t *first; /* thread -> its first entry; behind the last thread the end */
	uint32_t threads;
	uint64_t *rest; /* node -> samples without an entry */
	bool has_rest;
};

/* timeline NULL: all samples are the rest. */
int by_thread_init(struct by_thread *by_thread, const struct profile *profile,
		   const struct timeline *timeline, enum by_thread_order order);
void by_thread_fini(struct by_thread *by_thread);

#endif
