// SPDX-License-Identifier: Apache-2.0
/* Puts stacks into a tree and takes them out, see kept_stack.h. */
#include "probes/kept_stack.h"

#include "symbolize/symbolizer.h"

#include <errno.h>

#define MAX_FRAMES (SYMBOLIZER_MAX_FRAMES + 8) /* with labels and the class */

/* Of the stack that was given out last; used by the model's thread only. */
static struct frame given_frames[MAX_FRAMES];
static struct symbolizer_verdict given_verdict;
static struct stack given_stack;

int kept_stack_keep(struct profile *tree, const struct named_sample *sample, struct kept_stack *ret)
{
	const uint64_t overflows = tree->quality.overflow_samples;
	uint32_t node;
	const int err = profile_add_leaf(tree, sample->frames, sample->n_frames, 1, &node);

	if (err < 0)
		return err;
	if (tree->quality.overflow_samples != overflows)
		return -ENOSPC;
	*ret = (struct kept_stack){.node = node,
				   .verdict = *sample->verdict,
				   .has_depth = sample->stack->depth > 0,
				   .has_gap = sample->stack->has_gap,
				   .end = sample->stack->end};
	return 0;
}

void kept_stack_give(const struct profile *tree, const struct kept_stack *kept,
		     struct named_sample *ret)
{
	size_t n = 0;

	for (uint32_t id = kept->node; id != PROFILE_ROOT && n < MAX_FRAMES;
	     id = tree->nodes[id].parent)
		given_frames[n++] = profile_frame_of(&tree->nodes[id]);
	given_verdict = kept->verdict;
	given_stack.depth = kept->has_depth;
	given_stack.has_gap = kept->has_gap;
	given_stack.end = kept->end;
	ret->stack = &given_stack;
	ret->verdict = &given_verdict;
	ret->frames = given_frames;
	ret->n_frames = n;
}

static int copy_node(const struct profile *from, struct profile *to, uint32_t *map, uint32_t id)
{
	const struct frame frame = profile_frame_of(&from->nodes[id]);
	uint32_t copy = map[from->nodes[id].parent];
	struct profile_name name;
	int err = profile_keep_name(to, &frame, &name);

	if (!err)
		err = profile_descend(to, &name, &copy);
	if (err < 0)
		return err;
	map[id] = copy;
	return 0;
}

/* A node comes behind its parent. */
int kept_stack_copy(const struct profile *from, struct profile *to, uint32_t *map)
{
	int err = 0;

	for (uint32_t id = from->count - 1; id > PROFILE_ROOT; id--) {
		if (map[id])
			map[from->nodes[id].parent] = 1;
	}
	map[PROFILE_ROOT] = PROFILE_ROOT;
	for (uint32_t id = PROFILE_ROOT + 1; !err && id < from->count; id++) {
		if (map[id])
			err = copy_node(from, to, map, id);
	}
	return err;
}
