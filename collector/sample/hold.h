// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   records in any order -> the same records in order of time, some time later
 * units:   CLOCK_MONOTONIC nanoseconds, bytes
 * threads: one at a time
 * errors:  a record for which there is no memory is dropped and counted
 * source:  none
 *
 * Rings of several CPUs are read one after the other, and code events lag the code; so records wait
 * HOLD_NS until nothing older can come and the code they hit is known. A zero-filled struct hold is
 * a valid, empty one. Of a snapshot of a stack only what is real is copied; past HOLD_STACKS_BYTES
 * samples are held without theirs, for a sample with a shorter stack is better than none.
 */
#ifndef FG_SAMPLE_HOLD_H
#define FG_SAMPLE_HOLD_H

#include "sample/perf_record.h"

#define HOLD_NS		  UINT64_C(250000000)
#define HOLD_MAX_BYTES	  (64u << 20)
#define HOLD_STACKS_BYTES (HOLD_MAX_BYTES / 4 * 3)

struct hold {
	struct held **heap; /* by time, then by arrival */
	size_t count, size;
	size_t bytes;
	uint64_t arrivals;
	uint64_t dropped;	  /* no memory, or past HOLD_MAX_BYTES */
	uint64_t stacks_left_out; /* past HOLD_STACKS_BYTES */
	struct held *last;	  /* lent out by hold_next */
};

void hold_add(struct hold *hold, const struct perf_record *record); /* copied */

/* The oldest record if it is not younger than until_ns, else NULL; lent until the next call. */
const struct perf_record *hold_next(struct hold *hold, uint64_t until_ns);

/* What hold_next lent last waits on, and comes first again. */
void hold_put_back(struct hold *hold);

void hold_fini(struct hold *hold);

#endif
