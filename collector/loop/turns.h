// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the turns of the loop -> how long they took, and which stage took longest
 * units:   nanoseconds
 * threads: the loop's
 * errors:  none
 * source:  none
 *
 * While a turn lasts, no ring buffer is read, no agent is heard and no request is answered. A turn
 * ends when the loop waits again.
 */
#ifndef FG_LOOP_TURNS_H
#define FG_LOOP_TURNS_H

#include "base/counters.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The stages of a turn. */
enum turn_stage {
	TURN_AGENTS, /* connections, and records of agents */
	TURN_RINGS,
	TURN_NAMING,  /* of held samples */
	TURN_UPKEEP,  /* perf maps, processes, mappings */
	TURN_CONTROL, /* requests */
	TURN_CALLER,  /* what the loop's caller does between two turns: graphs, metrics */
	TURN_STAGES,
};

#define TURN_BUCKETS 11

struct turns {
	uint64_t count, sum_ns;
	uint64_t
		within[TURN_BUCKETS]; /* turns that took at most turn_bucket_ns; of the last, all */
	uint64_t longest_ns;
	uint64_t longest_cpu_ns; /* processor time of a turn: without waits, and without others */
	uint64_t longest_stage_ns[TURN_STAGES];

	uint64_t began_ns, began_cpu_ns, stage_ns; /* of the turn; 0: none has begun */
};
extern const struct counters turns_counters;

/* The upper bound of a bucket. */
uint64_t turn_bucket_ns(size_t bucket);

void turns_begin(struct turns *turns);
/* A stage of the turn has ended. */
void turns_pass(struct turns *turns, enum turn_stage stage);
void turns_end(struct turns *turns);

#endif
