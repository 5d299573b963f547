// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the samples of a recording without end -> a chain of periods, one after the other
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: the model's
 * errors:  negative errno
 * source:  none
 *
 * A period is over when no more samples of it can come. Samples at or after its end wait in the
 * hold until the owner of the sink has taken the period and the next period has begun.
 *
 * For each kind there is a sink of the recording, and they share the period. The first of them is
 * the struct's first member, and the others hang behind it.
 */
#ifndef FG_SINKS_PERIOD_SINK_H
#define FG_SINKS_PERIOD_SINK_H

#include "sinks/period.h"
#include "sinks/sink.h"

struct period_sink {
	struct sink sink;
	struct sink *others[SAMPLE_KINDS - 1]; /* owned by themselves; NULL behind the last */
	unsigned kinds;
	uint64_t length_ns;
	size_t max_bytes; /* of a period; 0: PERIOD_MAX_BYTES; the owner may set another */
	/* the current period; NULL before begin and after period_sink_give_up */
	struct period *period;
	bool is_over; /* the current period waits to be taken */
};

/* kinds: SAMPLES_OF_CPU and so on. */
int period_sink_new(unsigned kinds, uint64_t length_ns, struct period_sink **ret);

/*
 * Gives the current period to the caller, who frees it. The next period begins at its end. On an
 * error the current period stays.
 */
int period_sink_turn(struct period_sink *periods, struct period **ret);
/*
 * Gives the current period to the caller without beginning another one: later samples are not kept.
 */
struct period *period_sink_give_up(struct period_sink *periods);
/* Sets the limit of periods, also of the current one, which ends if it has more. */
void period_sink_set_max_bytes(struct period_sink *periods, size_t bytes);
/* Moves the end of the current period to end_ns, if that is earlier. */
void period_sink_end(struct period_sink *periods, uint64_t end_ns);

#endif
