// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a process -> the memory that is kept for it; the process -> nothing, bit by bit
 * units:   bytes as malloc counts them (guard/heap_bytes.h), CLOCK_MONOTONIC nanoseconds
 * threads: the model's
 * errors:  none
 * source:  none
 *
 * Whatever a process can make the collector keep is counted here, at the size at which it was
 * allocated: tests/unit/process/test_process_bytes.c compares the sum with what malloc has given.
 *
 * A process may have millions of small allocations. To free them all at once would hold up the loop
 * for a tenth of a second, so a process that is forgotten lies in a graveyard until all is freed.
 */
#ifndef FG_PROCESS_PROCESS_BYTES_H
#define FG_PROCESS_PROCESS_BYTES_H

#include "process/process.h"

#include <stddef.h>
#include <stdint.h>

/* All memory of the process, and the part of it that is code, methods and names. */
size_t process_bytes(const struct process *process);
size_t process_code_bytes(const struct process *process);

struct process_sizes {
	uint64_t code_bytes; /* process_code_bytes */
};
extern const struct counters process_sizes_counters;

void process_sizes(const struct process *process, struct process_sizes *ret);

/* A zero-filled struct graveyard is valid and empty. */
struct graveyard {
	struct process *first; /* linked by next_removed */
	uint64_t bytes;	       /* of all of them, as of when they came */
};

/* Takes ownership of the process, which nobody else may use any more. */
void graveyard_take(struct graveyard *graveyard, struct process *process);
/*
 * Frees for about so long, at least a piece. Returns the bytes of the processes of which all is
 * freed.
 */
uint64_t graveyard_step(struct graveyard *graveyard, uint64_t for_ns);
/* Frees all. */
void graveyard_fini(struct graveyard *graveyard);

#endif
