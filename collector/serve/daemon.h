// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   an engine -> graphs of each period, a store, pushed profiles, published events, metrics,
 *          and notifications of the service manager
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: the model's
 * errors:  negative errno, already said on stderr
 * source:  none
 *
 * Life cycle: daemon_open, then daemon_step after each engine_step, then daemon_close before
 * engine_close. The daemon's own sampling is one of the engine's recordings, beside the recordings
 * of clients. Each recording has its own rate, event and ring buffers, so that none sees the
 * settings of another.
 */
#ifndef FG_SERVE_DAEMON_H
#define FG_SERVE_DAEMON_H

#include "loop/engine.h"
#include "sinks/period_sink.h"
#include "serve/daemon_counts.h"
#include "serve/service.h"
#include "serve/watch_options.h"

/* All pointers are borrowed until daemon_close. */
struct daemon_options {
	const struct watch_options *watch;
	/* options of the daemon's own recording, if graphs are asked for */
	const struct recording_options *recording;
	const char *socket_path; /* of agents */
};

/* Periods of the daemon's recording, and what past ones had. */
struct daemon_feed {
	struct period_sink *periods; /* owned by the recording; NULL: there is no such feed */
	uint64_t past_samples, past_left_out, past_processless;
};

struct daemon {
	struct daemon_options options;
	struct engine *engine;
	struct recording *recording; /* owned by the engine, or NULL */
	struct daemon_feed graphs;   /* periods of --output */
	struct daemon_feed windows;  /* those of --store */
	struct daemon_feed pushes;   /* and those of --push */
	struct graph_writer *writer; /* NULL: there is none, as for keeper and pusher */
	struct store_keeper *keeper;
	struct pusher *pusher;
	struct publishing *publishing; /* or NULL */
	struct http_server *http;
	struct publication *publication; /* of metrics, or NULL */
	struct service service;
	struct daemon_counts counts;
	uint64_t next_publish_ns;
};

int daemon_open(struct daemon *daemon, struct engine *engine, const struct daemon_options *options);
/* Writes the graphs of the current period, and waits for the disk for at most some seconds. */
void daemon_close(struct daemon *daemon);

void daemon_step(struct daemon *daemon);
/* The longest time that engine_step may wait. */
uint64_t daemon_wait_ns(const struct daemon *daemon);

#endif
