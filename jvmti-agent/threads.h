// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   threads whose name the kernel cut at 15 bytes -> THREAD records with the full name
 * units:   thread IDs of the process's own PID namespace
 * threads: the agent's own, which is attached to the JVM while names are asked for
 * errors:  what cannot be found out is left out; without the means the feature is off
 * source:  proc(5) task and comm; java.lang.Thread.eetop, the JVM's own thread behind a Thread
 *
 * Nothing is kept of a thread but a bit. Virtual threads have no ID and are not looked at; a thread
 * that is renamed later keeps the name it was seen with.
 */
#ifndef FGAGENT_THREADS_H
#define FGAGENT_THREADS_H

#include "recorder.h"
#include "hotspot/vmstructs.h"

#include <jvmti.h>

#define THREADS_COMM_BYTES 15
#define THREADS_BITS	   65536u /* thread IDs are kept modulo this */

struct threads_bits {
	uint64_t words[THREADS_BITS / 64];
};

struct threads {
	bool on;
	bool again; /* something was put off to the next scan */
	bool first; /* of this connection */
	size_t osthread_at, thread_id_at;
	uint64_t scan_at_ns;
	uint32_t last_pid;
	struct threads_bits present, done;
};

/* Off if the option says so or the JVM does not show where its thread IDs are. */
void threads_init(struct threads *threads, bool wanted, const struct vmstructs *vm);
/* A new connection knows no names yet. */
void threads_restart(struct threads *threads);
/* If it is time: looks for new threads and adds records. */
void threads_scan(struct threads *threads, JavaVM *vm, jvmtiEnv *jvmti, struct recorder *recorder);

/* Whether the JVM would have made comm, of 15 bytes, from that longer name. */
bool threads_is_cut_from(const char *comm, const char *name);

#endif
