// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a named stack -> a node of a tree of stacks -> the named stack, as often as it is wanted
 * units:   none
 * threads: the model's
 * errors:  negative errno; the stack is not kept
 * source:  none
 *
 * A probe's stack is read where something begins. What becomes of it is known later, maybe after
 * the process has ended. Until then the stack is kept by its names, which are the tree's. Equal
 * stacks share their nodes. The tree has a limit of nodes, see profile_init.
 */
#ifndef FG_PROBES_KEPT_STACK_H
#define FG_PROBES_KEPT_STACK_H

#include "profile/profile.h"
#include "sinks/named_sample.h"

#include <stdint.h>

struct kept_stack {
	uint32_t node; /* where the stack ends */
	struct symbolizer_verdict verdict;
	bool has_depth, has_gap;
	uint8_t end; /* enum stack_end */
};

/* -ENOSPC: the tree has no room for the whole stack. */
int kept_stack_keep(struct profile *tree, const struct named_sample *sample,
		    struct kept_stack *ret);
/* Sets the members of *ret that are of the stack. They are borrowed until the next call. */
void kept_stack_give(const struct profile *tree, const struct kept_stack *kept,
		     struct named_sample *ret);

/*
 * Copies some nodes into an empty tree of the same limit, in a time that grows with from's nodes.
 * map has a number for each of from's nodes: not 0 where a stack ends that is needed. It has the
 * nodes' new numbers afterwards.
 */
int kept_stack_copy(const struct profile *from, struct profile *to, uint32_t *map);

#endif
