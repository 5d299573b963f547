// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   two profiles -> one tree with a node where either has one
 * units:   none
 * threads: those of profile.h
 * errors:  -ENOMEM
 * source:  none
 *
 * The tree is made in the order of names, parents first, so that no node has to be looked up.
 */
#ifndef FG_PROFILE_DIFF_JOIN_H
#define FG_PROFILE_DIFF_JOIN_H

#include "profile/profile.h"

#include <stdbool.h>
#include <stdint.h>

#define DIFF_SIDES  2
#define DIFF_BEFORE 0
#define DIFF_AFTER  1

struct diff_join {
	struct profile *to; /* empty, with room for the nodes of both */
	/* where both have a node and lines or builds differ, the tree's node has none */
	const struct profile *from[DIFF_SIDES];
	/* by node of from: the tree's node; 0 for nodes without a weight; zeros before */
	uint32_t *ids[DIFF_SIDES];
	bool splits_kinds; /* a Java method compiled at another level is another node */
};

/* Makes the nodes and counts nothing. */
int diff_join(const struct diff_join *join);

#endif
