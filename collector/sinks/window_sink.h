// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the samples of a recording -> the samples of its last seconds
 * units:   those of window.h
 * threads: the model's
 * errors:  negative errno
 * source:  none
 *
 * For a recording without end, whose memory must have a limit.
 */
#ifndef FG_SINKS_WINDOW_SINK_H
#define FG_SINKS_WINDOW_SINK_H

#include "sinks/sink.h"
#include "sinks/tree_share.h"
#include "profile/window.h"

struct window_sink {
	struct sink sink;
	unsigned seconds;
	size_t max_bytes; /* of the window; 0: see window.h; set by the owner before it begins */
	struct window window;
	struct tree_share share; /* of the tree that grows, */
	uint64_t shared_first;	 /* which begins with this second */
};

int window_sink_new(const struct sample_kind *kind, unsigned seconds, struct window_sink **ret);

#endif
