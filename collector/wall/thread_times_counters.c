// SPDX-License-Identifier: Apache-2.0
/* What the times of threads count, see thread_times.h. */
#include "wall/thread_times.h"

static const struct counter counters[] = {
	COUNTER_SUM(struct thread_times_stats, lost, "recordings.threads.readings_lost",
		    "thread_readings_lost_total",
		    "Readings of threads for which there was no room."),
	COUNTER_SUM(struct thread_times_stats, dropped_stacks, "recordings.threads.stacks_dropped",
		    "thread_stacks_dropped_total",
		    "Stacks of threads that wait, dropped for lack of room and read again."),
	COUNTER_SUM(struct thread_times_stats, threads_left_out, "recordings.threads.left_out",
		    "threads_left_out_total",
		    "Readings of threads past the most that have their time counted."),
	COUNTER_SUM(struct thread_times_stats, waits_left_out, "recordings.threads.waits_left_out",
		    "thread_waits_left_out_total",
		    "Chosen waits of threads that were not known, or past the limit of memory."),
};

const struct counters thread_times_counters = COUNTERS(struct thread_times_stats, counters);
