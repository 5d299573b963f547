// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a loss of the kernel's records, then a sample of a process -> records of what it maps
 *          and nobody told of
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: the model's
 * errors:  a process that cannot be read tells nothing
 * source:  PERF_RECORD_LOST of perf_event_open(2), proc_pid_maps(5)
 *
 * Each process of which there are samples is read once after a loss, at most every
 * LOST_MAPPINGS_INTERVAL_NS, and all together for a tenth of the time; who has to wait is due with
 * its next sample. A zero-filled struct has seen no loss.
 */
#ifndef FG_APP_LOST_MAPPINGS_H
#define FG_APP_LOST_MAPPINGS_H

#include "sample/perf_record.h"
#include "target/process.h"

#include <stdbool.h>
#include <stdint.h>

#define LOST_MAPPINGS_INTERVAL_NS UINT64_C(250000000)
#define LOST_MAPPINGS_TURN_NS	  UINT64_C(100000000)
#define LOST_MAPPINGS_SPENT_NS	  (LOST_MAPPINGS_TURN_NS / 10)

struct lost_mappings {
	uint64_t lost_ns; /* when it was last heard of a loss; 0: never */
	uint64_t turn_ns; /* when the next turn begins */
	uint64_t spent_ns;
	uint64_t reads;	  /* of processes */
	uint64_t put_off; /* samples whose process was due, and was not read */
};

void lost_mappings_note(struct lost_mappings *lost, uint64_t now_ns);

/* A sample of process has come: whether it is to be read. Counts. */
bool lost_mappings_is_due(struct lost_mappings *lost, const struct process *process,
			  uint64_t now_ns);

/*
 * Reads what process maps, and has fn take what is not known of it as a PERF_MMAP of now. Where
 * nothing was known to be, it is added to the process at once: samples that wait may be of it.
 */
void lost_mappings_read(struct lost_mappings *lost, struct process *process, uint64_t now_ns,
			void (*fn)(void *arg, const struct perf_record *record), void *arg);

#endif
