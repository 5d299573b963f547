// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   calls that may never return (base/guarded.h) -> run in time, left to themselves, or not
 *          run
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: the model's; calls run on helpers' threads (helpers.h)
 * errors:  enum guarded_end
 * source:  none
 *
 * A call that has not returned after GUARD_WAIT_NS is abandoned, with the helper that runs it. In
 * one turn of the caller's loop late calls are waited for as long in all: once they have been,
 * others are waited for GUARD_SHORT_NS each, and after GUARD_TURN_NS no call is made until the next
 * turn.
 *
 * Whose calls are late has to wait. No call is made for a process while a late one of it has not
 * returned. From the second late call on there is also a pause, which doubles with each further
 * one; a single one may be the fault of a busy host. An owner of processes (owner.h) has at most
 * GUARD_OWNER_LATE late calls that have not returned; and an owner with many late calls in a short
 * time has a pause of its own, whichever of its processes they were for. A container with all its
 * users has twice that. Of a process and of an owner, a late call that has returned within
 * GUARD_SOON_NS counts as an eighth of one, and one call less is counted each GUARD_FORGET_NS, of a
 * process as long as it has had no pause: on a busy host calls are late that nobody holds up, as
 * where a lock's holder waits for a processor. So an owner can hold up the caller for a small part
 * of the time, and has no share of the helpers that would be missing to others. Who answers late on
 * purpose gains nothing by a longer GUARD_SOON_NS: it is how often a call is late that costs.
 *
 * Calls that nobody waits for have helpers of their own, and each owner has a share of these.
 */
#ifndef FG_GUARD_GUARD_H
#define FG_GUARD_GUARD_H

#include "base/counters.h"
#include "base/guarded.h"
#include "guard/owner.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define GUARD_WAIT_NS	 UINT64_C(10000000)
#define GUARD_SHORT_NS	 UINT64_C(1000000)
#define GUARD_TURN_NS	 UINT64_C(15000000)
#define GUARD_MAX_LATE	 32 /* late calls that have not returned */
#define GUARD_OWNER_LATE 4
#define GUARD_PAUSE_NS	 UINT64_C(100000000) /* the first pause */
#define GUARD_DOUBLINGS	 9

/* After so many late calls an owner has pauses. */
#define GUARD_OWNER_CALLS 16
#define GUARD_FORGET_NS	  UINT64_C(4000000000)
#define GUARD_SOON_NS	  UINT64_C(1000000000)
#define GUARD_PARTS	  8u /* of a call */

#define GUARD_MAX_LEFT	    16	/* left calls that run */
#define GUARD_OWNER_WAITING 128 /* more that wait and open are not run */
#define GUARD_SETTLE_NS	    UINT64_C(2000000000)
#define GUARD_OWNER_LEFT    4 /* past as many that are not back, an owner's calls open no files */

struct guard; /* opaque */

struct guard_stats {
	size_t unanswered;     /* late calls that have not returned */
	uint64_t late_calls;   /* in all */
	uint64_t paused_calls; /* calls that were not made */
	size_t left_calls;     /* left calls that have not returned, or not begun */
};
extern const struct counters guard_counters;

/* owner finds the owner of a process. */
int guard_new(owner_fn owner, void *arg, struct guard **ret);
/*
 * Waits until all left calls have returned, GUARD_SETTLE_NS at most. To be called before the
 * process
 * ends: a thread that ends while it closes a uprobe event leaves the uprobe in the JVM, because the
 * kernel gives up at a signal that kills (uprobe_unregister, Linux 6.18).
 */
void guard_settle(struct guard *guard);
/* Left calls that have not begun are freed and do not run. NULL is legal. */
void guard_free(struct guard *guard);

/* A turn of the caller's loop begins. Without turns each call is waited for GUARD_WAIT_NS. */
void guard_begin_turn(struct guard *guard);

/*
 * Calls are waited for so many times as long from now on, and all else is counted as before: for a
 * test of calls that return, which is not to depend on when the machine runs their helper.
 */
void guard_be_patient(struct guard *guard, unsigned times);

/* For guarded_use; borrowed until guard_free. */
const struct guarded_runner *guard_runner(const struct guard *guard);
void guard_stats(struct guard *guard, struct guard_stats *ret);

#endif
