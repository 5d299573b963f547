// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the thread and the time of samples of perf script -> the timeline of a recording
 * units:   nanoseconds of perf's clock, of which the first is the recording's start
 * threads: one at a time
 * errors:  none; what the timeline has no room for is counted there
 * source:  perf-script(1)
 *
 * perf prints the thread's ID alone unless -F has pid: such threads are of a process 0, which
 * stands for all. Samples without a time, and those of an earlier time than the first one, are at
 * the start. A process is called as its first thread is.
 */
#ifndef FG_IMPORT_PERF_THREADS_H
#define FG_IMPORT_PERF_THREADS_H

#include "import/import_target.h"
#include "import/perf_header.h"

#include <stdbool.h>
#include <stdint.h>

struct perf_threads {
	struct import_recording *recording; /* NULL: threads and times are not wanted */
	uint64_t first_ns, last_ns;
	bool has_times;
	uint32_t thread; /* of the sample that is read */
	uint64_t at_ns;	 /* of that sample */
};

/* Begins with a sample, whose header is borrowed for the call. */
void perf_threads_begin(struct perf_threads *threads, const struct perf_header *header);
/* Ends with that sample, in a node of the target's profile. */
void perf_threads_add(struct perf_threads *threads, uint32_t node, uint64_t weight);
/* Sorts the timeline and sets the recording's facts. event is kept in the profile's texts. */
int perf_threads_finish(struct perf_threads *threads, struct profile *owner, const char *event);

#endif
