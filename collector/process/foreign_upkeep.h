// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   all processes -> the perf maps that their runtimes write, read as the files grow
 * units:   CLOCK_MONOTONIC nanoseconds, bytes
 * threads: one at a time
 * errors:  a perf map that is not read for want of room is counted
 * source:  foreign_reader.h
 *
 * There are ten steps a second. A step reads at most 4 MiB, and at most 2 MiB of one process, waits
 * for parsers for 20 ms at most, and takes lines for FOREIGN_TAKE_NS; what parsers answer later is
 * taken by the next step, and lines that are left by a step FOREIGN_BUSY_NS later. So a process
 * that writes without end cannot take more, and other processes get their turn. All perf maps
 * together take at most FOREIGN_MAX_BYTES of memory and FOREIGN_MAX_FILES descriptors. Past either,
 * the container or user that has the most of it loses its largest perf map, which is looked for
 * again later; a perf map of its own is put off instead. For a process that has no perf map nobody
 * makes room.
 */
#ifndef FG_PROCESS_FOREIGN_UPKEEP_H
#define FG_PROCESS_FOREIGN_UPKEEP_H

#include "base/counters.h"
#include "base/map64.h"
#include "guard/pool.h"
#include "foreign/foreign_reader.h"

#define FOREIGN_MAX_BYTES ((size_t)256 << 20)
#define FOREIGN_MAX_FILES 256
#define FOREIGN_TAKE_NS	  UINT64_C(5000000)
#define FOREIGN_BUSY_NS	  UINT64_C(20000000)

struct foreign_upkeep {
	struct foreign_reader_stats stats;
	size_t files, ranges, bytes;	/* of all readers, as of the last step */
	struct pool bytes_of, files_of; /* of owners, as of the last step's begin */
	size_t max_bytes;		/* of memory; 0: FOREIGN_MAX_BYTES */
	size_t max_files;		/* 0: FOREIGN_MAX_FILES */
	uint64_t put_off;		/* reads put off because there was no room for the map */
	uint64_t evicted;		/* perf maps that were forgotten for another owner's */
	size_t pos;			/* in the table of processes, where the next step begins */
	size_t done;			/* bytes read since the last step began */
	uint64_t wait_ns;		/* that are left of the last step to wait for parsers */
	uint64_t take_ns;		/* that are left of it to take lines */
	uint64_t next_ns;		/* when the next step is due */
	bool has_jvms;			/* perf maps of processes with an agent are wanted */
};
extern const struct counters foreign_upkeep_counters;

struct process;

void foreign_upkeep_fini(struct foreign_upkeep *upkeep);

/*
 * Reads the perf map of a process at once, because the process has just become known by its first
 * sample, which is named soon. Reads no more than what is left of the last step's 4 MiB.
 */
void foreign_upkeep_begin(struct foreign_upkeep *upkeep, struct process *process, uint64_t now_ns);

/* A sample of the process was named: its perf map may be wanted since (foreign_reader_want). */
void foreign_upkeep_note(struct foreign_upkeep *upkeep, const struct process *process);

/* Reads the perf maps of all processes in turn, if a step is due. processes: PID -> process. */
void foreign_upkeep_step(struct foreign_upkeep *upkeep, const struct map64 *processes,
			 uint64_t now_ns);

#endif
