// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   JVMs that no agent tells of -> their code, read from outside again and again
 * units:   CLOCK_MONOTONIC nanoseconds; bytes
 * threads: the model's
 * errors:  counted in struct outside_stats; what a JVM lacks is in struct outside_process
 * source:  outside/outside_reader.h
 *
 * A JVM is read if it maps libjvm.so and no agent tells of it: at once, or if an agent may still
 * come, after some time. An agent that comes takes over, and one that goes leaves the reading; both
 * repeat all code as a resynchronisation, so that code which has lived on keeps its birth.
 *
 * A JVM of which samples come is read OUTSIDE_HOT_NS after the reading before, up to four times as
 * long after if the last readings found no code that had come or gone, and no sample came upon code
 * that is not known. Another JVM is read OUTSIDE_CALM_NS after the reading before. No JVM is read
 * for more than one part in OUTSIDE_SHARE of the time, and OUTSIDE_BURST_NS of processor time
 * beyond: if its readings take longer, it is read less often. So one reading that takes long does
 * not have the code that comes meanwhile go unread. Where a reading has more to tell than a step
 * may, the next step follows at once, until all of them have taken OUTSIDE_AT_ONCE_NS of processor
 * time more than that share. After an error a JVM is read anew OUTSIDE_RETRY_NS later, and each
 * time twice as late; a reading that fails spends its time as others do. What a reading has told is
 * applied a piece in each step, and the next reading of the JVM begins after the last piece.
 *
 * Of a JVM that is looked for by its names only the program is read, once (process_set_program),
 * from the age of OUTSIDE_NAMES_YOUNG_NS on.
 */
#ifndef FG_PROCESS_OUTSIDE_UPKEEP_H
#define FG_PROCESS_OUTSIDE_UPKEEP_H

#include "base/counters.h"
#include "base/map64.h"
#include "process/process.h"

#define OUTSIDE_CALM_NS	       UINT64_C(2000000000)
#define OUTSIDE_YOUNG_NS       UINT64_C(1000000000) /* at this age a JVM has loaded its agent */
#define OUTSIDE_NAMES_YOUNG_NS UINT64_C(300000000)  /* at this age most JVMs know what they run */
#define OUTSIDE_PATIENCE_NS    UINT64_C(3000000000) /* an agent that is loaded connects meanwhile */
#define OUTSIDE_SHARE	       50
#define OUTSIDE_BURST_NS       UINT64_C(1000000000)
#define OUTSIDE_FIRST_NS       UINT64_C(3000000000) /* all code of most JVMs is read meanwhile */
#define OUTSIDE_AT_ONCE_NS     UINT64_C(10000000000)
#define OUTSIDE_RETRY_NS       UINT64_C(1000000000)
#define OUTSIDE_RETRIES	       8
#define OUTSIDE_LATE_NS	       UINT64_C(2000000000) /* a step that waits so long does not end */
#define OUTSIDE_LOOK_NS	       UINT64_C(50000000)
#define OUTSIDE_STEP_NS	       UINT64_C(5000000)

struct outside_stats {
	uint64_t steps, took_ns, bytes, reads; /* of all processes, also of those that are gone */
	/* As struct vm_reading_stats has. */
	uint64_t named, unnamed, uninlined, unlined, reused, changed, left_out;
	uint64_t cut;	      /* readings of a command line or an environment that is longer */
	uint64_t cut_threads; /* threads whose full name could not be read */
	uint64_t errors;      /* readings that ended with an error */
	uint64_t refused;     /* JVMs for which there was no room */
	uint64_t beside;      /* pieces of code of which an agent had not told, or named anew */
	size_t read_now;      /* JVMs that are read from outside now, also beside an agent */
};

enum outside_want {
	OUTSIDE_WANT_NOTHING,
	OUTSIDE_WANT_NAMES, /* what its JVM runs, once */
	OUTSIDE_WANT_CODE,
};

/* What the upkeep asks of whoever keeps the processes. */
struct outside_host {
	/* Makes the process one with a JVM. False: there is no room. */
	bool (*take)(void *arg, struct process *process);
	/* The process has changed by records of about so many bytes. */
	void (*changed)(void *arg, struct process *process, size_t bytes);
	/* What the process's JVM runs has become known. */
	void (*named)(void *arg, const struct process *process);
	/* The record is of the process's code, and has changed it, or repeats what was known. */
	void (*read)(void *arg, const struct process *process, const struct wire_record *record);
	/* What somebody wants of the process where no agent tells of it. */
	enum outside_want (*wanted)(void *arg, const struct process *process);
	void *arg;
};

extern const struct counters outside_counters; /* of struct outside_stats */

struct outside_upkeep {
	struct outside_stats stats;
	size_t pos;	   /* in the table of processes */
	uint64_t round_ns; /* when the next walk through the table is due, as far as is known */
	size_t round_read; /* JVMs that this walk has come by */
	/* JVMs beside whose agent the names of threads are read, and those this walk came by. */
	size_t threads_now, round_threads;
	uint64_t next_ns;  /* when the next step is due; 0: at once */
	uint64_t most_ns;  /* of a step; 0: OUTSIDE_STEP_NS */
	uint64_t until_ns; /* the end of the step that is under way */
	unsigned share;	   /* of the time that a reading may take, the inverse; 0: OUTSIDE_SHARE */
	uint64_t burst_ns; /* 0: OUTSIDE_BURST_NS */
	uint64_t at_once_ns; /* 0: OUTSIDE_AT_ONCE_NS */
};

/* Whether no agent tells of the process, and it is known to map libjvm.so. */
bool outside_may_read(struct process *process);

/*
 * Whether what the process's JVM runs is about to be read, by a step that is due soon. May_go_on:
 * whoever asks has enough without this JVM, and a step that does not end soon is not waited for.
 */
bool outside_is_naming(struct process *process, bool may_go_on, uint64_t now_ns);
/*
 * Goes on with all processes that are wanted, if a step is due, for about OUTSIDE_STEP_NS. New ones
 * are looked for every OUTSIDE_LOOK_NS. processes: PID -> process.
 */
void outside_upkeep_step(struct outside_upkeep *upkeep, const struct outside_host *host,
			 const struct map64 *processes, uint64_t now_ns);

/*
 * Begins the reading of a JVM beside its agent, unless it has begun. NULL: no agent tells of the
 * JVM, or it is read as one without.
 */
struct outside_process *outside_process_begin_beside(struct process *process, uint64_t now_ns);
bool outside_is_read(const struct process *process); /* whether its code is */
/* Whether all code of a JVM without an agent may just be read for the first time. */
bool outside_is_begun_lately(const struct process *process, uint64_t now_ns);
/* Applies a record of a reading beside an agent. */
void outside_apply_beside(struct outside_upkeep *upkeep, const struct outside_host *host,
			  struct process *process, const struct wire_record *record,
			  uint64_t now_ns);
/* Notes what a whole reading beside an agent has come to. */
void outside_note_beside(struct outside_process *outside, const struct outside_told *told,
			 uint64_t now_ns);
/*
 * Asks for a reading beside the agent, for a sample at time_ns that came to addr; 0: for no
 * address. Makes process->outside. Returns whether the sample may wait for the answer, or without
 * an agent for the first reading, and for the first one that has begun after the sample.
 */
bool outside_process_ask(struct process *process, uint64_t addr, uint64_t time_ns, uint64_t now_ns);

/* Whether an agent tells of the process's JVM, and nothing is being repeated. */
bool outside_process_is_heard(const struct process *process);
/*
 * A sample of the process has come. Beside an agent the names of its threads are read then, once a
 * second: an agent does not see that a thread is renamed, and the kernel is not told each name.
 */
void outside_upkeep_note_sample(struct outside_upkeep *upkeep, struct process *process,
				uint64_t now_ns);

/*
 * outside_process_ask, for the next step. A sample that waits is to be taken again after some
 * milliseconds.
 */
bool outside_upkeep_ask(struct outside_upkeep *upkeep, struct process *process, uint64_t addr,
			uint64_t time_ns);

#endif
