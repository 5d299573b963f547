// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what a probe of the agent has told with a sample -> the sample's values, and its leaf
 *          frame
 * units:   bytes, objects
 * threads: the model's
 * errors:  what cannot be true is no sample
 * source:  docs/probes.md; JVMTI, SetHeapSamplingInterval: the JVM draws the distance between two
 *          samples from an exponential distribution
 *
 * The registers and the stack of a probe are the profiled process's: anything may be in them.
 */
#ifndef FG_PROBES_PROBE_SAMPLE_H
#define FG_PROBES_PROBE_SAMPLE_H

#include "sample/record.h"
#include "sinks/named_sample.h"
#include "symbolize/symbolizer.h"

#include <stdbool.h>
#include <stddef.h>

#define PROBE_SAMPLE_MIN_BYTES	  8		      /* no object is smaller */
#define PROBE_SAMPLE_MAX_BYTES	  (UINT64_C(1) << 37) /* nor larger: a long[] has 2^31 elements */
#define PROBE_SAMPLE_MAX_INTERVAL (UINT64_C(1) << 31) /* JVMTI's is a positive jint */

/* Whether the sample is one of a probe. */
bool probe_sample_is(const struct sample *sample);
/* The kind of the sample's first value. */
const struct sample_kind *probe_sample_kind(const struct sample *sample);

/*
 * Of an allocation: the bytes and the objects for which the sample stands: an object of s bytes is
 * sampled with the probability p = 1 - e^(-s / interval), and stands for 1 / p objects. False: no
 * allocation has such an amount or interval, or no JVM allocates PROBE_SAMPLE_MAX_BYTES between two
 * samples: so a JVM that lies needs hours to have a sum overflow. Of a park: the microseconds, and
 * the number of parks. Of a wait: nothing yet, and the number of waits. Of an exception: the number
 * of exceptions.
 *
 * Values are rounded up or down by chance, with the record's time as dice, so that their mean is
 * right.
 */
bool probe_sample_values(const struct record *record, uint64_t ret[SAMPLE_MAX_VALUES]);

/* weight times so many nanoseconds, rounded by the same dice. */
uint64_t probe_sample_microseconds(uint64_t ns, uint64_t weight, uint64_t time_ns);

/* weight * by / of, rounded by the same dice. */
uint64_t probe_sample_scaled(uint64_t weight, uint64_t by, uint64_t of, uint64_t time_ns);

/* The class of the sample's object; "[unknown class]" if the snapshot does not have the class. */
struct frame probe_sample_class(struct symbolizer *symbolizer,
				const struct java_name_options *names, const struct record *record);

/*
 * How many of the frames, leaf first, are the probe's: those of the agent, of libjvm, and of its
 * stubs. If there are no others, the ones of libjvm stay.
 */
size_t probe_sample_own(const struct frame *frames, size_t n);

/*
 * Finds the frame that says what the sample is of, and how many of the frames stand for the probe
 * alone: *ret_own. False: the thread parks and waits for no lock, so there is no sample.
 */
bool probe_sample_leaf(struct symbolizer *symbolizer, const struct java_name_options *names,
		       const struct record *record, const struct frame *frames, size_t n,
		       struct frame *ret, size_t *ret_own);

#endif
