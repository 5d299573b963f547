// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   samples of a process -> whether its mappings are read again, and new mappings as records
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: the model's
 * errors:  a process that cannot be read has no new mappings
 * source:  proc_pid_maps(5), proc_pid_status(5), PERF_RECORD_LOST of perf_event_open(2)
 *
 * The kernel reports mappings only to a recording that follows all processes, because every mmap of
 * the host pays for the report. Without reports, a process is read again in two cases: a sample hit
 * an address at which nothing is known, or the process's executable memory changed its size. The
 * size is asked for at most once a second, and only while the process is sampled. With or without
 * reports, a process is read again after a loss of records.
 *
 * A process is read again MAPPING_WATCH_WAIT_NS after its last reading at the earliest. The wait
 * doubles with each reading that found nothing new, up to MAPPING_WATCH_MOST_WAIT_NS. With reports
 * the wait is MAPPING_WATCH_LOSS_WAIT_NS. All readings together take a tenth of the time. A process
 * that has to wait is judged again at its next sample. A process with more mappings than can be
 * read in MAPPING_WATCH_READ_NS is read to the end by process/space_upkeep.h, and all that was
 * known is replaced then; so is a process whose mappings were late. A zero-filled struct is valid,
 * for a recording without reports.
 */
#ifndef FG_RECORDING_MAPPING_WATCH_H
#define FG_RECORDING_MAPPING_WATCH_H

#include "process/process.h"
#include "sample/record.h"

#include <stdbool.h>
#include <stdint.h>

#define MAPPING_WATCH_WAIT_NS	    UINT64_C(20000000)
#define MAPPING_WATCH_MOST_WAIT_NS  UINT64_C(4000000000)
#define MAPPING_WATCH_LOSS_WAIT_NS  UINT64_C(250000000)
#define MAPPING_WATCH_CHECK_WAIT_NS UINT64_C(1000000000)
#define MAPPING_WATCH_TURN_NS	    UINT64_C(100000000)
#define MAPPING_WATCH_SPENT_NS	    (MAPPING_WATCH_TURN_NS / 10)
#define MAPPING_WATCH_READ_NS	    UINT64_C(2000000)

struct mapping_watch {
	bool is_told;	  /* the kernel reports mappings */
	uint64_t lost_ns; /* time of the last loss of records; 0: never */
	uint64_t turn_ns; /* when the next turn, with spent_ns at 0, begins */
	uint64_t spent_ns;
	uint64_t reads;	  /* readings of processes */
	uint64_t put_off; /* samples whose process had to be read and was not, for lack of time */
};

void mapping_watch_note_loss(struct mapping_watch *watch, uint64_t now_ns);

/*
 * Whether to read process now, for a sample of it at time_ns. has_missed: nothing is known at an
 * address of the sample. Counts put_off.
 */
bool mapping_watch_is_due(struct mapping_watch *watch, struct process *process, uint64_t time_ns,
			  bool has_missed, uint64_t now_ns);

/*
 * What a sample at time_ns may expect, whose walk came to an address at which nothing is known.
 * Unlike the kernel's walk, which follows frame pointers that are none, such a walk hardly errs: if
 * the size of the process's code has changed, a reading does not wait longer than
 * MAPPING_WATCH_WAIT_NS.
 */
enum mapping_hope {
	MAPPING_HOPE_NONE,  /* nothing that is read later helps the sample */
	MAPPING_HOPE_LATER, /* the process is being read, or will be soon: ask again */
	MAPPING_HOPE_NOW,   /* the process is to be read now */
};
enum mapping_hope mapping_watch_hope(struct mapping_watch *watch, struct process *process,
				     uint64_t time_ns, uint64_t now_ns);

/*
 * Reads the process's mappings. Calls fn with each mapping that is not known, as a RECORD_MMAP
 * record with the time now_ns. The parts of a new mapping where no mapping was known are added to
 * the process at once, because held samples may lie in these. Returns the number of new mappings.
 * If the process's reader is set afterwards, the process has more mappings than could be read.
 */
size_t mapping_watch_read(struct mapping_watch *watch, struct process *process, uint64_t now_ns,
			  void (*fn)(void *arg, const struct record *record), void *arg);

#endif
