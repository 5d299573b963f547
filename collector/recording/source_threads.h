// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the clock of threads -> a source of a recording
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: the model's
 * errors:  those of thread_clock.h
 * source:  none
 */
#ifndef FG_RECORDING_SOURCE_THREADS_H
#define FG_RECORDING_SOURCE_THREADS_H

#include "recording/running_time.h"
#include "recording/source.h"
#include "recording/waker_stack.h"
#include "wall/thread_clock.h"

extern const struct sample_source_ops source_threads_ops;

struct source_threads {
	struct sample_source source;
	struct thread_clock *clock;
	unsigned hz;
	struct running_time running;
	struct waker_stack waker; /* of the next wait that has one */
	bool is_read;		  /* all samples of the clock are in the hold */
};

#endif
