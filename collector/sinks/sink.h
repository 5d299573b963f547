// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the named samples of one recording, in the order of their times -> what keeps them
 * units:   CLOCK_MONOTONIC nanoseconds, samples
 * threads: the model's
 * errors:  negative errno
 * source:  none
 *
 * A recording has any number of sinks, and each sink gets all samples of its kind. There are four:
 * a tree of all samples (tree_sink.h), the samples of the last seconds (window_sink.h), a graph for
 * each process and period (period_sink.h), and counts for each process (count_sink.h). A struct
 * sink is the first member of a larger structure, in which the sink's owner finds what was kept. A
 * sink keeps samples of one kind.
 *
 * Life cycle: begin, then take and advance, then free.
 */
#ifndef FG_SINKS_SINK_H
#define FG_SINKS_SINK_H

#include "sinks/named_sample.h"

#include <stdbool.h>
#include <stdint.h>

#define SINK_ENDLESS_NS UINT64_MAX

struct sink;

/* How far a recording is. */
struct sink_progress {
	uint64_t until_ns;  /* all samples before until_ns have been taken; 0: not known */
	uint64_t lost;	    /* samples lost since the recording's start */
	uint64_t stackless; /* samples without a snapshot since the recording's start */
};

struct sink_ops {
	/* Samples of the sink's kind will follow, from start_ns on. */
	int (*begin)(struct sink *sink, uint64_t start_ns);
	/* Negative: no memory, and the recording counts the sample as lost. */
	int (*take)(struct sink *sink, const struct named_sample *sample);
	void (*advance)(struct sink *sink, const struct sink_progress *progress);
	void (*free)(struct sink *sink);
};

struct sink {
	const struct sink_ops *ops;
	struct sink *next;
	const struct sample_kind *kind; /* set before the sink begins */
	/*
	 * Samples at or after end_ns wait until the sink has moved end_ns. SINK_ENDLESS_NS: no end.
	 */
	uint64_t end_ns;
};

/* Frees the sink and all sinks behind it; NULL is legal. */
void sink_free_all(struct sink *sink);

/* Whether the sink keeps samples like this one. */
bool sink_wants(const struct sink *sink, const struct named_sample *sample);

#endif
