// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   named stacks of threads that begin to wait, and the ends of waits -> waits with a stack
 *          and a duration
 * units:   CLOCK_MONOTONIC nanoseconds; waits last microseconds
 * threads: the model's
 * errors:  waits past the limits are left out and counted
 * source:  sample/record.h: SAMPLE_OF_ENTER, SAMPLE_OF_ENTERED
 *
 * A stack is read where a wait begins, while another thread has the lock. How long the wait was is
 * known where the wait ends. Between the two, which can be hours, the stack is kept here by its
 * names, which outlive the process. Equal stacks share their frames.
 *
 * When there are as many waits or frames as may be, a quarter of the waits is left out of the
 * container or user that has the most. A wait of its own is left out instead.
 */
#ifndef FG_PROBES_LOCK_WAITS_H
#define FG_PROBES_LOCK_WAITS_H

#include "sample/record.h"
#include "sinks/named_sample.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOCK_WAITS_MAX		16384u	/* that have not ended */
#define LOCK_WAITS_MAX_NODES	400000u /* of their stacks together */
#define LOCK_WAITS_WAITER_NODES 131072u /* of the stacks of a container or user */

struct lock_waits_stats {
	uint64_t left_out;  /* waits past the limits, or without memory */
	uint64_t unmatched; /* ends without a begin */
	uint64_t forgotten; /* of processes that have ended */
};

struct lock_waits; /* opaque */

int lock_waits_new(struct lock_waits **ret);
void lock_waits_free(struct lock_waits *waits); /* NULL is legal */

/* Keeps the sample of a begin, whose first value is set by the end. */
void lock_waits_begin(struct lock_waits *waits, const struct record *record,
		      const struct named_sample *sample);
/*
 * The sample of the wait that the record ends. process is the record's, or NULL. False: its begin
 * is not known. *ret borrows until the next call.
 */
bool lock_waits_end(struct lock_waits *waits, const struct record *record, struct process *process,
		    struct named_sample *ret);
/*
 * One of the waits that have not ended at now_ns, which is forgotten here; ret->process is NULL.
 * False: there is none.
 */
bool lock_waits_next_open(struct lock_waits *waits, uint64_t now_ns, struct named_sample *ret);

/* Forgets some waits of processes that are gone; to be called now and then. */
void lock_waits_sweep(struct lock_waits *waits, bool (*is_gone)(const void *arg, pid_t pid),
		      const void *arg);

void lock_waits_stats(const struct lock_waits *waits, struct lock_waits_stats *ret);
size_t lock_waits_bytes(const struct lock_waits *waits);

#endif
