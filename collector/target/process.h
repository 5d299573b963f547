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
#ifndef FG_TARGET_PROCESS_H
#define FG_TARGET_PROCESS_H

#include "base/intern.h"
#include "base/map64.h"
#include "shared/wire.h"
#include "target/address_space.h"
#include "target/code_map.h"
#include "target/container.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PROCESS_COMM_BYTES 16

/* What the agent said of its JVM. Texts are interned in the process's names. */
struct jvm_attr {
	const char *key, *text;
};

struct jvm_value {
	const char *key;
	int64_t value;
};

enum jvm_state {
	JVM_RESYNCING, /* connected, its code is not all known yet */
	JVM_CURRENT,   /* connected, all known */
	JVM_DISCONNECTED,
	JVM_ENDED, /* said bye, or the process is gone */
};

struct jvm {
	enum jvm_state state;
	uint32_t session;
	uint32_t hello_flags; /* enum wire_hello_flags */
	struct jvm_attr *attrs;
	size_t n_attrs;
	struct jvm_value *values; /* vmStructs */
	size_t n_values;
	uint64_t lost[WIRE_LOSS_REASONS]; /* by the agent, since its start */
	uint64_t gaps;		  /* messages missing between agent and collector */
	uint64_t bad_records;	  /* too short for their kind, or before the hello */
	uint64_t unknown_records; /* of a kind that this version does not know */
	uint32_t resyncs;	  /* complete ones */
};

struct thread {
	pid_t tid;
	pid_t inner_tid;
	char comm[PROCESS_COMM_BYTES];
};

struct process {
	pid_t pid;
	pid_t inner_pid;
	uint64_t start_ticks;
	int64_t clock_offset_ns; /* its CLOCK_MONOTONIC minus ours: a time namespace */
	char comm[PROCESS_COMM_BYTES];
	char container_id[CONTAINER_ID_BYTES]; /* "" if in none */
	struct address_space space;
	struct code_map *code; /* NULL without an agent */
	struct jvm *jvm;       /* NULL without an agent */
	struct intern names;
	struct map64 threads;	   /* TID -> struct thread */
	struct map64 thread_names; /* inner TID -> interned full name */

	uint64_t map_changed_ns; /* of the first change that the perf map lacks; 0: none */
	uint64_t map_written_ns;
	uint64_t map_failures;
	uint64_t gone_ns;	     /* when it was found to be gone; 0: it is there */
	bool was_announced;
	char shadow_path[PATH_MAX]; /* a map in the container that hides ours from perf; "" */
};

/* Reads what /proc says of pid. -ESRCH if it is gone. */
int process_new(pid_t pid, uint64_t start_ticks, struct process **ret);
void process_free(struct process *process); /* NULL is legal */

/* Makes code map and jvm for it if it has none. */
int process_add_jvm(struct process *process);

/* The agent's hello; replaces what an earlier one said. */
int process_set_hello(struct process *process, const struct wire_hello *hello);
/* An attribute's text or NULL; a value of vmStructs or false. */
const char *process_attr(const struct process *process, const char *key);
bool process_value(const struct process *process, const char *key, int64_t *ret);

/*
 * The thread's full name where the agent told it, else its comm; borrowed until the next change.
 * "" if the thread was gone before anybody looked.
 */
const char *process_thread_name(struct process *process, pid_t tid);
void process_set_comm(struct process *process, pid_t tid, const char *comm);
void process_remove_thread(struct process *process, pid_t tid);

/* What a person calls it: main class or jar of a JVM, else comm. Into ret, terminated. */
void process_title(const struct process *process, char *ret, size_t size);

/* Whether it runs a JVM, and whether libfgagent.so is loaded in it, by its mappings' paths. */
bool process_has_libjvm(const struct process *process);
bool process_has_agent(const struct process *process);

const char *jvm_state_name(enum jvm_state state);

#endif
