// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   JVMTI callbacks -> records
 * units:   addresses and sizes in bytes
 * threads: callbacks on any thread of the JVM; the other functions on the agent's own thread
 * errors:  counted by the recorder; a record is sent with the facts that could be read
 * source:  JVMTI specification, events CompiledMethodLoad, CompiledMethodUnload and
 *          DynamicCodeGenerated; HotSpot posts the first two on its Service Thread
 *
 * A callback on a thread of the JVM copies its record into the buffer and returns. If there is no
 * room, the record is counted as lost and a resynchronisation is asked for. A callback on the
 * agent's own thread, inside GenerateEvents, gives its record the RESYNC flag, sends what the
 * socket takes at once, and never waits either: HotSpot keeps alive all code that GenerateEvents
 * has not yet told, with its classes, and keeps its memory. If there is no room, the rest of this
 * GenerateEvents is left out and counted, and the caller asks for it again, in parts.
 */
#ifndef FGAGENT_EVENTS_H
#define FGAGENT_EVENTS_H

#include "hotspot/nmethods.h"
#include "naming.h"
#include "recorder.h"

#include <jvmti.h>

/* Switches the JVM's events of code on. The calling thread is attached, or it is in OnLoad. */
bool events_enable(jvmtiEnv *jvmti);

/* Sends records of the buffer: 0, or negative errno if the connection has ended. */
typedef int events_send(void *context);

/* The code whose address has these bits in its hash. All code: mask 0. */
struct events_part {
	uint32_t mask, bits;
};

/* What one GenerateEvents has told. */
struct events_told {
	size_t kept; /* records in the buffer */
	size_t left; /* records without room, and all behind the first of them */
};

struct events {
	struct recorder *recorder;
	struct naming naming;
	struct nmethods nmethods;
	_Atomic(pthread_t) resync_thread; /* 0, which is no thread: there is no resynchronisation */
	/* That thread's alone. */
	events_send *offer;
	void *context;
	struct events_part part;
	struct events_told told;
	size_t offer_at; /* the socket is tried when so many bytes wait */
};

/*
 * Call them around GenerateEvents, on the same thread. Code of other parts is skipped. offer must
 * not wait.
 */
void events_begin_resync(struct events *events, struct events_part part, events_send *offer,
			 void *context);
struct events_told events_end_resync(struct events *events);

void events_method_load(struct events *events, jmethodID method, jint size, const void *addr,
			const void *compile_info);
void events_method_unload(struct events *events, const void *addr);
void events_stub(struct events *events, const char *name, const void *addr, jint size);

#endif
