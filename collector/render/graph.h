// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a profile -> the order and place of its nodes in a drawing
 * units:   samples from the left edge, levels above the root
 * threads: any number at once on one profile; a graph belongs to one
 * errors:  -ENOMEM
 * source:  none
 *
 * Nodes are ordered as a reader meets them: a node, then all below it, siblings by name. Arrays
 * are indexed by the profile's node numbers, but for order, which lists them. Nodes of total 0 are
 * left out.
 */
#ifndef FG_RENDER_GRAPH_H
#define FG_RENDER_GRAPH_H

#include "profile/diff.h"
#include "profile/profile.h"

#include <stddef.h>
#include <stdint.h>

struct graph {
	const struct profile *profile;
	const struct profile_diff *diff; /* or NULL */
	uint32_t *order;
	uint32_t count; /* of order */
	uint32_t *depth;
	uint64_t *start; /* children stand side by side from their parent's left edge */
};

int graph_init(struct graph *graph, const struct profile *profile);
/* Of a diff's tree, with all nodes that either side has, whatever their widths. */
int graph_init_compared(struct graph *graph, const struct profile_diff *diff);
void graph_fini(struct graph *graph);

#endif
