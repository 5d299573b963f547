// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   two profiles, before and after -> one tree with both counts at each node
 * units:   samples as they were counted; shares of each side's own total
 * threads: as profile.h
 * errors:  -ENOMEM
 * source:  the two-proportion z test with pooled variance; Poisson counts where nothing is
 *          normalised
 *
 * A node is there if either profile has it. The tree's own weights are the widths it is drawn with:
 * of one side, or of whichever is greater at each end of a stack, so that what has gone is seen
 * beside what is new.
 *
 * Normalised, a count is compared as its share of its side's total, because two recordings are
 * seldom equally long. A change may be the luck of sampling: z says how many standard deviations it
 * is away from none. That takes counts for samples that do not depend on each other; of periods or
 * times it says too much.
 */
#ifndef FG_PROFILE_DIFF_H
#define FG_PROFILE_DIFF_H

#include "profile/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DIFF_SIDES   2
#define DIFF_BEFORE  0
#define DIFF_AFTER   1
#define DIFF_NOISE_Z 2.576 /* less than that happens in one of 100 where nothing has changed */

enum diff_width {
	DIFF_WIDTH_AFTER,
	DIFF_WIDTH_BEFORE,
	DIFF_WIDTH_UNION,
};

struct diff_options {
	enum diff_width width;
	bool is_raw;	   /* counts are compared as they are */
	bool splits_kinds; /* a Java method compiled otherwise than before is another one */
};

/* Of a node, or of a method wherever it is called. */
struct diff_counts {
	uint64_t self[DIFF_SIDES];
	uint64_t total[DIFF_SIDES];
};

struct profile_diff {
	struct profile tree;	   /* its self and total are widths */
	struct diff_counts *nodes; /* by the tree's node numbers */
	struct diff_options options;
};

/* A method: all nodes of a name. Where it calls itself, each sample counts once. */
struct diff_method {
	const char *name; /* the tree's */
	enum frame_kind kind;
	struct diff_counts counts;
};

int diff_init(struct profile_diff *diff, const struct profile *before, const struct profile *after,
	      const struct diff_options *options);
void diff_fini(struct profile_diff *diff);

/* What a count before is worth after: 1 where nothing is normalised. */
double diff_scale(const struct profile_diff *diff);
/*
 * Of one pair of a diff_counts: the change as a share of all samples after, so that 0.01 is one of
 * a hundred; normalised, of both sides' own shares.
 */
double diff_change(const struct profile_diff *diff, const uint64_t counts[DIFF_SIDES]);
/* In standard deviations; 0 where there is nothing to compare. */
double diff_z(const struct profile_diff *diff, const uint64_t counts[DIFF_SIDES]);
bool diff_is_noise(const struct profile_diff *diff, const uint64_t counts[DIFF_SIDES]);

/* All methods, those whose own samples changed most first. The caller frees *ret. */
int diff_methods(const struct profile_diff *diff, struct diff_method **ret, size_t *ret_n);

#endif
