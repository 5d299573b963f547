// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the steps of one sample through the chain of stages -> a watch of all that these steps
 *          ask for
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: the model's
 * errors:  none: a watch counts its own
 * source:  none
 *
 * A recording has at most one watch, which capture/ implements. Between begin and end of a step,
 * the stages tell the watch what is read of the process's memory, of files and of the kernel's
 * symbols. A step without a result, because tables of files are missing, ends with counts false,
 * and is repeated.
 */
#ifndef FG_RECORDING_SAMPLE_WATCH_H
#define FG_RECORDING_SAMPLE_WATCH_H

#include "sinks/named_sample.h"
#include "sample/record.h"

#include <stdbool.h>

/* The numbers are written into captures. */
enum sample_step {
	SAMPLE_REMAINDER, /* read from its ring buffer: its stack remainder may be kept */
	SAMPLE_LOOK,	  /* read from its ring buffer: its stack is also walked ahead */
	SAMPLE_TAKE,	  /* its stack is walked and named, and the sample goes to the sinks */
	SAMPLE_STEPS,
};

struct sample_watch;

struct sample_watch_ops {
	void (*begin)(struct sample_watch *watch, enum sample_step step, struct process *process,
		      const struct record *record);
	/* sample: the named sample of SAMPLE_TAKE if counts, else NULL. */
	void (*end)(struct sample_watch *watch, bool counts, const struct named_sample *sample);
	/* The memory of all that was noted. */
	uint64_t (*bytes)(const struct sample_watch *watch);
	/* Sets the limit of that memory: samples are left out beyond it. */
	void (*set_max_bytes)(struct sample_watch *watch, uint64_t bytes);
	void (*free)(struct sample_watch *watch);
};

/* The first member of a larger structure. */
struct sample_watch {
	const struct sample_watch_ops *ops;
};

/* watch may be NULL. */
static inline void sample_watch_begin(struct sample_watch *watch, enum sample_step step,
				      struct process *process, const struct record *record)
{
	if (watch)
		watch->ops->begin(watch, step, process, record);
}

static inline void sample_watch_end(struct sample_watch *watch, bool counts,
				    const struct named_sample *sample)
{
	if (watch)
		watch->ops->end(watch, counts, sample);
}

#endif
