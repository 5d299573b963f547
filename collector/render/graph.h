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

#include "profile/profile.h"

#include <stddef.h>
#include <stdint.h>

struct graph {
	const struct profile *profile;
	uint32_t *order;
	uint32_t count; /* of order */
	uint32_t *depth;
	uint64_t *start; /* children stand side by side from their parent's left edge */
};

int graph_init(struct graph *graph, const struct profile *profile);
/* With those nodes too of which sums, by node, is not 0; sums may be NULL. */
int graph_init_compared(struct graph *graph, const struct profile *profile, const uint64_t *sums);
void graph_fini(struct graph *graph);

#endif
