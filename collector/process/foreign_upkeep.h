// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   all processes -> their own perf maps, read as they grow, for no more time than is theirs
 * units:   CLOCK_MONOTONIC nanoseconds, bytes
 * threads: one at a time
 * errors:  what is not read for want of room is counted
 * source:  foreign_reader.h
 *
 * Ten steps a second read 4 MiB each at most, which is some 40 ms, and 2 MiB of one process:
 * whoever writes without end cannot take more, whoever else is there gets his turn, and all maps
 * together have FOREIGN_MAX_BYTES of memory and FOREIGN_MAX_FILES.
 */
#ifndef FG_PROCESS_FOREIGN_UPKEEP_H
#define FG_PROCESS_FOREIGN_UPKEEP_H

#include "base/map64.h"
#include "maps/foreign_reader.h"

#define FOREIGN_MAX_BYTES ((size_t)256 << 20)
#define FOREIGN_MAX_FILES 256

struct foreign_upkeep {
	struct foreign_reader_stats stats;
	size_t files, ranges, bytes; /* as of the last step */
	uint64_t put_off;	     /* times that there was no room for a process's map */
	size_t pos;		     /* in the table of processes, where the next step begins */
	size_t done;		     /* bytes since the last step began */
	uint64_t next_ns;	     /* no step before */
};

struct process;

/*
 * A process has become known by its first sample, which is named soon: its map is read at once, as
 * far as there are bytes left until the next step.
 */
void foreign_upkeep_begin(struct foreign_upkeep *upkeep, struct process *process, uint64_t now_ns);

/* All others in turn. processes: PID -> struct process. */
void foreign_upkeep_step(struct foreign_upkeep *upkeep, const struct map64 *processes,
			 uint64_t now_ns);

#endif
