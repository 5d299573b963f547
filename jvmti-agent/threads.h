// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   threads whose name the kernel has cut at 15 bytes -> THREAD records with the full name
 * units:   thread IDs of the process's own PID namespace
 * threads: the agent's own, which is attached to the JVM while it asks for names
 * errors:  a name that cannot be found is left out; without the JVM's offsets the feature is off
 * source:  proc(5) task, comm and mem; java.lang.Thread.eetop, the pointer to the JVM's own thread
 *
 * Two bits are kept of each thread and nothing else. Virtual threads have no thread ID and are not
 * looked at. A thread that is renamed keeps the name that was seen first.
 */
#ifndef FGAGENT_THREADS_H
#define FGAGENT_THREADS_H

#include "hotspot/vmstructs.h"
#include "recorder.h"

#include <jvmti.h>

#define THREADS_COMM_BYTES 15
#define THREADS_BITS	   65536u /* a thread's bit is its ID modulo this */

struct threads_bits {
	uint64_t words[THREADS_BITS / 64];
};

struct threads {
	bool on;
	bool again; /* a thread was left for the next scan */
	bool first; /* the next scan is the first of this connection */
	size_t osthread_at, thread_id_at;
	uint64_t scan_at_ns;
	uint32_t last_pid;
	struct threads_bits present, done;
};

/* Turns the feature on if it is wanted and the JVM shows where thread IDs are. */
void threads_init(struct threads *threads, bool wanted, const struct vmstructs *vm);
/* Call it for a new connection, whose collector knows no names. */
void threads_restart(struct threads *threads);
/* Looks for new threads once a second, and adds records of their names. */
void threads_scan(struct threads *threads, JavaVM *vm, jvmtiEnv *jvmti, struct recorder *recorder);

/* Whether the JVM would have cut name to comm, which has 15 bytes. */
bool threads_is_cut_from(const char *comm, const char *name);

#endif
