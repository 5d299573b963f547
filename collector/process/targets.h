// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   records of agents and of the kernel -> the model of every process of interest
 * units:   CLOCK_MONOTONIC nanoseconds, PIDs as the collector sees them
 * threads: one, the model's
 * errors:  bad data is counted in the process or JVM that it is about, and the old entry is kept
 * source:  shared/README.md, perf_event_open(2)
 *
 * Limits: at most TARGETS_MAX_JVMS processes with an agent are known at a time, because each may
 * hold some 330 MiB of code, methods and names. When there is one more, a JVM is forgotten of the
 * container, or the user of the host, that has the most JVMs; if that is the newcomer's own, the
 * newcomer is refused. When all processes take more than max_bytes, the process with the most
 * memory is forgotten of the container or user that has the most, and learnt anew when its agent
 * dials again, or with its next sample. So it is when there are TARGETS_MAX_PROCESSES and one more
 * comes: of whoever has the most processes one is forgotten, first one without a JVM that no
 * recording has asked for by its PID.
 *
 * A process that is gone stays known for TARGETS_LINGER_NS and linger_more_ns, so that held samples
 * are named.
 *
 * Whoever writes the model's code to files listens to it (code/code_listener.h). Perf maps that
 * other runtimes write are read while processes without an agent are wanted.
 *
 * A JVM that is read from outside has struct jvm as one with an agent has, but no session. It is
 * forgotten as a process without an agent is.
 */
#ifndef FG_PROCESS_TARGETS_H
#define FG_PROCESS_TARGETS_H

#include "base/counters.h"
#include "base/map64.h"
#include "intake/intake.h"
#include "guard/heap.h"
#include "process/foreign_upkeep.h"
#include "process/outside_upkeep.h"
#include "process/process.h"
#include "process/process_bytes.h"
#include "process/process_pool.h"
#include "process/space_upkeep.h"
#include "process/start_class.h"
#include "sample/record.h"

#define TARGETS_LINGER_NS     UINT64_C(3000000000)
#define TARGETS_MAX_JVMS      4096
#define TARGETS_MAX_BYTES     (UINT64_C(4) << 30) /* of all processes */
#define TARGETS_MAX_PROCESSES 32768		  /* with and without an agent */

struct targets {
	struct map64 processes;			 /* PID -> struct process */
	struct process_pool pool;		 /* whose these are */
	struct map64 sessions;			 /* session ID -> struct process */
	struct map64 rivals;			 /* session ID -> PID, see open_session */
	const struct code_listener *listener;	 /* borrowed; NULL: nobody listens to code */
	void (*on_forget)(void *arg, pid_t pid); /* called before a process is freed; or NULL */
	void *on_forget_arg;
	/*
	 * Called for a session that is to be ended, because its process is gone or forgotten, runs
	 * another program, or has a newer session. The session's agent, if there still is one,
	 * dials again. The function must not call targets_ functions. May be NULL.
	 */
	void (*end_session)(void *arg, uint32_t id);
	void *end_session_arg;
	uint64_t linger_more_ns; /* added to TARGETS_LINGER_NS, for samples that are held longer */
	unsigned all_users;	 /* calls of targets_want_all without their targets_unwant_all */
	unsigned surveys;	 /* surveys that have read all processes, see survey.h */
	unsigned one_users;	 /* calls of targets_want without their targets_unwant */
	bool said_blind;	 /* the error about PIDs that cannot be seen has been logged */
	size_t n_jvms; /* processes with struct jvm, also those whose agent is disconnected */
	uint64_t refused_sessions;     /* process gone, too many processes or JVMs, no memory */
	uint64_t second_agents;	       /* sessions of a JVM's second agent, which are not heard */
	uint64_t second_agent_records; /* the records of these sessions */
	uint64_t dropped_jvms; /* processes forgotten because of max_bytes, or for another JVM */
	uint64_t max_bytes; /* of all processes: TARGETS_MAX_BYTES unless the owner sets another */
	size_t max_methods_bytes;   /* of one process; 0: CODE_METHODS_MAX_BYTES */
	uint64_t shared_bytes;	    /* what others than processes take of the same budget */
	uint64_t bytes;		    /* the sum of charged_bytes of all processes */
	struct graveyard dying;	    /* processes that are forgotten and not freed yet */
	struct heap heap;	    /* gives back what is freed */
	size_t max_jvms;	    /* TARGETS_MAX_JVMS unless the owner sets another */
	uint64_t threads_forgotten; /* the sum of struct process's, of processes since removed */
	/*
	 * Of the loop's time, how much each part of targets_tick takes before it leaves the rest.
	 */
	struct {
		uint64_t sweep_ns, payers_ns;
	} turn;
	uint64_t next_sweep_ns;
	size_t sweep_pos; /* of the process at which the sweep goes on, see targets_next */
	bool is_swept;	  /* the sweep that was due last is at its end */
	struct foreign_upkeep foreign;
	struct outside_upkeep outside;
	unsigned outside_users; /* calls of targets_want_outside without targets_unwant_outside */
	unsigned name_users;	/* calls of targets_want_names without targets_unwant_names */
	void (*on_named)(void *arg); /* called as targets_await_names says; or NULL */
	void *on_named_arg;
	/* Called for what was read of a JVM's code from outside, once the model has it; or NULL. */
	void (*on_read)(void *arg, const struct process *process, const struct wire_record *record);
	void *on_read_arg;
	struct {
		bool are_awaited, may_go_on; /* as of targets_await_names */
		bool is_new;		     /* a name has become known since */
	} names;
	struct space_upkeep spaces;
	struct start_classes start_classes;
	struct containers containers; /* the containers of all processes */
	uint64_t container_changes;   /* of containers, as processes have them */
	uint64_t names_wait_ns;	      /* of targets_settle_names; 0: what is left of a turn */
};
extern const struct counters targets_counters;

/* Counts containers, and the labels for which a container or a process has no room. */
void targets_count_containers(const struct targets *targets, struct containers_stats *ret);

/* What the caller has to do with a session after an event. */
enum targets_verdict {
	TARGETS_KEEP,
	TARGETS_END_SESSION, /* the session's agent then dials again and resynchronises */
};

void targets_init(struct targets *targets);
void targets_fini(struct targets *targets);
/* The memory of all lists, without processes and containers. */
size_t targets_list_bytes(const struct targets *targets);
/* Sets max_methods_bytes, also of the processes that are known. */
void targets_limit_methods(struct targets *targets, size_t bytes);

enum targets_verdict targets_apply_intake(struct targets *targets,
					  const struct intake_event *event);

/*
 * Applies a record of a mapping, exec, fork or exit; other records are ignored. Records come in the
 * order of their times.
 */
void targets_apply_record(struct targets *targets, const struct record *record);

/* The mapping of a kernel's record; its path is borrowed, and may end in " (deleted)". */
struct mapping targets_mapping_of(const struct record_mmap *mmap);

struct process *targets_find(const struct targets *targets, pid_t pid);
/* Finds the process, or reads it from /proc. NULL if it is gone, or past a limit. */
struct process *targets_find_or_read(struct targets *targets, pid_t pid);
/*
 * Finds or reads every process of the host, for callers of targets_want_all. With thousands of
 * processes this takes long: a loop that must not wait makes a survey (survey.h) before.
 */
void targets_read_all(struct targets *targets);
/* Reads every process's mappings and threads anew, after a time without the kernel's records. */
void targets_refresh(struct targets *targets);

/*
 * From the first targets_want_all on, processes without an agent are known too. The last
 * targets_unwant_all forgets processes without an agent, except those that targets_want asked for.
 */
void targets_want_all(struct targets *targets);
void targets_unwant_all(struct targets *targets);

/*
 * From the first targets_want on, the process is known even without an agent. The last
 * targets_unwant forgets a process without an agent, unless all processes are wanted. Each
 * targets_want needs its targets_unwant, even if the process is gone.
 */
void targets_want(struct targets *targets, pid_t pid);
void targets_unwant(struct targets *targets, pid_t pid);

/*
 * From the first targets_want_outside on, every known process that is a JVM without an agent is
 * read from outside (process/outside_upkeep.h), and not only those that targets_want asked for.
 */
void targets_want_outside(struct targets *targets);
void targets_unwant_outside(struct targets *targets);

/*
 * From the first targets_want_names on, what every known JVM without an agent runs is read, so that
 * the JVM can be found by its names (process_has_program), and nothing else of it.
 */
void targets_want_names(struct targets *targets);
void targets_unwant_names(struct targets *targets);
/*
 * Whether a name is about to be read, by a step that is due soon. Then a targets_tick calls
 * on_named once none is awaited any more: each is known, cannot be read, or does not answer in
 * time. May_go_on: as of outside_is_naming. Without it on_named is called for each name that is
 * new, too: it may be the one that is meant.
 */
bool targets_await_names(struct targets *targets, bool may_go_on, uint64_t now_ns);

/* Walks all processes in no order; *pos starts at 0. */
struct process *targets_next(const struct targets *targets, size_t *pos);

/*
 * Waits, asleep, for names of containers that are being read (container/names_reader.h), and gives
 * them to processes: for a question by name.
 */
void targets_settle_names(struct targets *targets);

/*
 * Does the upkeep that is due: reads perf maps of other runtimes, notices processes that are gone,
 * and forgets code that died before horizon_ns.
 */
void targets_tick(struct targets *targets, uint64_t now_ns, uint64_t horizon_ns);
/* When targets_tick next has something to do. */
uint64_t targets_next_tick_ns(const struct targets *targets);

#endif
