// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   stretches of time that threads have run, and samples of the CPU -> weights of these
 *          samples
 * units:   CLOCK_MONOTONIC nanoseconds; time that ran is in microseconds
 * threads: the model's
 * errors:  without memory, or past the limit, time comes back as unsampled
 * source:  none
 *
 * The scheduler counts exactly how long a thread has run; samples of the CPU tell where. The
 * samples of a stretch have equal parts of its time. So a stretch is told before its samples are
 * taken, and samples are told when they are received, which is earlier. The time of a stretch
 * without samples goes to the thread's next sample. What no sample comes for in
 * RUNNING_TIME_WAIT_NS is unsampled: it is known that the thread ran, and not where.
 */
#ifndef FG_RECORDING_RUNNING_TIME_H
#define FG_RECORDING_RUNNING_TIME_H

#include "base/map64.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define RUNNING_TIME_WAIT_NS UINT64_C(10000000000)
#define RUNNING_TIME_THREADS 65536u
#define RUNNING_TIME_NOTED   64u /* samples of a thread that wait; more count as these */

/* A stretch, or what is left of stretches: us of the time from begin_ns to end_ns. */
struct running_stretch {
	uint64_t begin_ns, end_ns, us;
	pid_t pid, tid;
};

/* A zero-filled struct is valid and empty. */
struct running_time {
	struct map64 threads; /* TID -> struct running_thread */
	uint64_t swept_ns;    /* when old time was looked for last */
	size_t pos;	      /* so far has the search come */
};

void running_time_fini(struct running_time *running);

/* A sample of the CPU will be taken. Without memory its part of the time goes to others. */
void running_time_note_sample(struct running_time *running, pid_t pid, pid_t tid, uint64_t time_ns);
/* A thread has run. False: there is no room, and the time is unsampled now. */
bool running_time_add(struct running_time *running, const struct running_stretch *stretch);
/* The sample is taken: how much of the time is its own. */
uint64_t running_time_take(struct running_time *running, pid_t pid, pid_t tid, uint64_t time_ns);

/*
 * Takes some thread's time out that ended RUNNING_TIME_WAIT_NS ago, or with is_end any. False:
 * there is none. Looks at all threads, and so does it once a second at most, unless is_end.
 */
bool running_time_next_unsampled(struct running_time *running, uint64_t now_ns, bool is_end,
				 struct running_stretch *ret);
size_t running_time_bytes(const struct running_time *running);

#endif
