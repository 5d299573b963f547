// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   counters of the scheduler at two readings of a thread -> the time between, by state
 * units:   nanoseconds
 * threads: one at a time; no system calls
 * errors:  none
 * source:  Documentation/scheduler/sched-stats.rst; thread_reading.h
 *
 * The parts always sum up to the time that has passed. The counters lag: what they say too late is
 * taken from later time, and what was given ahead of them is not given again.
 */
#ifndef FG_WALL_THREAD_ACCOUNT_H
#define FG_WALL_THREAD_ACCOUNT_H

#include "wall/thread_reading.h"

#define THREAD_ACCOUNT_STATES 3 /* of enum thread_state */

/* What the last reading had. A zero-filled struct is a thread that has just begun, at time 0. */
struct thread_account {
	uint64_t time_ns, run_ns, delay_ns, switches, voluntary;
	enum thread_state state;
	/* What the counters have said, or will say, of time that was given away already. */
	int64_t run_owed_ns, delay_owed_ns;
};

/*
 * is_new: the thread has begun since the caller began to look, and all that it did is to be told.
 */
void thread_account_begin(struct thread_account *account, const struct thread_reading *reading,
			  bool is_new);

/* The time since the last reading, by enum thread_state. */
void thread_account_divide(struct thread_account *account, const struct thread_reading *reading,
			   uint64_t ret_ns[THREAD_ACCOUNT_STATES]);

#endif
