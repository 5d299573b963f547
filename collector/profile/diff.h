// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   two profiles, before and after -> one tree with both counts at each node
 * units:   samples as they were counted; shares of each side's own total
 * threads: those of profile.h
 * errors:  -ENOMEM
 * source:  the two-proportion z test with pooled variance; Poisson counts for raw counts
 *
 * The tree has a node where either profile has one. The tree's self and total weights are the
 * widths to draw: the counts of one side, or (DIFF_WIDTH_UNION) at each end of a stack the greater
 * of both sides' counts, so that what has gone is seen beside what is new.
 *
 * Unless is_raw, counts are normalised: each count is compared as a share of its side's total,
 * because two recordings are seldom equally long. A change may be chance: z is its distance from no
 * change in standard deviations. z is right for counts of independent samples, and for times and
 * sizes if sample_weight says how much a sample stands for; for weights that are periods z is too
 * large.
 */
#ifndef FG_PROFILE_DIFF_H
#define FG_PROFILE_DIFF_H

#include "profile/diff_join.h"
#include "profile/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DIFF_NOISE_Z 2.576 /* where nothing has changed, 99 of 100 changes are smaller */

enum diff_width {
	DIFF_WIDTH_AFTER,
	DIFF_WIDTH_BEFORE,
	DIFF_WIDTH_UNION,
};

struct diff_options {
	enum diff_width width;
	bool is_raw;	      /* counts are not normalised */
	bool splits_kinds;    /* a Java method compiled at another level is another node */
	double sample_weight; /* of one sample; 0: 1 */
};

/* Counts of a node, or of all nodes of a method. */
struct diff_counts {
	uint64_t self[DIFF_SIDES];
	uint64_t total[DIFF_SIDES];
};

struct profile_diff {
	struct profile tree;	   /* self and total are widths */
	struct diff_counts *nodes; /* by node number of the tree */
	struct diff_options options;
};

/*
 * A method: all nodes of one name and kind. A sample counts once in total, also where the method
 * calls itself.
 */
struct diff_method {
	const char *name; /* owned by the tree */
	enum frame_kind kind;
	struct diff_counts counts;
};

int diff_init(struct profile_diff *diff, const struct profile *before, const struct profile *after,
	      const struct diff_options *options);
void diff_fini(struct profile_diff *diff);

/* The factor that makes a count before comparable with one after; 1 where nothing is normalised. */
double diff_scale(const struct profile_diff *diff);
/*
 * The change of one pair of counts as a share of all samples after: 0.01 is one of a hundred.
 * Normalised, the difference of the shares of both sides.
 */
double diff_change(const struct profile_diff *diff, const uint64_t counts[DIFF_SIDES]);
/* The change in standard deviations; 0 where nothing can be compared. */
double diff_z(const struct profile_diff *diff, const uint64_t counts[DIFF_SIDES]);
bool diff_is_noise(const struct profile_diff *diff, const uint64_t counts[DIFF_SIDES]);

/* All methods, by the change of their self counts, the largest first. The caller frees *ret. */
int diff_methods(const struct profile_diff *diff, struct diff_method **ret, size_t *ret_n);

#endif
