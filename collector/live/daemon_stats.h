// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the counters of a daemon, beside the counters of its engine
 * units:   counts since the daemon's start, unless said otherwise; bytes
 * threads: a value; each part of the daemon fills its own member
 * errors:  none
 * source:  none
 *
 * The counters are declared here, below the parts of the daemon that count, so that code which
 * shows the engine's counters can show the daemon's with them. All counters are 0 where no daemon
 * runs.
 */
#ifndef FG_LIVE_DAEMON_STATS_H
#define FG_LIVE_DAEMON_STATS_H

#include "publish/publish_stats.h"
#include "push/push_stats.h"
#include "store/store_stats.h"

#include <stdbool.h>
#include <stdint.h>

struct graph_writer_stats {
	uint64_t written, failed, dropped; /* graphs */
	uint64_t removed;		   /* files removed because of the limits */
	uint64_t files, file_bytes;	   /* now in the directory */
	uint64_t waiting_bytes;		   /* memory of graphs that wait */
	uint64_t list_bytes;		   /* memory of the list of files */
};

struct store_keeper_stats {
	struct store_stats store;
	uint64_t dropped;	/* windows for which there was no room to wait */
	uint64_t waiting_bytes; /* memory of windows that wait */
};

/* Requests for what the store has. */
struct web_stats {
	uint64_t queries;		   /* that came, with those of the next three */
	uint64_t refused;		   /* for which there was no place, or that lost it */
	uint64_t cancelled;		   /* that nobody waited for any more */
	uint64_t failed;		   /* that could not be answered */
	uint64_t time_ns;		   /* that answering took */
	uint64_t waiting, begun;	   /* now */
	uint64_t answer_bytes, work_bytes; /* now: of answers, and for those that are made */
};

struct http_stats {
	uint64_t scrapes;     /* answers with metrics */
	uint64_t refused;     /* requests with another method or path, or with two Host headers */
	uint64_t misdirected; /* requests for another host */
	uint64_t evicted;     /* connections ended because others needed their place */
	uint64_t expired;     /* connections ended because they lasted too long */
	uint64_t unfinished;  /* connections that ended without a whole request */
	uint64_t connections, open;
	uint64_t denied;  /* requests of those who may not look, or from other sites */
	uint64_t crowded; /* connections ended because their answers had the room of others */
	struct web_stats web;
};

struct daemon_stats {
	bool is_sampling;
	unsigned hz;
	/* heard is the sum of samples, left_out, processless, and the three below. */
	uint64_t samples, lost_samples, left_out, processless, stackless_samples;
	uint64_t heard, unwanted, waiting, unkept;
	uint64_t tool_graphs, tool_samples; /* of samples: those of tools that pass, not kept */
	uint64_t periods, periods_cut_short;
	uint64_t graphs, graph_bytes;			       /* of the current period, now */
	uint64_t windows, windows_cut_short, windows_left_out; /* of the store; periods, samples */
	uint64_t window_bytes;				       /* of the current window, now */
	struct graph_writer_stats writer;
	struct store_keeper_stats keeper;
	uint64_t pushes, pushes_cut_short, pushes_left_out; /* as for windows */
	uint64_t push_bytes;				    /* of the current period, now */
	struct push_stats push;
	struct publish_stats publish;
	struct http_stats http;
};

#endif
