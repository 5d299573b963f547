// SPDX-License-Identifier: Apache-2.0
/* Orders the tree, see graph.h. */
#include "render/graph.h"

#include "base/array.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define ROOT PROFILE_ROOT

static int push(struct graph_children *children, const struct profile_node *node, uint32_t id)
{
	if (ARRAY_RESERVE(children->list, children->size, children->count + 1) < 0)
		return -ENOMEM;
	children->list[children->count++] = (struct graph_child){node->name, id, node->kind};
	return 0;
}

static int compare(const struct graph_child *x, const struct graph_child *y)
{
	const int order = strcmp(x->name, y->name);

	return order ? order : (x->kind > y->kind) - (x->kind < y->kind);
}

static int by_name_reversed(const void *a, const void *b)
{
	return compare(b, a);
}

static bool is_drawn(const struct graph *graph, uint32_t id)
{
	const uint64_t *const counts = graph->diff ? graph->diff->nodes[id].total : NULL;

	return graph->profile->nodes[id].total > 0 ||
	       (counts && (counts[DIFF_BEFORE] > 0 || counts[DIFF_AFTER] > 0));
}

int graph_add_children(const struct graph *graph, uint32_t parent, struct graph_children *children)
{
	const struct profile_node *const nodes = graph->profile->nodes;
	const size_t first = children->count;
	bool is_sorted = true;

	for (uint32_t id = nodes[parent].first_child; id; id = nodes[id].next_sibling) {
		struct graph_child *last;

		if (!is_drawn(graph, id))
			continue;
		if (push(children, &nodes[id], id) < 0)
			return -ENOMEM;
		last = &children->list[children->count - 1];
		if (is_sorted && children->count - first > 1)
			is_sorted = compare(last - 1, last) > 0;
	}
	if (!is_sorted)
		qsort(children->list + first, children->count - first, sizeof(*children->list),
		      by_name_reversed);
	return 0;
}

void graph_children_fini(struct graph_children *children)
{
	free(children->list);
	*children = (struct graph_children){0};
}

/* Whether the node stands behind its sibling that was made before it. */
static bool is_behind_sibling(const struct profile_node *nodes, uint32_t id)
{
	const uint32_t before = nodes[id].next_sibling;
	const struct graph_child one = {nodes[before].name, before, nodes[before].kind};
	const struct graph_child other = {nodes[id].name, id, nodes[id].kind};

	return before == 0 || (before < id && compare(&one, &other) < 0);
}

/* Whether all nodes are drawn, in the order of their numbers. */
static bool is_in_order(const struct graph *graph)
{
	const struct profile_node *const nodes = graph->profile->nodes;

	for (uint32_t id = 1; id < graph->profile->count; id++) {
		uint32_t at = id - 1;

		while (at != nodes[id].parent && at != ROOT)
			at = nodes[at].parent;
		if (at != nodes[id].parent || !is_drawn(graph, id) || !is_behind_sibling(nodes, id))
			return false;
	}
	return true;
}

/* A list of the nodes still to visit, the next one last, replaces recursion. */
static int order_nodes(struct graph *graph)
{
	struct graph_children left = {0};
	int rc;

	graph->order = malloc(graph->profile->count * sizeof(*graph->order));
	if (!graph->order)
		return -ENOMEM;
	rc = push(&left, &graph->profile->nodes[ROOT], ROOT);
	while (rc == 0 && left.count > 0) {
		const uint32_t id = left.list[--left.count].id;

		graph->order[graph->count++] = id;
		rc = graph_add_children(graph, id, &left);
	}
	graph_children_fini(&left);
	return rc;
}

static int init(struct graph *graph, const struct profile *profile, const struct profile_diff *diff)
{
	int rc = 0;

	*graph = (struct graph){.profile = profile, .diff = diff};
	if (is_in_order(graph))
		graph->count = profile->count;
	else
		rc = order_nodes(graph);
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
	*graph = (struct graph){0};
}
