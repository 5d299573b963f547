// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   periods that are over -> windows in a store, written by a thread of its own
 * units:   bytes, counts
 * threads: any for all functions but store_keeper_close; the thread owns periods and store
 * errors:  said on stderr, once a period; counted by window
 * source:  none
 *
 * As for graphs (graph_writer.h), the model's thread never waits for the disk, and containers and
 * users share the room for windows that wait. Between two periods the thread merges hours and
 * removes what is too old or too much.
 */
#ifndef FG_SERVE_STORE_KEEPER_H
#define FG_SERVE_STORE_KEEPER_H

#include "base/counters.h"
#include "sinks/period_parts.h"
#include "sinks/period.h"
#include "store/store_stats.h"
#include "store/store_writer.h"

struct store_keeper_options {
	const char *dir; /* copied by store_keeper_open, like the texts of facts */
	struct store_limits limits;
	struct period_facts facts;
	size_t max_bytes; /* of windows that wait */
};

struct store_keeper; /* opaque */

struct store_keeper_stats {
	struct store_stats store;
	uint64_t dropped;	/* windows for which there was no room to wait */
	uint64_t waiting_bytes; /* memory of windows that wait */
};
extern const struct counters store_keeper_counters;

int store_keeper_open(const struct store_keeper_options *options, struct store_keeper **ret);
/* Takes ownership of the period. May drop windows of it, or of those that wait. */
void store_keeper_take(struct store_keeper *keeper, struct period *period);
/* Sets the limit of windows that wait; the next windows that are taken make room. */
void store_keeper_set_max_bytes(struct store_keeper *keeper, size_t bytes);
void store_keeper_stats(struct store_keeper *keeper, struct store_keeper_stats *ret);
/*
 * Writes the waiting periods, for at most patience_ns. If the disk then still holds up the thread,
 * the thread and the store are abandoned. NULL is legal.
 */
void store_keeper_close(struct store_keeper *keeper, uint64_t patience_ns);

#endif
