// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a profile -> the order of its nodes in a drawing
 * units:   none
 * threads: any number at once on one profile; a graph belongs to one
 * errors:  -ENOMEM
 * source:  none
 *
 * A node comes before all nodes below it, and siblings are sorted by name. Nodes of total 0 are
 * left out. The nodes of a sorted file are in this order already, and then order takes no memory.
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
	uint32_t *order;		 /* node numbers; NULL: each node at its number */
	uint32_t count;			 /* of nodes in order */
};

/* Children of a node. A zero-filled struct has none. */
struct graph_children {
	struct graph_child {
		const char *name;
		uint32_t id;
		uint32_t kind;
	} * list;
	size_t count;
	size_t size;
};

int graph_init(struct graph *graph, const struct profile *profile);
/* For a diff's tree: with all nodes that either side has, also those of width 0. */
int graph_init_compared(struct graph *graph, const struct profile_diff *diff);
void graph_fini(struct graph *graph);

static inline uint32_t graph_node(const struct graph *graph, uint32_t place)
{
	return graph->order ? graph->order[place] : place;
}

/* How many levels the node's parent is above the node one place before; 0 for the first. */
static inline uint32_t graph_levels_up(const struct graph *graph, uint32_t place)
{
	const struct profile_node *const nodes = graph->profile->nodes;
	uint32_t up = 0;

	if (place == 0)
		return 0;
	for (uint32_t at = graph_node(graph, place - 1),
		      parent = nodes[graph_node(graph, place)].parent;
	     at != parent; at = nodes[at].parent)
		up++;
	return up;
}

/* Adds the node's children to the list, the last one in order first. -ENOMEM */
int graph_add_children(const struct graph *graph, uint32_t parent, struct graph_children *children);
void graph_children_fini(struct graph_children *children);

#endif
