// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a collector that has just begun -> whether agents that are wanted have still to dial
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: the model's
 * errors:  none; a search that cannot be made finds nobody
 * source:  young_processes.h
 *
 * A collector without a daemon knows no JVM when it begins. Agents dial within a second, later on a
 * busy host. So processes of the host are searched for agents that are wanted and have not
 * connected, again and again while others of the collector's work goes on. An agent that has made
 * an attempt and has not come is not waited for, nor one that makes none, see dial_look.h. Once a
 * search finds none, there is nothing to wait for. A zero-filled struct dial_wait is none.
 */
#ifndef FG_SERVE_DIAL_WAIT_H
#define FG_SERVE_DIAL_WAIT_H

#include "serve/young_processes.h"

#define DIAL_WAIT_TURN_NS  UINT64_C(10000000)
#define DIAL_WAIT_AGAIN_NS UINT64_C(100000000) /* between two searches */

struct dial_wait {
	struct engine *engine;
	const struct recording_options *options; /* borrowed */
	struct young_processes search;
	bool is_searching, has_searched;
	size_t found; /* by the last search */
	uint64_t next_ns;
	struct map64 dials; /* of young_processes.c: PID -> struct dial_look, owned */
};

void dial_wait_begin(struct dial_wait *wait, struct engine *engine,
		     const struct recording_options *options);
void dial_wait_end(struct dial_wait *wait);

/* How long to sleep at most before the next step: a search under way is not held up. */
uint64_t dial_wait_pause_ns(const struct dial_wait *wait, uint64_t most_ns);

/* Searches on for DIAL_WAIT_TURN_NS. Returns whether there is nobody to wait for. */
bool dial_wait_step(struct dial_wait *wait, uint64_t now_ns);

#endif
