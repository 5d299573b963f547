// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   samples of a stretch of time -> a profile and a timeline for each process
 * units:   CLOCK_MONOTONIC nanoseconds, bytes
 * threads: one at a time: the model's thread while the period grows, then the graph writer's
 *          thread, which owns it
 * errors:  -ENOMEM; samples without room are counted
 * source:  none
 *
 * A daemon cuts sampling without end into periods. A period ends by the clock, by SIGHUP, or when
 * somebody's graphs take their share of max_bytes. The next period then begins, so that no
 * sample is left out and memory has a limit. A process is identified by PID and start time: a PID
 * that is used again has another graph.
 *
 * Shares: a container, or a user of the host, may have as much as is free. So one of them has at
 * most a half of max_bytes, two have a third each, and there is always room for others.
 */
#ifndef FG_SINKS_PERIOD_H
#define FG_SINKS_PERIOD_H

#include "base/map64.h"
#include "process/targets.h"
#include "profile/profile.h"
#include "profile/profile_info.h"
#include "profile/timeline.h"
#include "sinks/named_sample.h"

#define PERIOD_MAX_BYTES (UINT64_C(256) << 20)
/*
 * The limits of one process's graph: by nodes a quarter of PERIOD_MAX_BYTES, and a coarse timeline.
 */
#define PERIOD_GRAPH_NODES   500000u
#define PERIOD_GRAPH_ENTRIES 500000u
/*
 * The shortest period. If somebody's share is used up earlier, their samples are left out until the
 * end of the period.
 */
#define PERIOD_LEAST_NS UINT64_C(5000000000)

#define PERIOD_PAYER_BYTES CONTAINER_ID_BYTES

/* The samples of one kind. */
struct period_part {
	const struct sample_kind *kind;
	struct profile profile;
	struct timeline timeline;
};

struct period_graph {
	pid_t pid;
	uint64_t start_ticks;
	char container[CONTAINER_ID_BYTES]; /* "": in no container */
	char comm[PROCESS_COMM_BYTES];
	char pod_uid[POD_UID_BYTES];		/* "": in no pod */
	struct label_set labels;		/* those that were known at the first sample */
	struct period_part parts[SAMPLE_KINDS]; /* those of the period */
	size_t n_parts;
	char payer[PERIOD_PAYER_BYTES]; /* the container's ID, "user-<UID>" or "nobody" */
	uint64_t group;			/* owner_group of the process */
	uint64_t samples;
	bool is_passing; /* the process is a tool that passes, as of the last sample */
	struct period_graph *next;
};

/* What the graphs of one container, or of one user of the host, take. */
struct period_share {
	size_t bytes;
};

struct period {
	unsigned kinds;
	uint64_t start_ns, end_ns; /* end_ns: samples at or after it belong to the next period */
	uint64_t start_unix_ns;
	struct map64 by_pid; /* PID -> the newest graph of that PID */
	struct map64 shares; /* group -> struct period_share */
	struct period_graph *graphs;
	size_t count;
	size_t bytes;
	size_t max_bytes; /* PERIOD_MAX_BYTES unless the owner sets another */
	uint64_t samples;
	uint64_t left_out;    /* samples for which there was no room */
	uint64_t processless; /* samples of processes that ended before they could be read */
	bool is_cut_short;    /* ended because a share was used up */
};

/* kinds: SAMPLES_OF_CPU and so on. */
int period_new(unsigned kinds, uint64_t start_ns, uint64_t length_ns, struct period **ret);
void period_free(struct period *period); /* NULL is legal */

/*
 * The process's graph, which is made if there is none. NULL: no room, and the sample is counted in
 * left_out.
 */
struct period_graph *period_graph_of(struct period *period, const struct process *process);
/*
 * Counts a sample at at_ns that has been added to graph, and the growth of graph. before_bytes is
 * period_graph_bytes from before the sample was added.
 */
void period_note_sample(struct period *period, struct period_graph *graph, size_t before_bytes,
			uint64_t at_ns);
struct period_part *period_graph_part(struct period_graph *graph, const struct sample_kind *kind);
size_t period_graph_bytes(const struct period_graph *graph);
/* Frees the graph to which link leads, in a period that no longer grows. */
void period_drop_graph(struct period *period, struct period_graph **link);

/* Graphs of tools that pass, and the samples in them. */
struct period_passing {
	uint64_t graphs, samples;
};

/* Frees these graphs, in a period that no longer grows, and adds them to sum. */
void period_drop_passing(struct period *period, struct period_passing *sum);

/*
 * Moves the graphs of processes that targets no longer knows into *ret, a period of its own, which
 * the caller owns; no sample can come for them. *ret is NULL if there are none.
 */
int period_steal_ended(struct period *period, const struct targets *targets, struct period **ret);

/* The names of the graph's process, as of its last sample; borrowed. NULL: none are known. */
const struct timeline_process *period_graph_process(const struct period_graph *graph);
/* The main class or jar of the graph's process, or its comm; borrowed. */
const char *period_graph_title(const struct period_graph *graph);

#endif
