// SPDX-License-Identifier: Apache-2.0
/* Cuts profiles into pieces, see push_pieces.h. */
#include "push/push_pieces.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdlib.h>

int push_stacks_alloc(struct push_stacks *stacks, const struct profile *profile, size_t n)
{
	*stacks = (struct push_stacks){.profile = profile,
				       .items = malloc((n + 1) * sizeof(*stacks->items))};
	return stacks->items ? 0 : -ENOMEM;
}

void push_stacks_add(struct push_stacks *stacks, uint32_t leaf, uint64_t weight)
{
	stacks->items[stacks->count++] = (struct push_stack){.leaf = leaf, .weight = weight};
}

int push_stacks_init(struct push_stacks *stacks, const struct profile *profile)
{
	const int err = push_stacks_alloc(stacks, profile, profile->count);

	for (uint32_t id = 0; !err && id < profile->count; id++)
		if (profile->nodes[id].self > 0)
			push_stacks_add(stacks, id, profile->nodes[id].self);
	return err;
}

void push_stacks_fini(struct push_stacks *stacks)
{
	free(stacks->items);
	*stacks = (struct push_stacks){0};
}

static int add_stack(const struct profile *profile, const struct push_stack *stack,
		     struct frame *frames, struct profile *ret, uint64_t *ret_cut)
{
	size_t n = 0;

	for (uint32_t id = stack->leaf; id != PROFILE_ROOT; id = profile->nodes[id].parent) {
		if (n == PUSH_MAX_FRAMES) {
			frames[n - 1] = (struct frame){.name = PUSH_CUT_NAME, .kind = FRAME_LABEL};
			(*ret_cut)++;
			break;
		}
		frames[n++] = profile_frame_of(&profile->nodes[id]);
	}
	if (n == 0)
		frames[n++] = (struct frame){.name = PUSH_NO_FRAMES, .kind = FRAME_LABEL};
	return profile_add(ret, frames, n, stack->weight);
}

int push_stacks_slice(const struct push_stacks *stacks, size_t first, size_t n, struct profile *ret,
		      uint64_t *ret_cut)
{
	_cleanup_free_ struct frame *frames = calloc(PUSH_MAX_FRAMES, sizeof(*frames));
	int err = frames ? profile_init(ret, 0) : -ENOMEM;

	if (err)
		return err;
	for (size_t i = first; !err && i < first + n; i++) {
		err = add_stack(stacks->profile, &stacks->items[i], frames, ret, ret_cut);
		if (!err && ret->count > PUSH_MAX_NODES)
			err = -EFBIG;
	}
	if (err)
		profile_fini(ret);
	return err;
}
