// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a capture's facts of code, in their order -> address and time -> the code range that the
 *          recording found
 * units:   addr in the captured process, CLOCK_MONOTONIC nanoseconds
 * threads: one at a time
 * errors:  -EINVAL: a damaged fact; -ENOMEM
 * source:  code/code_map.h
 *
 * A code map decides when a range ends as events come in. A replay has only the ranges that the
 * recording found, each with the times that were known when the range was found. So the ranges are
 * kept here, and answer the look-ups of the process's code map, which stays empty. Of several
 * ranges at an address, the code map's rule chooses.
 */
#ifndef FG_CAPTURE_REPLAY_CODE_H
#define FG_CAPTURE_REPLAY_CODE_H

#include "process/process.h"
#include "shared/wire.h"

#include <stdbool.h>
#include <stdint.h>

struct replay_code; /* opaque */

struct replay_code_fact {
	bool is_foreign; /* the range comes from the perf map that the process writes itself */
	uint64_t birth_ns, death_ns; /* death_ns 0: the range lives */
	struct wire_record record;   /* a METHOD_LOAD or a STUB; borrowed, must outlive the code */
};

/*
 * Makes the code of a process with a JVM. The code answers the look-ups of the process's code map
 * from now on.
 */
int replay_code_new(struct process *process, struct replay_code **ret);
/* Must be called before the process is freed. NULL is legal. */
void replay_code_free(struct replay_code *code);

/* Adds a range, or replaces what is known of the range. */
int replay_code_add(struct replay_code *code, const struct replay_code_fact *fact);
/* Adds a range to the perf map of the process. */
int replay_code_add_foreign(struct process *process, const struct replay_code_fact *fact);

#endif
