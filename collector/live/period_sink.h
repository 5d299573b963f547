// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the samples of a recording without end -> a chain of periods, one after the other
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: the model's
 * errors:  negative errno
 * source:  none
 *
 * A period is over when no sample of it can come any more; samples behind its end wait until its
 * owner has taken it and the next one has begun.
 */
#ifndef FG_LIVE_PERIOD_SINK_H
#define FG_LIVE_PERIOD_SINK_H

#include "live/period.h"
#include "live/sink.h"

struct period_sink {
	struct sink sink;
	uint64_t length_ns;
	struct period *period; /* the one that lasts; NULL before begin, and once it was given up */
	bool is_over;	       /* it waits to be taken */
};

int period_sink_new(uint64_t length_ns, struct period_sink **ret);

/* The period that lasts, for the caller to free; the next one begins at its end. */
int period_sink_turn(struct period_sink *periods, struct period **ret);
/* The same without a next one: what comes then is not kept. */
struct period *period_sink_give_up(struct period_sink *periods);
/* The period that lasts ends at that time, if it would not end before. */
void period_sink_end(struct period_sink *periods, uint64_t end_ns);

#endif
