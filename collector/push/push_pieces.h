// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the stacks of one kind of a graph -> pieces, each below the limits of servers
 * units:   stacks, frames; weights of the kind
 * threads: one at a time
 * errors:  -ENOMEM, -EFBIG
 * source:  Pyroscope's limits: 16,000 samples, 4 MiB, 1,000 frames of a stack
 *
 * A stack is in one piece only, so that the sums of all pieces are those of the graph. A stack of
 * more than PUSH_MAX_FRAMES frames loses those next to the root, where a frame says so: a server
 * would cut the stack at the leaf, silently.
 */
#ifndef FG_PUSH_PUSH_PIECES_H
#define FG_PUSH_PUSH_PIECES_H

#include "profile/profile.h"

#define PUSH_MAX_STACKS 16000u
#define PUSH_MAX_FRAMES 1000u
#define PUSH_MAX_NODES	500000u /* of a piece: as a graph has, so that a piece takes no more */
#define PUSH_MAX_PLAIN	(UINT64_C(4) << 20) /* bytes before compression */
#define PUSH_NO_FRAMES	"[no frames]"	    /* most readers would not count an empty stack */
#define PUSH_CUT_NAME	"[truncated: deeper than 1000 frames]"

struct push_stack {
	uint32_t leaf; /* the node in which the stack ends */
	uint64_t weight;
};

struct push_stacks {
	const struct profile *profile; /* borrowed */
	struct push_stack *items;
	size_t count;
};

/* All stacks of the profile. */
int push_stacks_init(struct push_stacks *stacks, const struct profile *profile);
/* None, with room for n. */
int push_stacks_alloc(struct push_stacks *stacks, const struct profile *profile, size_t n);
void push_stacks_add(struct push_stacks *stacks, uint32_t leaf, uint64_t weight);
void push_stacks_fini(struct push_stacks *stacks);

/*
 * Makes the profile of n stacks from first on, which the caller owns. Adds to ret_cut the stacks
 * that were cut. Such stacks no longer share the frames next to the root: -EFBIG if they have more
 * than PUSH_MAX_NODES, which one stack never has.
 */
int push_stacks_slice(const struct push_stacks *stacks, size_t first, size_t n, struct profile *ret,
		      uint64_t *ret_cut);

#endif
