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
 * agent's own thread, inside GenerateEvents, has room made for its record, which carries the RESYNC
 * flag.
 */
#ifndef FGAGENT_EVENTS_H
#define FGAGENT_EVENTS_H

#include "hotspot/nmethods.h"
#include "naming.h"
#include "recorder.h"

#include <jvmti.h>

/* Switches the JVM's events of code on. The calling thread is attached, or it is in OnLoad. */
bool events_enable(jvmtiEnv *jvmti);

/* Sends all records of the buffer: 0, or negative errno if the connection has ended. */
typedef int events_make_room(void *context);

struct events {
	struct recorder *recorder;
	struct naming naming;
	struct nmethods nmethods;
	atomic_bool resyncing;
	/* Set before resyncing becomes true, and read only while resyncing is true. */
	pthread_t resync_thread;
	events_make_room *make_room;
	void *context;
	bool resync_lost;
};

/*
 * Call them around GenerateEvents, on the same thread. events_end_resync returns whether all
 * records were kept.
 */
void events_begin_resync(struct events *events, events_make_room *make_room, void *context);
bool events_end_resync(struct events *events);

void events_method_load(struct events *events, jmethodID method, jint size, const void *addr,
			const void *compile_info);
void events_method_unload(struct events *events, const void *addr);
void events_stub(struct events *events, const char *name, const void *addr, jint size);

#endif
