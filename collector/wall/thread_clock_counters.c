// SPDX-License-Identifier: Apache-2.0
/* What the clock of threads counts, see thread_clock.h. */
#include "wall/thread_clock.h"

static const struct counter counters[] = {
	COUNTER_SUM(struct thread_clock_stats, ticks, "recordings.threads.ticks",
		    "thread_ticks_total", "Times that all threads were read for wall-clock time."),
	COUNTER_SUM(struct thread_clock_stats, late_ticks, "recordings.threads.late_ticks",
		    "thread_ticks_late_total",
		    "Of these, those that stood still in a process whose memory does not answer."),
	COUNTER_SUM(struct thread_clock_stats, failed_ticks, "recordings.threads.failed_ticks",
		    "thread_ticks_failed_total", "Times that threads could not be read."),
	COUNTER_SUM(struct thread_clock_stats, dropped_us, "recordings.threads.time_dropped_us",
		    "thread_time_dropped_seconds_total",
		    "Time of threads whose samples had no room.", .unit = COUNTER_US),
	COUNTER_SUM(
		struct thread_clock_stats, stackless_pids, "recordings.threads.stackless_processes",
		"thread_stackless_processes_total",
		"Processes that were read without stacks, because their memory did not answer."),
};

const struct counters thread_clock_counters = COUNTERS(struct thread_clock_stats, counters);
