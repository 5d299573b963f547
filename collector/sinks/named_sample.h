// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a sample after the last stage: its stack with named frames, its process and its thread
 * units:   CLOCK_MONOTONIC nanoseconds; values in the units that the sample's kind says
 * threads: the model's
 * errors:  none
 * source:  pprof's profile.proto: types of values
 *
 * A sample's kind says what makes the kernel or the JVM take a sample, and what the sample's values
 * count. A sample of processor time has one value: the number of samples that it stands for. One of
 * wall-clock time has the microseconds that its thread spent with the stack.
 *
 * A sample of an allocation has the bytes and the objects that it stands for, one of a contended
 * lock the time that the thread waited and the number of waits. Such a sample is given to the sinks
 * twice, once of either kind, with that kind's value first. One of exceptions has their number.
 * live and live_objects are not among sample_kinds: a recording has them in place of the bits of
 * alloc and objects.
 */
#ifndef FG_SINKS_NAMED_SAMPLE_H
#define FG_SINKS_NAMED_SAMPLE_H

#include "process/process.h"
#include "sample/record.h"
#include "profile/profile.h"
#include "profile/profile_kind.h"
#include "profile/timeline.h"
#include "symbolize/symbolizer.h"
#include "unwind/stack.h"

#define SAMPLE_MAX_VALUES 4
#define SAMPLE_KINDS	  8

struct sample_value_type {
	const char *name; /* "samples" */
	const char *unit; /* "count", "nanoseconds", "bytes" */
};

struct sample_kind {
	const struct profile_kind *profile; /* the kind's name, and the unit of its profile */
	size_t n_values;
	struct sample_value_type values[SAMPLE_MAX_VALUES];
};

extern const struct sample_kind sample_kind_cpu;
extern const struct sample_kind sample_kind_wall;
extern const struct sample_kind sample_kind_offcpu; /* wall-clock time without time on a CPU */
extern const struct sample_kind sample_kind_alloc;
extern const struct sample_kind sample_kind_objects; /* of the same samples as alloc */
extern const struct sample_kind sample_kind_live;    /* in place of alloc, of living objects */
extern const struct sample_kind sample_kind_live_objects;
extern const struct sample_kind sample_kind_lock;
extern const struct sample_kind sample_kind_contentions; /* of the same samples as lock */
extern const struct sample_kind sample_kind_exceptions;

/* All kinds, in the order in which a recording has them. A mask of kinds has a bit for each. */
extern const struct sample_kind *const sample_kinds[SAMPLE_KINDS];

#define SAMPLES_OF_CPU	       1u
#define SAMPLES_OF_WALL	       2u
#define SAMPLES_OF_OFFCPU      4u
#define SAMPLES_OF_ALLOC       8u
#define SAMPLES_OF_OBJECTS     16u
#define SAMPLES_OF_LOCK	       32u
#define SAMPLES_OF_CONTENTIONS 64u
#define SAMPLES_OF_EXCEPTIONS  128u

/* The kind that a recording of living objects has in place of this one; the same for others. */
const struct sample_kind *sample_kind_if_live(const struct sample_kind *kind);

struct named_sample {
	const struct sample_kind *kind;
	uint64_t values[SAMPLE_MAX_VALUES];
	uint64_t time_ns;
	uint64_t span_ns;	 /* the values belong to so much time before time_ns; 0: a moment */
	enum thread_state state; /* of samples of wall-clock time */
	pid_t pid, tid;
	const char *comm;	 /* of the thread then, see struct sample; NULL or "": not told */
	struct process *process; /* NULL: the process is gone */
	const struct stack *stack;
	const struct symbolizer_verdict *verdict;
	const struct frame *frames; /* leaf first */
	size_t n_frames;
};

/*
 * Counts in quality the flaws of the sample's stack that profile_add cannot see: frames without a
 * name, a missing root, missing frames of the heap, and by enum stack_end why the stack is cut. For
 * a cut stack the symbolizer has put a [truncated: reason] frame behind the others.
 */
void named_sample_judge(const struct named_sample *sample, struct profile_quality *quality);

/*
 * The number of the sample's thread in the timeline. Adds or refreshes what the timeline knows of
 * the thread and of its process.
 */
uint32_t named_sample_thread(const struct named_sample *sample, struct timeline *timeline);

/*
 * Adds the sample to profile, and its time and thread to timeline, which begins at start_ns. A
 * sample of a span of time is spread over that time. -ENOMEM: the sample is in neither.
 */
int named_sample_add(const struct named_sample *sample, uint64_t start_ns, struct profile *profile,
		     struct timeline *timeline);

#endif
