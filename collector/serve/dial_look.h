// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   looks at an agent's thread -> whether the agent may still dial in a moment
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: one at a time
 * errors:  none
 * source:  proc(5) status; sender.c of the agent
 *
 * An agent that nobody hears dials once a second, and sleeps between two attempts. One that has
 * made a whole attempt since the first look, and has not come in DIAL_LOOKS looks after it, belongs
 * to another collector, or cannot reach this one. So does one that has been in one sleep for
 * DIAL_LOOK_STILL_NS: it is connected, or waits for longer than anybody waits for it. A thread that
 * is to wake is not asleep any more, however busy the host is. A zero-filled struct dial_look is
 * one before the first look.
 */
#ifndef FG_SERVE_DIAL_LOOK_H
#define FG_SERVE_DIAL_LOOK_H

#include "inspect/diagnose_process.h"

#define DIAL_LOOKS	   3 /* in which a connection that was made is taken and heard */
#define DIAL_LOOK_STILL_NS UINT64_C(1250000000) /* a second between two attempts, and some more */

struct dial_look {
	uint64_t dialled;  /* the number of sleeps at which a whole attempt was made; 0: no look */
	unsigned looks;	   /* since then */
	uint64_t sleeps;   /* as of the last look */
	uint64_t still_ns; /* since when the thread has been in that sleep; 0: it was not asleep */
};

/* Returns whether the agent is not to be waited for any more. */
bool dial_look_step(struct dial_look *look, const struct diagnose_dialler *now, uint64_t now_ns);

#endif
