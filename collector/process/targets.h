// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   code events, mappings, forks and exits -> the model of every process of interest
 * units:   CLOCK_MONOTONIC nanoseconds, PIDs as the collector sees them
 * threads: one, the model's
 * errors:  bad data is counted where it belongs and the old entry is kept
 * source:  shared/README.md, perf_event_open(2)
 *
 * Also keeps /tmp/perf-<pid>.map of every JVM current: within 100 ms of a change, at most ten times
 * a second, and less often where a write takes long: no process's map costs more than a tenth of
 * the time. At most TARGETS_MAX_JVMS processes with an agent are known at a time, for each may hold
 * some 260 MiB of code, methods and names; the sessions of others are refused. When the code of all is past
 * TARGETS_MAX_CODE_BYTES, the JVM with the most of it is forgotten, and learnt anew. A process that
 * is gone stays known for TARGETS_LINGER_NS, so that held samples are named; its map file stays
 * until the PID is used again, or for a day. Maps that others than JVMs write themselves are
 * read while these processes are wanted. If jitdump is set, new code of all processes goes into it too.
 */
#ifndef FG_PROCESS_TARGETS_H
#define FG_PROCESS_TARGETS_H

#include "base/map64.h"
#include "intake/intake.h"
#include "sample/perf_record.h"
#include "process/foreign_upkeep.h"
#include "process/process.h"

#define TARGETS_LINGER_NS	UINT64_C(3000000000)
#define TARGETS_MAP_MAX_AGE_SEC (24 * 60 * 60)
#define TARGETS_MAX_JVMS	4096
#define TARGETS_MAX_CODE_BYTES	(UINT64_C(4) << 30) /* of all JVMs */
#define TARGETS_MAX_PROCESSES	32768		    /* with all that are no JVMs */

struct targets {
	struct map64 processes;			 /* PID -> struct process */
	struct map64 sessions;			 /* session ID -> struct process */
	const char *map_dir;			 /* borrowed */
	struct perf_map_style map_style;	 /* the default unless its owner sets it */
	struct jitdump *jitdump;		 /* owned; NULL: none is wanted */
	void (*on_forget)(void *arg, pid_t pid); /* a process is forgotten; NULL: nobody asks */
	void *on_forget_arg;
	/*
	 * A session is to be ended so that its agent, if there still is one, dials again: its
	 * process is gone, or has a newer session. It must not call back. NULL: nobody asks.
	 */
	void (*end_session)(void *arg, uint32_t id);
	void *end_session_arg;
	uint64_t linger_more_ns; /* than TARGETS_LINGER_NS, for samples that wait for longer */
	unsigned all_users; /* who wants processes without an agent too, see targets_want_all */
	unsigned one_users; /* who wants one such process, see targets_want */
	bool said_blind;
	size_t n_jvms;		    /* processes with an agent, those included that lost it */
	uint64_t refused_sessions;  /* of a process that is gone, or past TARGETS_MAX_JVMS */
	uint64_t dropped_jvms;	    /* because of TARGETS_MAX_CODE_BYTES */
	uint64_t max_code_bytes;    /* that, unless its owner sets another one */
	uint64_t refused_processes; /* past TARGETS_MAX_PROCESSES */
	uint64_t threads_forgotten; /* of processes that are no more, see struct process */
	uint64_t map_writes, map_failures;
	uint64_t next_sweep_ns, next_clean_ns;
	struct foreign_upkeep foreign;
	struct containers containers; /* that processes are in */
};

/* What the caller has to do with a session after an event. */
enum targets_verdict {
	TARGETS_KEEP,
	TARGETS_END_SESSION, /* its agent dials again and resynchronises */
};

void targets_init(struct targets *targets, const char *map_dir);
void targets_fini(struct targets *targets);

enum targets_verdict targets_apply_intake(struct targets *targets,
					  const struct intake_event *event);

/* Mappings, programs, forks and exits, in the order of their times; all else is ignored. */
void targets_apply_record(struct targets *targets, const struct perf_record *record);

/* What the kernel says of a mapping; the path is borrowed, and may end in " (deleted)". */
struct mapping targets_mapping_of(const struct perf_mmap *mmap);

struct process *targets_find(const struct targets *targets, pid_t pid);
/* Finds it, or reads it from /proc; NULL if it is gone. */
struct process *targets_find_or_read(struct targets *targets, pid_t pid);
/* Finds or reads every process there is; it is for those who want all. */
void targets_read_all(struct targets *targets);
/* Reads every process's mappings and threads anew, after a time without the kernel's records. */
void targets_refresh(struct targets *targets);

/*
 * From the first want on, processes without an agent are known too; with the last unwant they are
 * forgotten.
 */
void targets_want_all(struct targets *targets);
void targets_unwant_all(struct targets *targets);

/* The same of one process; one that is gone is to be unwanted even so. */
void targets_want(struct targets *targets, pid_t pid);
void targets_unwant(struct targets *targets, pid_t pid);

/* Walks all processes in no order; *pos starts at 0. */
struct process *targets_next(const struct targets *targets, size_t *pos);

/* Writes due maps, notices processes that are gone, forgets what lies before horizon_ns. */
void targets_tick(struct targets *targets, uint64_t now_ns, uint64_t horizon_ns);
/* When targets_tick next has something to do. */
uint64_t targets_next_tick_ns(const struct targets *targets);

#endif
