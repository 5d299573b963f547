// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   chosen waits of one thread, and a stretch of its blocked time -> samples of that time
 * units:   CLOCK_MONOTONIC nanoseconds; weights of samples are microseconds
 * threads: one at a time; no system calls
 * errors:  without memory a wait is not added
 * source:  wait_source.h, thread_times.h
 *
 * A stretch has so much blocked time, exactly; the waits that ended in it claim their weights of
 * it. A wait that began before the stretch claims the part of its weight that lies in the stretch:
 * time before was given already, to the stack of a wait that went on. What nobody claims is of the
 * wait that goes on at the stretch's end.
 *
 * Weights are whole quanta, which come a bit early or late. So if more is claimed than there is,
 * the claims are cut in proportion, and are made good later; and a rest of less than a quantum is
 * the claims', who get so much less later.
 */
#ifndef FG_WALL_WAIT_CLAIMS_H
#define FG_WALL_WAIT_CLAIMS_H

#include "wall/wait_reading.h"

struct claim; /* opaque */

/* A zero-filled struct is valid and empty. */
struct wait_claims {
	struct claim *first, *last; /* owned, in the order in which they were added */
	size_t bytes;
	struct claim *early; /* owned: the stack of the waker of a wait that is not there yet */
	uint64_t wakers_left_out; /* stacks of wakers whose wait never came, or was gone */
	int64_t short_ns;	  /* that claims got too little so far; negative: too much */
	uint64_t begin_ns;	  /* of the last stretch */
	uint32_t last_number;	  /* of a waker's stack */
};

typedef void (*wait_claims_fn)(void *arg, const struct record *record);

struct wait_stretch {
	uint64_t begin_ns, end_ns, us; /* us of it were blocked */
	uint64_t quantum_ns;
	pid_t pid, tid;
	const char *comm; /* of a wait that does not tell the thread's name */
};

/*
 * Takes a copy of a wait, or of the stack of a waker. False: there is no memory, or the copy would
 * be larger than most_bytes.
 */
bool wait_claims_add(struct wait_claims *claims, const struct wait_reading *wait,
		     size_t most_bytes);
void wait_claims_fini(struct wait_claims *claims); /* the struct has counts alone then */

/*
 * Calls emit for each wait that has ended by the stretch's end and gets a microsecond or more; the
 * waits are gone then. In front of a wait whose waker's stack is known comes the record of that
 * stack. Returns how many of the stretch's microseconds are left.
 */
uint64_t wait_claims_share(struct wait_claims *claims, const struct wait_stretch *stretch,
			   wait_claims_fn emit, void *arg);

#endif
