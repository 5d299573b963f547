// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what the loop heard of at once, and how long that took -> until when it may wait for
 *          more
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: a value
 * errors:  none
 * source:  none
 *
 * What happens to processes wakes the loop, and so does each sample while that is urgent. Neither
 * must take more than a fifth of the time: after it, the next one is not waited for until four
 * times as long has passed as it took. Who heard of nothing does not rest.
 */
#ifndef FG_APP_RESTS_H
#define FG_APP_RESTS_H

#include <stdbool.h>
#include <stdint.h>

#define RESTS_SIDE_MAX_NS   UINT64_C(50000000)
#define RESTS_SAMPLE_MAX_NS UINT64_C(10000000)

/* A zero-filled one rests from nothing. */
struct rests {
	uint64_t side_until_ns;	  /* what happens to processes is not waited for before this */
	uint64_t sample_until_ns; /* nor are samples before this */
	uint64_t taken;		  /* rests from processes that were longer than the least */
};

void rests_from_side(struct rests *rests, uint64_t now_ns, uint64_t took_ns, bool has_heard);
void rests_from_samples(struct rests *rests, uint64_t now_ns, uint64_t took_ns, bool has_heard);

/* The shortest wait of who does not wait for anything to wake it, where a turn takes took_ns. */
uint64_t rests_interval_ns(uint64_t took_ns);

#endif
