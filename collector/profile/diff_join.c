// SPDX-License-Identifier: Apache-2.0
/*
 * Walks both trees at once, see diff_join.h. Stacks may be too deep for recursion, so nodes that
 * are still to be joined are a list, of which the next one is the last. Siblings stand in the list
 * in the order of their names, which brings those of one name together.
 */
#include "profile/diff_join.h"

#include "base/array.h"
#include "base/cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROOT  PROFILE_ROOT
#define NAMES 16384u /* a power of two */

/* A node of a side that is to be joined. */
struct pending {
	const char *name;
	uint32_t id;
	uint32_t parent; /* in the tree */
	uint8_t kind;	 /* as it is joined */
	uint8_t side;
};

struct pending_list {
	struct pending *nodes;
	size_t count, size;
};

/* A name of a side and what the tree keeps of it. Names of one function follow each other. */
struct known_name {
	const char *name, *module, *file;
	struct profile_name kept;
};

struct joining {
	const struct diff_join *join;
	struct pending_list left;
	struct pending_list equal; /* those that become one node */
	struct known_name *names;  /* NAMES of them, by the address of the name */
};

static int push(struct pending_list *list, const struct pending *pending)
{
	if (ARRAY_RESERVE(list->nodes, list->size, list->count + 1) < 0)
		return -ENOMEM;
	list->nodes[list->count++] = *pending;
	return 0;
}

static uint8_t kind_of(const struct joining *joining, const struct profile_node *node)
{
	return frame_kind_is_java((enum frame_kind)node->kind) && !joining->join->splits_kinds
		       ? FRAME_JAVA
		       : node->kind;
}

static int by_name(const struct pending *x, const struct pending *y)
{
	const int order = x->name == y->name ? 0 : strcmp(x->name, y->name);

	return order ? order : (x->kind > y->kind) - (x->kind < y->kind);
}

/* Of one name, those after come first, in the order in which they were made. */
static int compare(const struct pending *x, const struct pending *y)
{
	const int order = by_name(x, y);

	if (order)
		return order;
	if (x->side != y->side)
		return x->side < y->side ? 1 : -1;
	return (x->id > y->id) - (x->id < y->id);
}

static int compare_reversed(const void *a, const void *b)
{
	return compare(b, a);
}

static int push_children(struct joining *joining, uint8_t side, uint32_t id, uint32_t parent)
{
	const struct profile_node *const nodes = joining->join->from[side]->nodes;

	for (uint32_t child = nodes[id].first_child; child; child = nodes[child].next_sibling) {
		const struct pending pending = {.name = nodes[child].name,
						.id = child,
						.parent = parent,
						.kind = kind_of(joining, &nodes[child]),
						.side = side};

		if (nodes[child].total > 0 && push(&joining->left, &pending) < 0)
			return -ENOMEM;
	}
	return 0;
}

static void sort_from(struct pending_list *list, size_t first)
{
	bool is_sorted = true;

	for (size_t i = first + 1; i < list->count && is_sorted; i++)
		is_sorted = compare(&list->nodes[i - 1], &list->nodes[i]) > 0;
	if (!is_sorted)
		qsort(list->nodes + first, list->count - first, sizeof(*list->nodes),
		      compare_reversed);
}

/* Moves the last node, and those before it that are joined with it, to equal. */
static int take_equal(struct joining *joining)
{
	struct pending_list *const left = &joining->left, *const equal = &joining->equal;
	const struct pending first = left->nodes[left->count - 1];

	equal->count = 0;
	do {
		if (push(equal, &left->nodes[--left->count]) < 0)
			return -ENOMEM;
	} while (left->count > 0 && left->nodes[left->count - 1].parent == first.parent &&
		 by_name(&left->nodes[left->count - 1], &first) == 0);
	return 0;
}

static const struct profile_node *node_of(const struct joining *joining,
					  const struct pending *pending)
{
	return &joining->join->from[pending->side]->nodes[pending->id];
}

static int keep_name(const struct joining *joining, const struct pending *pending,
		     struct profile_name *ret)
{
	const struct profile_node *const node = node_of(joining, pending);
	struct known_name *const known =
		&joining->names[((uintptr_t)node->name >> 3) & (NAMES - 1)];

	if (known->name != node->name || known->module != node->module ||
	    known->file != node->file) {
		const struct frame frame = profile_frame_of(node);

		*known = (struct known_name){0};
		if (profile_keep_name(joining->join->to, &frame, &known->kept) < 0)
			return -ENOMEM;
		known->name = node->name;
		known->module = node->module;
		known->file = node->file;
	}
	*ret = known->kept;
	ret->line = node->line;
	ret->kind = (enum frame_kind)pending->kind;
	return 0;
}

/* Makes the node of those in equal. */
static int make_node(const struct joining *joining, uint32_t *ret)
{
	const struct pending_list *const equal = &joining->equal;
	struct profile_name name;
	uint32_t id = equal->nodes[0].parent;
	int rc = keep_name(joining, &equal->nodes[0], &name);

	if (rc == 0)
		rc = profile_append(joining->join->to, &name, &id);
	for (size_t i = 1; i < equal->count && rc >= 0; i++) {
		rc = keep_name(joining, &equal->nodes[i], &name);
		if (rc == 0)
			profile_meet(joining->join->to, &name, id);
	}
	*ret = id;
	return rc < 0 ? rc : 0;
}

/* Joins the next nodes of one name, and puts their children on the list. */
static int join_next(struct joining *joining)
{
	const struct pending_list *const equal = &joining->equal;
	size_t first;
	uint32_t id;
	int rc = take_equal(joining);

	if (rc == 0)
		rc = make_node(joining, &id);
	first = joining->left.count;
	for (size_t i = 0; i < equal->count && rc == 0; i++) {
		const struct pending *const pending = &equal->nodes[i];

		joining->join->ids[pending->side][pending->id] = id;
		rc = push_children(joining, pending->side, pending->id, id);
	}
	sort_from(&joining->left, first);
	return rc;
}

static void joining_fini(struct joining *joining)
{
	free(joining->left.nodes);
	free(joining->equal.nodes);
	free(joining->names);
}

/* The only label that stands on the root, and nothing else does; NULL: there are more, or none. */
static struct pending *only_label(struct pending_list *list, uint8_t side)
{
	struct pending *found = NULL;

	for (size_t i = 0; i < list->count; i++) {
		if (list->nodes[i].side != side)
			continue;
		if (found || list->nodes[i].kind != FRAME_LABEL)
			return NULL;
		found = &list->nodes[i];
	}
	return found;
}

/*
 * One process a side is what is compared, whatever it is called: two pods, two versions of a jar.
 */
static void join_only_labels(struct pending_list *list)
{
	struct pending *const before = only_label(list, DIFF_BEFORE);
	const struct pending *const after = only_label(list, DIFF_AFTER);

	if (before && after)
		before->name = after->name;
}

int diff_join(const struct diff_join *join)
{
	_cleanup_(joining_fini) struct joining joining = {
		.join = join,
		.names = calloc(NAMES, sizeof(struct known_name)),
	};
	int rc = joining.names ? 0 : -ENOMEM;

	for (uint8_t side = 0; side < DIFF_SIDES && rc == 0; side++)
		rc = push_children(&joining, side, ROOT, ROOT);
	join_only_labels(&joining.left);
	sort_from(&joining.left, 0);
	while (joining.left.count > 0 && rc == 0)
		rc = join_next(&joining);
	return rc;
}
