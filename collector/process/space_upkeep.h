// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   processes whose mappings are to be read -> readings that take a part of each turn
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: the model's
 * errors:  those of memory/space_reader.h; the mappings then stay as they were
 * source:  none
 *
 * Most processes' mappings are read in less than a millisecond, and so at once. Those of a process
 * that has many take part of several turns, and so do those of many processes that have begun
 * together. Meanwhile the process is known without its mappings, and its samples are held.
 *
 * In a turn all processes together are read for SPACE_UPKEEP_MOST_NS at most. Readings that have
 * not ended go on every SPACE_UPKEEP_INTERVAL_NS, for SPACE_UPKEEP_ON_NS in all: one process after
 * the other has SPACE_UPKEEP_NS of it.
 *
 * A reading that has no answer in time (guard/guard.h) begins anew after PROCESS_LATE_NS, then
 * after twice that, and so on, PROCESS_LATE_READS times.
 *
 * Without turns, as in a program that lists JVMs and ends, processes are read at once.
 */
#ifndef FG_PROCESS_SPACE_UPKEEP_H
#define FG_PROCESS_SPACE_UPKEEP_H

#include "base/map64.h"
#include "process/process.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SPACE_UPKEEP_NS		 UINT64_C(1000000)
#define SPACE_UPKEEP_MOST_NS	 UINT64_C(5000000)
#define SPACE_UPKEEP_ON_NS	 UINT64_C(2000000)
#define SPACE_UPKEEP_INTERVAL_NS UINT64_C(10000000)

/* Zero-filled it is valid, without turns. */
struct space_upkeep {
	bool has_turns;
	uint64_t left_ns; /* of this turn */
	uint64_t next_ns; /* when readings go on; 0: all have ended */
	size_t pos;	  /* of the process that is next in the table of all */
};

/* A turn of the caller's loop begins. */
void space_upkeep_begin_turn(struct space_upkeep *upkeep);

/* How long a process may be read now, and what has been spent since began_ns. */
uint64_t space_upkeep_time(const struct space_upkeep *upkeep);
void space_upkeep_spend(struct space_upkeep *upkeep, const struct process *process,
			uint64_t began_ns);
/* Reads a process's mappings anew, as long as it may be read now. */
void space_upkeep_read(struct space_upkeep *upkeep, struct process *process);

/* The process is to be read anew, see process_read_space_soon. */
void space_upkeep_note(struct space_upkeep *upkeep, const struct process *process);

/* Goes on with readings that have not ended, if that is due. processes: PID -> struct process. */
void space_upkeep_step(struct space_upkeep *upkeep, const struct map64 *processes, uint64_t now_ns);

#endif
