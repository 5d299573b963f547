// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   named samples of one recording, in the order of their times -> whatever keeps them
 * units:   CLOCK_MONOTONIC nanoseconds, samples
 * threads: the model's
 * errors:  negative errno
 * source:  none
 *
 * A recording has any number of sinks, and each gets all samples: a tree of all of them
 * (tree_sink.h), the last seconds (window_sink.h), a graph of each process for a stretch of time
 * (period_sink.h). A sink is the first member of a structure of its own, which whoever wants what it
 * has kept asks.
 *
 * Life cycle: begin, then take and advance, then free.
 */
#ifndef FG_LIVE_SINK_H
#define FG_LIVE_SINK_H

#include "live/named_sample.h"

#include <stdbool.h>
#include <stdint.h>

#define SINK_ENDLESS_NS UINT64_MAX

struct sink;

/* How far a recording is. */
struct sink_progress {
	uint64_t until_ns;  /* samples of before then have all been taken; 0: it is not known */
	uint64_t lost;	    /* samples that did not come, since the recording's start */
	uint64_t stackless; /* samples that came without the copy of their stack, likewise */
};

struct sink_ops {
	/*
	 * Samples of that kind will come, from start_ns on. -ENOTSUP: the sink has no place for
	 * what their values count.
	 */
	int (*begin)(struct sink *sink, const struct sample_kind *kind, uint64_t start_ns);
	/* Negative: there was no memory, and the sample counts as lost. */
	int (*take)(struct sink *sink, const struct named_sample *sample);
	void (*advance)(struct sink *sink, const struct sink_progress *progress);
	void (*free)(struct sink *sink);
};

struct sink {
	const struct sink_ops *ops;
	struct sink *next;
	/* Later samples wait until the sink has moved its end; SINK_ENDLESS_NS: it has none. */
	uint64_t end_ns;
};

/* The sink and those behind it; NULL is legal. */
void sink_free_all(struct sink *sink);

/* Whether all that samples of the kind count is themselves, each once. */
bool sample_kind_is_count(const struct sample_kind *kind);

#endif
