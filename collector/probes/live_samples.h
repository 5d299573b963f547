// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   samples of allocations, and numbers of objects that have died -> samples of those that
 *          live
 * units:   bytes, objects
 * threads: the model's
 * errors:  samples past the limits, or without memory, are left out and counted
 * source:  docs/probes.md: alloc, alloc_dead
 *
 * A JVM's agent watches some of the sampled objects, and gives these a number. At level n it
 * watches the objects whose numbers have n zeros at their low end. The word of a round is the
 * level, plus 256 for each time that the agent has begun anew: what it has watched before is of no
 * known fate. Words and numbers are the profiled process's: anything may be in them.
 *
 * A sample is kept here from its allocation until the object has died. At the end, those that are
 * left stand for 2^level times as many. Stacks are kept by their names, which outlive the process.
 */
#ifndef FG_PROBES_LIVE_SAMPLES_H
#define FG_PROBES_LIVE_SAMPLES_H

#include "sample/record.h"
#include "sinks/named_sample.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of a recording. Of those marked (shared) a container or user has as much as is free. */
#define LIVE_SAMPLES_MAX       65536u  /* (shared) */
#define LIVE_SAMPLES_MAX_JVM   16384u  /* of a JVM, whose agent watches 4,096 objects at most */
#define LIVE_SAMPLES_MAX_JVMS  2048u   /* (shared) */
#define LIVE_SAMPLES_MAX_NODES 65536u  /* of a JVM's stacks */
#define LIVE_SAMPLES_ALL_NODES 400000u /* (shared) */

struct live_samples_stats {
	uint64_t kept;	    /* samples whose objects have been watched */
	uint64_t dead;	    /* of these, those that have died */
	uint64_t unwatched; /* samples that others stand for */
	uint64_t forgotten; /* as unwatched, but the agent watched them for a while */
	uint64_t given;	    /* by live_samples_next */
	uint64_t left_out;  /* past the limits, or of JVMs whose PID has another process now */
};

struct live_samples; /* opaque */

int live_samples_new(struct live_samples **ret);
void live_samples_free(struct live_samples *live); /* NULL is legal */

/* Keeps the sample of an allocation. */
void live_samples_keep(struct live_samples *live, const struct record *record,
		       const struct named_sample *sample);
/* Forgets the samples of objects that have died. */
void live_samples_end(struct live_samples *live, const struct record *record);
/*
 * One sample more of an object that lives, with the kind live, by the time of its allocation.
 * False: there is none. No sample may be kept any more. *ret borrows until the next call.
 * ret->process is NULL; *ret_start_ticks is that of the process.
 */
bool live_samples_next(struct live_samples *live, struct named_sample *ret,
		       uint64_t *ret_start_ticks);

void live_samples_stats(const struct live_samples *live, struct live_samples_stats *ret);
size_t live_samples_bytes(const struct live_samples *live);

#endif
