// SPDX-License-Identifier: Apache-2.0
/* Keeps a difference, see draw_join.h. */
#include "draw/draw_join.h"

static bool is_alike(const struct diff_options *x, const struct diff_options *y)
{
	return x->width == y->width && x->is_raw == y->is_raw &&
	       x->splits_kinds == y->splits_kinds && x->sample_weight == y->sample_weight;
}

int draw_join_get(struct draw_join *join, const struct profile *before, const struct profile *after,
		  const struct diff_options *how, const struct profile_diff **ret)
{
	const bool is_theirs = before == join->before && after == join->after;
	struct profile_diff *const diff =
		is_theirs && (!join->kept.nodes || is_alike(&join->kept.options, how))
			? &join->kept
			: &join->other;
	int err = 0;

	diff_fini(&join->other);
	if (!diff->nodes)
		err = diff_init(diff, before, after, how);
	if (!err)
		*ret = diff;
	return err;
}

void draw_join_fini(struct draw_join *join)
{
	diff_fini(&join->kept);
	diff_fini(&join->other);
}
