// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a timeline's entries -> those of each thread
 * units:   samples
 * threads: any, once made
 * errors:  -ENOMEM
 * source:  none
 *
 * A timeline may have left samples out, and there may be none at all. What the profile has and it
 * has not is the rest, by node; so that what a format writes by threads and the rest is everything.
 */
#ifndef FG_RENDER_BY_THREAD_H
#define FG_RENDER_BY_THREAD_H

#include "profile/profile.h"
#include "profile/timeline.h"

#include <stdbool.h>

enum by_thread_order {
	BY_THREAD_TIME,	  /* of each thread one after the other */
	BY_THREAD_NODE,	  /* equal nodes of a thread are one entry, of bucket 0 */
	BY_THREAD_MOMENT, /* of all threads one after the other; first means nothing but the end */
};

struct by_thread {
	struct timeline_entry *entries;
	uint32_t *first; /* thread -> its first entry; one more than there are threads */
	uint32_t threads;
	uint64_t *rest; /* node -> samples */
	bool has_rest;
};

/* timeline may be NULL: all is the rest then. */
int by_thread_init(struct by_thread *by_thread, const struct profile *profile,
		   const struct timeline *timeline, enum by_thread_order order);
void by_thread_fini(struct by_thread *by_thread);

#endif
