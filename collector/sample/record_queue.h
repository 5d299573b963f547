// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   records in any number -> the same records, in the order in which they came
 * units:   bytes
 * threads: one at a time
 * errors:  false: no memory, or past max_bytes
 * source:  none
 *
 * Copies samples with what their pointers point at, to hand them from one thread to another. A
 * zero-filled struct is valid and empty, and has no room.
 *
 * Records belong to groups. Where there are several, each has its part of half of the room, and the
 * other half is for whoever comes first.
 */
#ifndef FG_SAMPLE_RECORD_QUEUE_H
#define FG_SAMPLE_RECORD_QUEUE_H

#include "base/map64.h"
#include "sample/record.h"

struct queued_record; /* opaque */

struct record_queue {
	struct queued_record *first, *last;
	size_t bytes, max_bytes;
	struct map64 groups; /* group -> bytes, of those that have records */
};

/* Copies the sample. n_groups: how many groups there may be; at least 1. */
bool record_queue_add(struct record_queue *queue, const struct record *record, uint64_t group,
		      size_t n_groups);
/* Moves at most most records from the head into *ret, which is overwritten. */
void record_queue_take(struct record_queue *queue, size_t most, struct record_queue *ret);
/* Calls fn for each record, and frees it. */
void record_queue_drain(struct record_queue *queue,
			void (*fn)(void *arg, const struct record *record), void *arg);
void record_queue_fini(struct record_queue *queue);

#endif
