// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a sample whose frames have names -> where its recording keeps it
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: the model's
 * errors:  none; what has no room is counted where it would be
 * source:  none
 *
 * A recording keeps it in one of three places: in its window, if it has one, because a recording
 * without end must not grow without end; in its process's part of a period; or in the one profile
 * and timeline of all.
 */
#ifndef FG_APP_NAMED_SAMPLE_H
#define FG_APP_NAMED_SAMPLE_H

#include "app/recording.h"

struct named_sample {
	struct process *process; /* NULL: gone */
	const struct perf_record *record;
	const struct stack *stack;
	const struct symbolizer_verdict *verdict;
	const struct frame *frames; /* leaf first */
	size_t n_frames;
};

void named_sample_keep(const struct named_sample *sample, struct recording *recording);

#endif
