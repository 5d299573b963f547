// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   two timelines of one profile's nodes -> one
 * units:   nanoseconds
 * threads: one
 * errors:  -ENOMEM, and to is as it was; what has no room is counted as by timeline_add
 * source:  none
 */
#ifndef FG_PROFILE_TIMELINE_MERGE_H
#define FG_PROFILE_TIMELINE_MERGE_H

#include "profile/timeline.h"

#include <stdbool.h>

/* A zero-filled one says that nothing can be compared. */
struct timeline_merging {
	bool has_same_pids; /* equal PIDs are the same process; otherwise they are two */
	bool has_times;	    /* otherwise all of both is in the first bucket */
	uint64_t to_ns;	    /* so much later do the times of to begin than those of both */
	uint64_t from_ns;   /* likewise; one of the two is 0 */
};

int timeline_merge(struct timeline *to, const struct timeline *from,
		   const struct timeline_merging *how);

#endif
