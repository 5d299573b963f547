// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what is known of one process: code, mappings, threads, container, and the JVM's words
 * units:   PIDs and TIDs as the collector sees them unless called inner; CLOCK_MONOTONIC ns
 * threads: the model's
 * errors:  negative errno
 * source:  proc(5), shared/README.md
 *
 * Identity is (pid, start_ticks). A process is known because an agent connected, or because a
 * sample hit it while everything is recorded; jvm is NULL until an agent has said hello.
 */
#ifndef FG_PROCESS_PROCESS_H
#define FG_PROCESS_PROCESS_H

#include "base/map64.h"
#include "memory/address_space.h"
#include "code/code_map.h"
#include "code/code_methods.h"
#include "container/containers.h"
#include "maps/foreign_reader.h"
#include "process/workload.h"
#include "code/java_methods.h"
#include "code/jvm_hello.h"
#include "maps/jitdump_target.h"
#include "maps/map_writer.h"
#include "code/name_pool.h"
#include "container/pod_uid.h"
#include "code/vm_layout.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PROCESS_COMM_BYTES 16

/* Threads, and names of threads, that are known at a time; past it, all are learnt anew. */
#define PROCESS_MAX_THREADS 65536

/* A class's, method's or signature's name is cut here. */
#define PROCESS_MAX_NAME_BYTES 1024

enum jvm_state {
	JVM_RESYNCING, /* connected, its code is not all known yet */
	JVM_CURRENT,   /* connected, all known */
	JVM_DISCONNECTED,
	JVM_ENDED, /* said bye, or the process is gone */
};

struct jvm {
	enum jvm_state state;
	uint32_t session;   /* the last one; targets know whether it is open */
	uint64_t opened_ns; /* when that began */
	bool is_dialled;    /* the agent listened; otherwise it dialled */
	bool has_hello;	    /* in this session */
	bool is_resyncing;  /* in this session, between the marks of resync_epoch */
	uint32_t resync_epoch;
	uint64_t resync_ns;   /* when the last one began, by the agent's mark */
	uint32_t hello_flags; /* enum wire_hello_flags */
	struct jvm_hello hello;
	struct vm_layout layout; /* by the hello */
	uint64_t in_heap_ns;	 /* when a stack was last sampled that goes on in the heap; 0 */
	uint64_t mounting_pc;	 /* in the code that mounts virtual threads, its frame whole; 0 */
	uint64_t lost[WIRE_LOSS_REASONS]; /* by the agent, since its start */
	uint64_t gaps;			  /* messages missing between agent and collector */
	/* Too short for their kind, before the hello, senseless, or past a hello's limits. */
	uint64_t bad_records;
	uint64_t unknown_records; /* of a kind that this version does not know */
	uint64_t lost_inlines; /* inline tables that were broken or for which there was no room */
	uint64_t lost_frames;  /* frame facts that were broken or cannot be true */
	uint64_t name_limit_hits;			/* names that became NAME_POOL_LIMIT_TEXT */
	uint64_t unnamed_methods[JAVA_METHODS_REASONS]; /* frames of interpreted ones */
	uint32_t resyncs;				/* complete ones */
};

/* A thread's name is so old at most, if there are samples of it. */
#define PROCESS_NAME_AGE_NS UINT64_C(1000000000)

struct thread {
	pid_t tid;
	pid_t inner_tid;
	uint64_t start_ticks; /* another one may have its number later */
	uint64_t read_ns;
	char comm[PROCESS_COMM_BYTES];
};

struct process {
	pid_t pid;
	pid_t inner_pid;
	uint64_t start_ticks;
	int64_t clock_offset_ns; /* its CLOCK_MONOTONIC minus ours: a time namespace */
	char comm[PROCESS_COMM_BYTES];
	char container_id[CONTAINER_ID_BYTES]; /* "" if in none */
	char pod_uid[POD_UID_BYTES];	       /* likewise */
	struct container_entry *container; /* held by the targets; NULL: in none, or not known */
	uint64_t container_version;	   /* that workload was made of */
	struct workload workload;	   /* what it is called */
	struct address_space space;
	uint64_t space_read_ns;	     /* when all of it was last read; 0: it is to be read anew */
	uint64_t space_wait_ns;	     /* so long it is not read again after that: it was the same */
	uint64_t space_checked_ns;   /* when its size was last asked for */
	struct code_map *code;	     /* NULL without an agent */
	struct jvm *jvm;	     /* NULL without an agent */
	struct code_methods methods; /* those that code and its inline tables refer to */
	struct name_pool names;	     /* of code and threads; empty without an agent */
	struct java_methods java_methods; /* interpreted ones */
	struct foreign_reader foreign;	  /* what it tells of its code itself; no JVM's */
	struct map64 threads;		  /* TID -> struct thread */
	struct map64 thread_names;	  /* inner TID -> full name in names */
	uint64_t threads_forgotten;	  /* times that either was past PROCESS_MAX_THREADS */

	struct map_writer map;
	struct jitdump_target jitdump;
	uint64_t jvm_mapped_ns;	      /* when it was seen to map libjvm.so; 0: not seen */
	uint64_t gone_ns;	      /* when it was found to be gone; 0: it is there */
	struct process *next_removed; /* while targets remove several */
	bool was_announced;
	uint32_t users;		    /* who wants it although it is no JVM, see targets_want */
	char shadow_path[PATH_MAX]; /* a map in the container that hides ours from perf; "" */
};

/* Reads what /proc says of pid. -ESRCH if it is gone. */
int process_new(pid_t pid, uint64_t start_ticks, struct process **ret);
void process_free(struct process *process); /* NULL is legal */

/* Makes code map, names and jvm for it if it has none. */
int process_add_jvm(struct process *process);
/* A connection of its agent begins: nothing is known yet of what it says. */
void process_open_session(struct process *process, uint32_t session, uint64_t now_ns);

/* Reads its mappings anew; without the right to, they stay as they were. */
void process_read_space(struct process *process, uint64_t now_ns);

/* It has just begun another program, which has another name. */
void process_read_comm(struct process *process);

/*
 * It runs another program since time_ns: its mappings and threads are no more, unless they were
 * read since or told of about then; and its JVM has ended, unless an agent has connected since,
 * which is then the new program's. Returns whether the JVM ended.
 */
bool process_exec(struct process *process, uint64_t time_ns);

/* The agent's hello; replaces what an earlier one said. */
int process_set_hello(struct process *process, const struct wire_hello *hello);
/* An attribute's text or NULL; a value of vmStructs or false. */
const char *process_attr(const struct process *process, const char *key);
bool process_value(const struct process *process, const char *key, int64_t *ret);

/* Whether it has executable memory that is no file's. */
bool process_has_generated(const struct process *process);

/*
 * The thread's full name where the agent told it, else its comm; borrowed until the next change.
 * "" if the thread was gone before anybody looked.
 */
const char *process_thread_name(struct process *process, pid_t tid);
void process_set_comm(struct process *process, pid_t tid, const char *comm);
/* There is a sample of that thread, taken just now: reads its name if that is due. */
void process_see_thread(struct process *process, pid_t tid, uint64_t now_ns);
void process_remove_thread(struct process *process, pid_t tid);
/* Threads are looked up anew; names that the agent told stay. */
void process_forget_threads(struct process *process);
/* What the agent told of a thread; inner_tid as that counts. -ENOMEM. */
int process_set_thread_name(struct process *process, pid_t inner_tid, const char *name);

/*
 * A name of the JVM's, which is modified UTF-8, for code and threads: converted, cut, and one
 * pointer for equal ones. NULL if it is empty.
 */
const char *process_name(struct process *process, const char *text, size_t len);
/* Moves the names that are still held to a new pool, if that is due. No other is valid then. */
void process_compact_names(struct process *process, uint64_t now_ns);

/* The Kubernetes pod that it runs in: its name, or its UID if that is all; "" if in none. */
const char *process_pod(const struct process *process);

/*
 * Names of the interpreted method whose Method* that is, as java_methods_find; or NULL and why, a
 * static text. Each that has none is counted in struct jvm's unnamed_methods.
 */
const struct java_method *process_java_method(struct process *process, uint64_t addr,
					      uint64_t now_ns, const char **ret_reason);

/* Makes the process's workload anew, of what is known of its container and of its agent. */
void process_identify(struct process *process);

/* What a person calls it: main class or jar of a JVM, else comm. Into ret, terminated. */
void process_title(const struct process *process, char *ret, size_t size);

/* Whether that process maps libjvm.so now; reads /proc/<pid>/maps. */
bool process_maps_libjvm(pid_t pid);
/* Whether it runs a JVM, and whether libfgagent.so is loaded in it, by its mappings' paths. */
bool process_has_libjvm(const struct process *process);
bool process_has_agent(const struct process *process);

const char *jvm_state_name(enum jvm_state state);

#endif
