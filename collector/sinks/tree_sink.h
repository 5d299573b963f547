// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the samples of a recording -> one call tree of all samples, and the time and thread of
 *          each
 * units:   those of profile.h and timeline.h
 * threads: the model's
 * errors:  negative errno
 * source:  none
 */
#ifndef FG_SINKS_TREE_SINK_H
#define FG_SINKS_TREE_SINK_H

#include "sinks/seen_jvms.h"
#include "sinks/sink.h"
#include "sinks/tree_share.h"

#define TREE_SINK_NAME_BYTES 64u /* of names, for each node that there may be */

struct tree_sink {
	struct sink sink;
	struct profile profile;
	struct tree_share share;  /* of profile's nodes */
	struct timeline timeline; /* times of the samples in profile */
	struct seen_jvms seen;	  /* JVMs of which there were samples */
	uint64_t start_ns;
};

int tree_sink_new(struct tree_sink **ret); /* of samples of processor time */
/* A tree of so many nodes at most. */
int tree_sink_new_of(const struct sample_kind *kind, uint32_t max_nodes, struct tree_sink **ret);

#endif
