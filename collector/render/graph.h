// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a profile -> order and place of its nodes in a drawing
 * units:   samples from the left edge, levels above the root
 * threads: any number at once on one profile; a graph belongs to one
 * errors:  -ENOMEM
 * source:  none
 *
 * A node comes before all nodes below it, and siblings are sorted by name. order lists node
 * numbers; the other arrays are indexed by node number. Nodes of total 0 are left out.
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
	uint32_t count; /* length of order */
	uint32_t *depth;
	uint64_t *start; /* children stand side by side from their parent's left edge on */
};

int graph_init(struct graph *graph, const struct profile *profile);
/* For a diff's tree: with all nodes that either side has, also those of width 0. */
int graph_init_compared(struct graph *graph, const struct profile_diff *diff);
void graph_fini(struct graph *graph);

#endif
