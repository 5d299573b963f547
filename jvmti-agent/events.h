// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   JVMTI callbacks -> records
 * units:   addresses and sizes in bytes
 * threads: callbacks on any thread of the JVM; the rest on the agent's own
 * errors:  counted by the recorder; a record goes out with what is known
 * source:  JVMTI specification, events CompiledMethodLoad, CompiledMethodUnload and
 *          DynamicCodeGenerated; HotSpot posts the first two on its Service Thread
 *
 * A callback on a thread of the JVM copies and returns: if there is no room, the record is counted
 * as lost and a resynchronisation is asked for. The agent's own thread, inside GenerateEvents, has
 * room made for it instead, and its records carry the RESYNC flag.
 */
#ifndef FGAGENT_EVENTS_H
#define FGAGENT_EVENTS_H

#include "naming.h"
#include "hotspot/nmethods.h"
#include "recorder.h"

#include <jvmti.h>

/* Empties the buffer to the socket: 0, or negative errno when the connection has gone. */
typedef int events_make_room(void *context);

struct events {
	struct recorder *recorder;
	struct naming naming;
	struct nmethods nmethods;
	atomic_bool resyncing;
	/* Set before resyncing is, and read only while it is. */
	pthread_t resync_thread;
	events_make_room *make_room;
	void *context;
	bool resync_lost;
};

/* Around GenerateEvents, on the thread that calls it; end returns whether no record was lost. */
void events_begin_resync(struct events *events, events_make_room *make_room, void *context);
bool events_end_resync(struct events *events);

void events_method_load(struct events *events, jmethodID method, jint size, const void *addr,
			const void *compile_info);
void events_method_unload(struct events *events, const void *addr);
void events_stub(struct events *events, const char *name, const void *addr, jint size);

#endif
