// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   all processes and recordings -> how much is kept of them
 * units:   counts, bytes
 * threads: the model's
 * errors:  none
 * source:  none
 */
#ifndef FG_LOOP_KEPT_STATS_H
#define FG_LOOP_KEPT_STATS_H

#include "base/counters.h"

#include <stdint.h>

/* The largest parts of what is kept for all processes together. */
struct kept_stats {
	/* Each beside the most that there can be. */
	uint64_t max_processes, max_jvms, max_recordings;
	uint64_t processes, jvms, sessions, code_bytes, mappings, threads, thread_names,
		interpreted_methods, threads_forgotten;
	uint64_t held_bytes, held_dropped; /* held_dropped: since the engine's start */
	uint64_t name_bytes;		   /* names of frames */
	uint64_t names_forgotten;	   /* how often all names of frames were forgotten */
	uint64_t refused_clients;	   /* clients of the control socket beyond its limit */
	uint64_t recordings;
};
extern const struct counters kept_counters;

struct recording;
struct targets;

/* Counts processes, and the recordings of a list. The other members are 0. */
void kept_stats_count(const struct targets *targets, const struct recording *recordings,
		      struct kept_stats *ret);

#endif
