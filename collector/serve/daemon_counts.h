// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what the parts of a daemon count, as of the daemon's last step -> one struct
 * units:   counts since the daemon's start, unless said otherwise; bytes
 * threads: a value
 * errors:  none
 * source:  none
 */
#ifndef FG_SERVE_DAEMON_COUNTS_H
#define FG_SERVE_DAEMON_COUNTS_H

#include "loop/memory_stats.h"
#include "publish/publish_stats.h"
#include "push/push_stats.h"
#include "serve/graph_writer.h"
#include "serve/store_keeper.h"
#include "web/http_server.h"

/* The daemon's own recording, and the periods of its graphs. */
struct watch_counts {
	bool is_sampling;
	unsigned hz;
	/* heard is the sum of samples, left_out, processless, and the three below. */
	uint64_t samples, lost_samples, left_out, processless, stackless_samples;
	uint64_t heard, unwanted, waiting, unkept;
	uint64_t tool_graphs, tool_samples; /* of samples: those of tools that pass, not kept */
	uint64_t periods, periods_cut_short;
	uint64_t graphs, graph_bytes; /* of the current period, now */
};
extern const struct counters watch_counters;

/* The periods of the store, or of pushes. */
struct feed_counts {
	uint64_t periods, cut_short;
	uint64_t left_out; /* samples */
	uint64_t bytes;	   /* of the current period, now */
};
extern const struct counters window_counters, pushed_counters;

struct daemon_counts {
	struct watch_counts watch;
	struct feed_counts windows, pushes;
	struct graph_writer_stats writer;
	struct store_keeper_stats keeper;
	struct push_stats push;
	struct publish_stats publish;
	struct http_stats http;
};

/* Adds what the daemon keeps in memory, as last counted (loop/part.h). arg: its daemon_counts. */
void daemon_counts_hold(const void *arg, struct memory_stats *ret);

#endif
