// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   an engine -> graphs of each period, metrics, and word to the service manager
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: the model's
 * errors:  negative errno, said on stderr where it arose
 * source:  none
 *
 * Life cycle: open, then step after each engine_step, close before engine_close. The daemon's own
 * sampler is one of the engine's recordings, beside those of clients: each has its rate, its event
 * and its rings, so that neither sees what the other asked for.
 */
#ifndef FG_SERVE_DAEMON_H
#define FG_SERVE_DAEMON_H

#include "live/engine.h"
#include "live/period_sink.h"
#include "live/daemon_stats.h"
#include "serve/service.h"
#include "serve/watch_options.h"

/* Borrowed until daemon_close. */
struct daemon_options {
	const struct watch_options *watch;
	const struct recording_options *recording; /* what is sampled if graphs are asked for */
};

struct daemon {
	struct daemon_options options;
	struct engine *engine;
	struct recording *recording; /* the engine's, or NULL */
	struct period_sink *periods; /* the recording's */
	struct graph_writer *writer;
	struct http_server *http;
	struct service service;
	struct daemon_stats stats;
	uint64_t next_publish_ns;
	uint64_t past_samples, past_left_out, past_processless; /* of periods that are over */
};

int daemon_open(struct daemon *daemon, struct engine *engine, const struct daemon_options *options);
/* Writes what there is of the current period, and waits for the disk for a few seconds. */
void daemon_close(struct daemon *daemon);

void daemon_step(struct daemon *daemon);
/* The longest that the engine may wait. */
uint64_t daemon_wait_ns(const struct daemon *daemon);

#endif
