// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a call that may never return -> the call is done in time, or is left to itself
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: one caller at a time; calls run on helpers' threads
 * errors:  HELPERS_LATE and HELPERS_NONE
 * source:  pthreads(7)
 *
 * A read of what others supply may wait for ever: a page that userfaultfd(2) has, a file system
 * that does not answer. No signal ends such a wait. So the read is made on a helper's thread, and
 * the caller waits for a while. A helper that is late is abandoned together with its call, and
 * another helper takes its place. A helper that only waits for a processor, on a busy host, is not
 * late: the caller waits for such a helper HELPERS_BUSY_WAITS times as long. When the late call
 * returns after all, the helper frees the call and may help again. At most max_late helpers are
 * abandoned at a time.
 *
 * A call costs two switches from one thread to another, some 10 us. A helper runs on the caller's
 * processor: on a busy host it would wait for milliseconds until another one is free.
 */
#ifndef FG_GUARD_HELPERS_H
#define FG_GUARD_HELPERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HELPERS_BUSY_WAITS 100

/* The first member of a larger structure. The functions are called on any thread. */
struct helpers_call {
	void (*run)(struct helpers_call *call);
	/* Frees a call that was late, after run. */
	void (*free)(struct helpers_call *call);
};

enum helpers_end {
	HELPERS_DONE, /* run has returned; the call is the caller's again */
	HELPERS_LATE, /* the call belongs to the helper now */
	HELPERS_NONE, /* run was not called: no helper; the call is the caller's */
};

struct helpers; /* opaque */

struct helpers_stats {
	size_t late; /* helpers that are abandoned now, or run calls that nobody waits for */
	uint64_t calls;
	uint64_t late_calls;	/* calls that were late, in all */
	uint64_t refused_calls; /* calls without a helper: too many were abandoned */
};

int helpers_new(size_t max_late, struct helpers **ret);
/*
 * Ends the helpers that wait for calls. One that is abandoned ends when its call returns; until
 * then its memory stays. NULL is legal.
 */
void helpers_free(struct helpers *helpers);

/* Has a helper run the call, and waits for its end for at most wait_ns. */
enum helpers_end helpers_run(struct helpers *helpers, struct helpers_call *call, uint64_t wait_ns);
/*
 * Has a helper run and free the call, and does not wait. False: no helper; the call is the
 * caller's.
 */
bool helpers_start(struct helpers *helpers, struct helpers_call *call);

void helpers_stats(const struct helpers *helpers, struct helpers_stats *ret);

#endif
