// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   two profiles -> their difference, which outlives the first that asks for it
 * units:   as of profile/diff.h
 * threads: one
 * errors:  -ENOMEM
 * source:  none
 *
 * To join two profiles takes a third of the time of a comparison, and graphs and tables of the same
 * stacks ask for the same. Profiles that are made for one graph have their difference made anew.
 */
#ifndef FG_DRAW_DRAW_JOIN_H
#define FG_DRAW_DRAW_JOIN_H

#include "profile/diff.h"

/* With the profiles whose difference is kept, borrowed, and all else zero, a join is empty. */
struct draw_join {
	const struct profile *before, *after;
	struct profile_diff kept;
	struct profile_diff other; /* of other profiles, or by other options */
};

/* *ret is valid until the next call. */
int draw_join_get(struct draw_join *join, const struct profile *before, const struct profile *after,
		  const struct diff_options *how, const struct profile_diff **ret);
void draw_join_fini(struct draw_join *join);

#endif
