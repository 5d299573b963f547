// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   parts of recordings, and a range of time -> one profile, timeline and facts a kind
 * units:   nanoseconds since 1970; weights of the kind
 * threads: one at a time
 * errors:  -ENOMEM, and then the sum holds a part of the samples
 * source:  none
 *
 * Life cycle: store_sum_init, then store_sum_add for each part and store_sum_next_process between
 * the parts of different processes, then store_sum_finish, then store_sum_fini.
 *
 * A part that lies in the range is added whole. Of a part that the range cuts, the samples in the
 * range are added, as the part's timeline tells their times. Samples that the timeline has left out
 * are then left out too, and counted. The counts of the quality of such a part are its counts times
 * the share of its samples in the range.
 */
#ifndef FG_STORE_STORE_SUM_H
#define FG_STORE_STORE_SUM_H

#include "profile/profile_part.h"

#include <stdbool.h>

/* from_ns <= time < to_ns */
struct store_range {
	uint64_t from_ns, to_ns;
};

/* Of each kind. 0: as large as a sum may be. */
struct store_sum_limits {
	uint32_t nodes;	   /* past it there are [overflow] nodes */
	size_t times;	   /* past it times become coarser */
	size_t name_bytes; /* past it there are [overflow] nodes */
};

#define STORE_RANGE_ALL ((struct store_range){0, UINT64_MAX})

struct store_sum_kind {
	struct profile_kind kind;
	char texts[2][PROFILE_KIND_BYTES]; /* of kind */
	struct profile profile;		   /* owns the texts of info */
	struct timeline timeline;
	struct profile_info info;
	bool has_info;
};

struct store_sum {
	uint64_t start_ns; /* times of all timelines are since then */
	uint64_t end_ns;   /* the latest end of a part */
	struct store_sum_kind *kinds[PROFILE_MAX_KINDS];
	size_t n;
	struct store_sum_limits limits;
	uint64_t parts;	  /* that were added */
	uint64_t untimed; /* samples of parts that were cut, of which no time is known */
	/* Parts of a kind that was there with another unit, or one too many, or whose weights do
	 * not fit into the sum. */
	uint64_t left_out;
};

/* start_ns: no part that is added begins before it, or the part's times begin with it. */
void store_sum_init(struct store_sum *sum, uint64_t start_ns);
/* To be called before the first part is added. */
void store_sum_limit(struct store_sum *sum, const struct store_sum_limits *limits);
void store_sum_fini(struct store_sum *sum);

int store_sum_add(struct store_sum *sum, const struct profile_part *from,
		  const struct store_range *range);
/* What is added from here on is of another process, whatever its PID is. */
void store_sum_next_process(struct store_sum *sum);
/* Makes totals and sorts times. */
void store_sum_finish(struct store_sum *sum);

/* The kinds as parts; returns their number. */
size_t store_sum_parts(const struct store_sum *sum, struct profile_part ret[PROFILE_MAX_KINDS]);

#endif
