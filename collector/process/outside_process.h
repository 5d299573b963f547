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
#include "shared/wire.h"

#define OUTSIDE_HOT_NS	   UINT64_C(100000000)
#define OUTSIDE_QUIET	   4 /* readings without news: the next ones come half as often */
#define OUTSIDE_SAMPLED_NS UINT64_C(1000000000) /* since the last sample: the JVM is hot */

/* The code heaps, and what of them is known. */
struct outside_known {
	struct vm_span heaps[CODE_HEAPS_MAX];
	size_t n_heaps;
	uint64_t read_ns; /* all code that was there then has been read; 0: never */
};

/*
 * A JVM with an agent is read beside it where the agent has not told of all: HotSpot tells nobody
 * of what a compiler of JVMCI installs. It is read once a sample has come upon such code, and as
 * long as samples come and such code was found. Where none was found, the next reading that is
 * asked for waits OUTSIDE_VAIN_NS, and each time twice as long.
 */
#define OUTSIDE_VAIN_NS	  UINT64_C(1000000000)
#define OUTSIDE_VAIN_MOST 8		      /* doublings */
#define OUTSIDE_ANSWER_NS UINT64_C(300000000) /* a sample waits for what is due so soon */

struct outside_beside {
	bool was_asked; /* code was wanted once, and not the names of threads alone */
	bool is_asked;	/* a reading is wanted, or has more to tell */
	bool has_told;	/* code was found of which the agent had not told */
	bool is_vain;	/* since it was asked for, nothing was found */
	unsigned vain;	/* readings one after the other that found nothing */
};

struct outside_process {
	bool is_beside;	 /* an agent tells of the JVM's code, and the reading of the rest */
	bool only_names; /* its program is wanted, and not its code */
	bool is_named;	 /* of those: what it runs has been read */
	struct outside_beside beside;
	struct outside_known known;
	struct outside_reader *reader; /* NULL: none yet, or an error was the last */
	bool only_threads;	       /* this step is of names of threads, beside an agent */
	uint64_t threads_due_ns;       /* when the next of these is due */
	uint64_t since_ns;	       /* since when it could be read */
	uint64_t first_ns;	       /* when its first reading was due */
	uint64_t due_ns;	       /* when the next step is due */
	uint64_t ready_ns;	       /* before, its share of the time allows none */
	unsigned quiet;		       /* readings one after the other without news */
	uint64_t spent_ns;	       /* of the processor, less its share of the time since */
	uint64_t spent_at_ns;	       /* when this was so */
	uint64_t sampled_ns;	       /* when its last sample was read; 0: none */
	uint64_t started_ns;	       /* when the last step was begun */
	unsigned long turns;	       /* of the step that is under way, when last looked at */
	uint64_t moved_ns;	       /* when the step has last been seen to go on */
	bool is_late;		       /* it has not gone on for OUTSIDE_LATE_NS */
	unsigned failures;	       /* one after the other */
	int err;		       /* of the last reading; 0: none */
	char lacks[VM_READING_LACKS_BYTES];
	/* Of all readings. */
	struct vm_reading_stats stats, ended; /* ended: of readers before */
	uint64_t took_ns, errors;
	size_t reader_bytes;
	/* What the last step has told, while some of it is not applied. Borrowed of the reader. */
	bool is_telling;
	struct outside_told told;
	struct wire_reader rest;
};

void outside_process_free(struct outside_process *outside); /* NULL is legal */
/* The time between two readings while samples come: up to four times OUTSIDE_HOT_NS. */
uint64_t outside_process_hot_ns(const struct outside_process *outside);
/* The reader has read enough, or what it has read is no use: the next one begins anew. */
void outside_process_end_reader(struct outside_process *outside);
/* Its memory, without that of a step that is under way. */
size_t outside_process_bytes(const struct outside_process *outside);

/* A sample of the process has come; outside NULL: it is not read. */
void outside_process_note_sample(struct outside_process *outside, uint64_t now_ns);

/* Whether names of threads are to be read beside an agent: a sample has come since. */
bool outside_process_wants_threads(const struct outside_process *outside);

/* Why the process cannot be read, or "". */
const char *outside_process_problem(const struct outside_process *outside);

#endif
