// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the JVMs of the model -> their summaries and snapshots, some in each turn
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: the model's
 * errors:  -ENOMEM; what is not published is counted by the publisher
 * source:  docs/publish.md
 *
 * A round is a list of the JVMs that there were at its begin. JVMs that are gone are passed over.
 */
#ifndef FG_ANNOUNCE_PUBLISH_ROUNDS_H
#define FG_ANNOUNCE_PUBLISH_ROUNDS_H

#include "process/targets.h"
#include "publish/publisher.h"

/* What is published, and was, of a JVM. */
struct published_jvm {
	pid_t pid;
	uint64_t start_ticks;
	int told;	    /* enum jvm_state that subscribers know; -1: none */
	uint64_t second_ns; /* when the second of told_in_second began */
	uint32_t told_in_second;
	uint64_t named_version; /* of the names that subscribers know, see workload.h */
	uint64_t unpublished;	/* events of its code that the publisher did not take */
	uint32_t snapshots;
};

/* A zero-filled struct is at its end. */
struct publish_round {
	pid_t *pids; /* owned */
	size_t count, next;
	/* of the snapshot that is under way */
	const struct code_map *code; /* of the process pids[next]; NULL: none is under way */
	uint64_t start_ticks;
	size_t pos;
	uint32_t epoch;
	bool is_broken;	 /* something of it was not published */
	bool has_broken; /* a snapshot of the round was */
};

int publish_round_begin(struct publish_round *round, const struct targets *targets);
void publish_round_fini(struct publish_round *round);

static inline bool publish_round_is_over(const struct publish_round *round)
{
	return round->next >= round->count;
}

/* The published_jvm of a process, or NULL. */
typedef struct published_jvm *(*published_fn)(void *arg, const struct process *process);

struct publish_context {
	struct publisher *publisher;
	const struct targets *targets;
	published_fn published;
	void *arg;
	uint64_t now_ns;
	/* Samples of all processes that were lost; NULL: the daemon takes none. */
	const uint64_t *lost_samples;
};

/* Adds the summaries of at most so many JVMs; a message without any if there is no JVM. */
void publish_round_summarize(struct publish_round *round, const struct publish_context *context,
			     size_t most);
/* Goes on with snapshots: at most so many ranges, of one JVM. */
void publish_round_snapshot(struct publish_round *round, const struct publish_context *context,
			    size_t most);

#endif
