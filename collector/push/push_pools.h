// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a profile and its timeline -> the stacks of each thread pool
 * units:   stacks; weights of the profile
 * threads: one at a time
 * errors:  -ENOMEM
 * source:  profile/pools.h says which threads are a pool
 *
 * Each sample is in one pool, so that the sums of all pools are those of the profile. Samples of
 * unknown threads are in the pool TIMELINE_OTHER_THREADS, and so are samples of the smallest pools
 * beyond PUSH_POOLS_MAX: a server makes a series of each pool, and a process names its threads as
 * it likes.
 */
#ifndef FG_PUSH_PUSH_POOLS_H
#define FG_PUSH_PUSH_POOLS_H

#include "base/intern.h"
#include "profile/timeline.h"
#include "push/push_pieces.h"

#define PUSH_POOLS_MAX 16u

struct push_pool {
	const char *name; /* owned by the pools */
	size_t first, n;  /* of the pools' stacks */
};

struct push_pools {
	struct intern names;
	struct push_pool *pools; /* those that have stacks */
	size_t count;
	struct push_stacks stacks;
};

/* timeline NULL: all samples are of unknown threads. */
int push_pools_init(struct push_pools *pools, const struct profile *profile,
		    const struct timeline *timeline);
void push_pools_fini(struct push_pools *pools);

#endif
