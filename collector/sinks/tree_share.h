// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the owners of samples -> how much of a tree each may still fill
 * units:   nodes; bytes of names; processes and threads of a timeline
 * threads: the model's
 * errors:  none; without memory what is added is of nobody
 * source:  guard/pool.h
 *
 * A container or user whose stacks are ever new ones, or whose names are long, would fill a tree,
 * and cut the stacks of all others. So once there are two, each has as much of the tree as is free,
 * and who is alone leaves a thirty-second part to those who come later. Past its share an owner's
 * stacks add no nodes: they end in an [overflow] node near the root, and are counted as others that
 * are cut. So it is with the rows of the timeline: further processes of such an owner are left out
 * of it, and further threads are other threads of their process.
 */
#ifndef FG_SINKS_TREE_SHARE_H
#define FG_SINKS_TREE_SHARE_H

#include "guard/pool.h"
#include "profile/profile.h"
#include "profile/timeline.h"
#include "sinks/named_sample.h"

struct tree_share {
	struct pool nodes, names, processes, threads;
	uint32_t nodes_before; /* those of the tree when the sample began */
	size_t names_before, processes_before, threads_before;
};

/* What is shared. */
struct tree_shared {
	struct profile *tree;
	struct timeline *timeline;
	size_t max_name_bytes; /* of tree */
};

void tree_share_fini(struct tree_share *share); /* a zero-filled struct is valid, and is left */

/* Closes or opens tree and timeline for the sample, which is then added to both. */
void tree_share_begin(struct tree_share *share, const struct named_sample *sample,
		      const struct tree_shared *shared);
/* The sample was added. */
void tree_share_end(struct tree_share *share, const struct named_sample *sample,
		    const struct tree_shared *shared);

#endif
