// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   records in any order -> these records in order of time, some time later
 * units:   CLOCK_MONOTONIC nanoseconds, bytes
 * threads: one at a time
 * errors:  a record for which there is no memory is dropped and counted
 * source:  none
 *
 * Ring buffers of several CPUs are read one after the other, and agents' events lag the code. So
 * records wait HOLD_NS: until no older record can come, and the code that samples hit is known. The
 * last records of a recording that ends wait HOLD_END_NS, because the recording's user waits. Code
 * is known within 25 ms, at the next tick of its agent, and 6 ms of HotSpot's in 99 of 100 cases.
 * Of a snapshot only the bytes that hold the stack are copied. Past three quarters of max_bytes
 * samples are held without their snapshots, because a sample with a shorter stack is better than no
 * sample. A zero-filled struct hold is valid and empty.
 */
#ifndef FG_SAMPLE_HOLD_H
#define FG_SAMPLE_HOLD_H

#include "sample/record.h"

#define HOLD_NS		  UINT64_C(250000000)
#define HOLD_END_NS	  UINT64_C(100000000)
#define HOLD_MAX_BYTES	  (64u << 20)
#define HOLD_STACKS_BYTES (HOLD_MAX_BYTES / 4 * 3)

struct hold {
	struct held **heap; /* by time, then by arrival */
	size_t count, size;
	size_t bytes;
	size_t max_bytes; /* HOLD_MAX_BYTES or less; 0: HOLD_MAX_BYTES */
	uint64_t arrivals;
	uint64_t dropped;	  /* records without memory, or past max_bytes */
	uint64_t dropped_samples; /* of these, samples */
	size_t samples;		  /* samples in the heap */
	uint64_t stacks_left_out; /* snapshots past three quarters of max_bytes */
	struct held *last;	  /* the record that hold_next returned last */
};

/* Copies the record, and what its pointers point at. */
void hold_add(struct hold *hold, const struct record *record);

/* The oldest record if its time is until_ns or before, else NULL; borrowed until the next call. */
const struct record *hold_next(struct hold *hold, uint64_t until_ns);

/* The time of the oldest record; UINT64_MAX: none is held. */
uint64_t hold_oldest_ns(const struct hold *hold);

/* Puts back the record that hold_next returned last; it comes first again. */
void hold_put_back(struct hold *hold);

void hold_fini(struct hold *hold);

#endif
