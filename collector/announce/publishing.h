// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what agents tell, and the model -> entries and lines of a publisher
 * units:   CLOCK_MONOTONIC nanoseconds, PIDs as the collector sees them
 * threads: the model's
 * errors:  negative errno, said on stderr; what is not published is counted by the publisher, and
 *          by JVM
 * source:  docs/publish.md
 *
 * Life cycle: publishing_open, then publishing_step after each engine_step, then publishing_close
 * before engine_close. The engine's listener is the publishing's meanwhile.
 *
 * A subscriber knows all code of a JVM from the first snapshot of the JVM on. Snapshots are made in
 * rounds of all JVMs: when a subscriber has come, PUBLISHING_ROUND_NS after the last round, or
 * PUBLISHING_HURRY_NS after it if the publisher has dropped code of some JVM. A turn adds at most
 * PUBLISHING_RANGES ranges of a snapshot, and PUBLISHING_ROWS rows of a summary.
 *
 * Without subscribers nothing is made.
 */
#ifndef FG_ANNOUNCE_PUBLISHING_H
#define FG_ANNOUNCE_PUBLISHING_H

#include "loop/engine.h"
#include "publish/publisher.h"

#define PUBLISHING_ROUND_NS UINT64_C(60000000000)
#define PUBLISHING_HURRY_NS UINT64_C(10000000000)
#define PUBLISHING_RANGES   256
#define PUBLISHING_ROWS	    64

#define PUBLISHING_START_NS UINT64_C(10000000000) /* between attempts to start libnng */

struct publishing; /* opaque */

/* All that is pointed to is borrowed until publishing_close. */
struct publishing_options {
	struct publisher_options publisher; /* without max_bytes */
	const char *agent_socket;	    /* see publish_places_prepare */
	const uint64_t *lost_samples;	    /* see struct publish_context */
};

/* Succeeds also if libnng cannot be started for want of threads or memory, which is counted. */
int publishing_open(struct engine *engine, const struct publishing_options *options,
		    struct publishing **ret);
void publishing_close(struct publishing *publishing); /* NULL is legal */

void publishing_step(struct publishing *publishing, uint64_t now_ns);
/* The longest time until the next publishing_step. */
uint64_t publishing_wait_ns(const struct publishing *publishing, uint64_t now_ns);
/* What wakes the loop for a request, of which the engine knows by a part; -1: nothing does now. */
int publishing_wake_fd(const struct publishing *publishing);
void publishing_set_max_bytes(struct publishing *publishing, size_t max_bytes);
void publishing_stats(struct publishing *publishing, struct publish_stats *ret);

#endif
