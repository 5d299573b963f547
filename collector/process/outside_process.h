// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a process -> the state of its reading from outside
 * units:   CLOCK_MONOTONIC nanoseconds; bytes
 * threads: the model's
 * errors:  none
 * source:  process/outside_upkeep.h, which does the reading
 */
#ifndef FG_PROCESS_OUTSIDE_PROCESS_H
#define FG_PROCESS_OUTSIDE_PROCESS_H

#include "outside/outside_reader.h"

#define OUTSIDE_HOT_NS	   UINT64_C(100000000)
#define OUTSIDE_SAMPLED_NS UINT64_C(1000000000) /* since the last sample: the JVM is hot */

struct outside_process {
	struct outside_reader *reader; /* NULL: none yet, or an error was the last */
	uint64_t since_ns;	       /* since when it could be read */
	uint64_t due_ns;	       /* when the next step is due */
	uint64_t sampled_ns;	       /* when its last sample was read; 0: none */
	uint64_t started_ns;	       /* when the last step was begun */
	bool is_late;		       /* this step has not ended for OUTSIDE_LATE_NS */
	unsigned failures;	       /* one after the other */
	int err;		       /* of the last reading; 0: none */
	char lacks[VM_READING_LACKS_BYTES];
	/* Of all readings. */
	struct vm_reading_stats stats, ended; /* ended: of readers before */
	uint64_t took_ns, errors;
	size_t reader_bytes;
};

void outside_process_free(struct outside_process *outside); /* NULL is legal */
/* Its memory, without that of a step that is under way. */
size_t outside_process_bytes(const struct outside_process *outside);

/* A sample of the process has come; outside NULL: it is not read. */
void outside_process_note_sample(struct outside_process *outside, uint64_t now_ns);

/* Why the process cannot be read, or "". */
const char *outside_process_problem(const struct outside_process *outside);

#endif
