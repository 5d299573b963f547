// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   two timelines over the nodes of one profile -> one timeline
 * units:   nanoseconds
 * threads: one
 * errors:  -ENOMEM: to is unchanged; what has no room is counted as timeline_add does
 * source:  none
 */
#ifndef FG_PROFILE_TIMELINE_MERGE_H
#define FG_PROFILE_TIMELINE_MERGE_H

#include "profile/timeline.h"

#include <stdbool.h>

/* How PIDs and times of the two compare. Zero-filled: neither can be compared. */
struct timeline_merging {
	bool has_same_pids; /* equal PIDs are one process; otherwise two */
	bool has_times;	    /* otherwise all entries go to the first bucket */
	uint64_t to_ns;	    /* start of to's times, after the start of the merged timeline */
	uint64_t from_ns;   /* start of from's times, likewise; one of the two is 0 */
};

int timeline_merge(struct timeline *to, const struct timeline *from,
		   const struct timeline_merging *how);

#endif
