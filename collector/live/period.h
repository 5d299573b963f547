// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   samples of a stretch of time -> a profile and a timeline for each process
 * units:   CLOCK_MONOTONIC nanoseconds, bytes
 * threads: one at a time: the model's while it grows, then the writer's, which takes it over
 * errors:  -ENOMEM; what has no room is counted
 * source:  none
 *
 * What a daemon samples for weeks is cut into periods. A period ends by the clock, by SIGHUP, or
 * when its graphs take PERIOD_MAX_BYTES: then the next begins, so that nothing is left out and
 * memory has a limit. A process is (PID, start time), as everywhere: a PID that is used again has
 * another graph.
 */
#ifndef FG_LIVE_PERIOD_H
#define FG_LIVE_PERIOD_H

#include "base/map64.h"
#include "profile/profile.h"
#include "profile/profile_info.h"
#include "profile/timeline.h"
#include "process/targets.h"

#define PERIOD_MAX_BYTES (UINT64_C(256) << 20)
/* One process's share: a quarter of it by nodes, and timelines that are coarse. */
#define PERIOD_GRAPH_NODES   500000u
#define PERIOD_GRAPH_ENTRIES 500000u
/*
 * No period is shorter, whatever its graphs take: past the limit samples are left out until then.
 */
#define PERIOD_LEAST_NS UINT64_C(5000000000)

struct period_graph {
	pid_t pid;
	uint64_t start_ticks;
	char container[CONTAINER_ID_BYTES]; /* "" if in none */
	char comm[PROCESS_COMM_BYTES];
	struct profile profile;
	struct timeline timeline; /* of this process alone */
	struct period_graph *next;
};

struct period {
	uint64_t start_ns, end_ns; /* end_ns: no sample lies behind it */
	uint64_t start_unix_ns;
	struct map64 by_pid; /* PID -> the graph that it has now */
	struct period_graph *graphs;
	size_t count;
	size_t bytes;
	uint64_t samples;
	uint64_t left_out;    /* samples for which there was no room */
	uint64_t processless; /* samples of processes that ended before they could be read */
	bool is_cut_short;    /* by its size */
};

int period_new(uint64_t start_ns, uint64_t length_ns, struct period **ret);
void period_free(struct period *period); /* NULL is legal */

/* The process's graph, made on first sight; NULL, and counted, without room. */
struct period_graph *period_graph_of(struct period *period, const struct process *process);
/* A sample at at_ns is in graph; before_bytes is what period_graph_bytes said before that. */
void period_note_sample(struct period *period, const struct period_graph *graph,
			size_t before_bytes, uint64_t at_ns);
size_t period_graph_bytes(const struct period_graph *graph);

/*
 * Into *ret those graphs of processes that targets know no more, which no sample can come for; as
 * a period of its own, or NULL if there are none.
 */
int period_steal_ended(struct period *period, const struct targets *targets, struct period **ret);

/* What a person calls the graph's process; borrowed. */
const char *period_graph_title(const struct period_graph *graph);

#endif
