// SPDX-License-Identifier: Apache-2.0
/* Orders the tree, see graph.h. A list of the nodes still to visit replaces recursion. */
#include "render/graph.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define ROOT 0u

struct sibling {
	const char *name;
	uint32_t id;
	uint32_t kind;
};

struct walk {
	struct sibling *list; /* the last item is visited next */
	size_t count;
	size_t size;
};

static int push(struct walk *walk, const struct profile_node *node, uint32_t id)
{
	if (walk->count == walk->size) {
		const size_t size = walk->size ? walk->size * 2 : 64;
		struct sibling *list = realloc(walk->list, size * sizeof(*list));

		if (!list)
			return -ENOMEM;
		walk->list = list;
		walk->size = size;
	}
	walk->list[walk->count++] = (struct sibling){node->name, id, node->kind};
	return 0;
}

static int by_name_reversed(const void *a, const void *b)
{
	const struct sibling *const x = b;
	const struct sibling *const y = a;
	const int order = strcmp(x->name, y->name);

	return order ? order : (x->kind > y->kind) - (x->kind < y->kind);
}

static bool is_drawn(const struct graph *graph, uint32_t id)
{
	const uint64_t *const counts = graph->diff ? graph->diff->nodes[id].total : NULL;

	return graph->profile->nodes[id].total > 0 ||
	       (counts && (counts[DIFF_BEFORE] > 0 || counts[DIFF_AFTER] > 0));
}

static int visit(struct graph *graph, struct walk *walk)
{
	const struct profile_node *const nodes = graph->profile->nodes;
	const uint32_t parent = walk->list[--walk->count].id;
	const size_t first = walk->count;
	uint64_t start = graph->start[parent];

	graph->order[graph->count++] = parent;
	for (uint32_t id = nodes[parent].first_child; id; id = nodes[id].next_sibling)
		if (is_drawn(graph, id) && push(walk, &nodes[id], id) < 0)
			return -ENOMEM;
	if (walk->count - first > 1)
		qsort(walk->list + first, walk->count - first, sizeof(*walk->list),
		      by_name_reversed);
	for (size_t i = walk->count; i > first; i--) {
		const uint32_t id = walk->list[i - 1].id;

		graph->depth[id] = graph->depth[parent] + 1;
		graph->start[id] = start;
		start += nodes[id].total;
	}
	return 0;
}

static int init(struct graph *graph, const struct profile *profile, const struct profile_diff *diff)
{
	struct walk walk = {0};
	int rc;

	*graph = (struct graph){
		.profile = profile,
		.diff = diff,
		.order = malloc(profile->count * sizeof(*graph->order)),
		.depth = malloc(profile->count * sizeof(*graph->depth)),
		.start = malloc(profile->count * sizeof(*graph->start)),
	};
	rc = graph->order && graph->depth && graph->start ? 0 : -ENOMEM;
	if (rc == 0) {
		graph->depth[ROOT] = 0;
		graph->start[ROOT] = 0;
		rc = push(&walk, &profile->nodes[ROOT], ROOT);
	}
	while (rc == 0 && walk.count > 0)
		rc = visit(graph, &walk);
	free(walk.list);
	if (rc < 0)
		graph_fini(graph);
	return rc;
}

int graph_init(struct graph *graph, const struct profile *profile)
{
	return init(graph, profile, NULL);
}

int graph_init_compared(struct graph *graph, const struct profile_diff *diff)
{
	return init(graph, &diff->tree, diff);
}

void graph_fini(struct graph *graph)
{
	free(graph->order);
	free(graph->depth);
	free(graph->start);
	*graph = (struct graph){0};
}
