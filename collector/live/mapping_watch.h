// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a sample of a process -> whether its mappings are to be read again, and what is new of
 *          them, as records
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: the model's
 * errors:  a process that cannot be read tells nothing
 * source:  proc_pid_maps(5), proc_pid_status(5), PERF_RECORD_LOST of perf_event_open(2)
 *
 * The kernel tells of mappings only those who follow all processes, because all of the host pays for
 * that. Without its word a process is read again when a sample hits an address at which nothing is
 * known, or when its executable memory has another size than it had, which is asked for once a
 * second while there are samples of it. With its word, a process is read again after a loss.
 *
 * A process is read MAPPING_WATCH_WAIT_NS after the last time at the soonest, and later each time
 * that nothing was new; all together for a tenth of the time. Who has to wait is due with its next
 * sample. A zero-filled struct belongs to a recording that is not told.
 */
#ifndef FG_LIVE_MAPPING_WATCH_H
#define FG_LIVE_MAPPING_WATCH_H

#include "sample/perf_record.h"
#include "process/process.h"

#include <stdbool.h>
#include <stdint.h>

#define MAPPING_WATCH_WAIT_NS	    UINT64_C(20000000)
#define MAPPING_WATCH_MOST_WAIT_NS  UINT64_C(4000000000)
#define MAPPING_WATCH_LOSS_WAIT_NS  UINT64_C(250000000)
#define MAPPING_WATCH_CHECK_WAIT_NS UINT64_C(1000000000)
#define MAPPING_WATCH_TURN_NS	    UINT64_C(100000000)
#define MAPPING_WATCH_SPENT_NS	    (MAPPING_WATCH_TURN_NS / 10)

struct mapping_watch {
	bool is_told;	  /* of mappings, by the kernel */
	uint64_t lost_ns; /* when it was last heard of a loss; 0: never */
	uint64_t turn_ns; /* when the next turn begins */
	uint64_t spent_ns;
	uint64_t reads;	  /* of processes */
	uint64_t put_off; /* samples whose process was due, and was not read */
};

void mapping_watch_note_loss(struct mapping_watch *watch, uint64_t now_ns);

/*
 * A sample of process has come, at time_ns: whether to read the process now. has_missed: nothing is
 * known at an address of the sample. Counts.
 */
bool mapping_watch_is_due(struct mapping_watch *watch, struct process *process, uint64_t time_ns,
			  bool has_missed, uint64_t now_ns);

/*
 * Reads what process maps, and has fn take what is not known of it as a PERF_MMAP of now. Where
 * nothing was known to be, it is added to the process at once: samples that wait may be of it.
 * Returns how many those were.
 */
size_t mapping_watch_read(struct mapping_watch *watch, struct process *process, uint64_t now_ns,
			  void (*fn)(void *arg, const struct perf_record *record), void *arg);

#endif
