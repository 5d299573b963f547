// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   all code that the JVM has now -> records between RESYNC_BEGIN and RESYNC_END
 * units:   none
 * threads: the agent's own, which is attached to the JVM meanwhile and detached afterwards
 * errors:  false if the resynchronisation is not complete; RESYNC_END says so too
 * source:  JVMTI GenerateEvents
 *
 * The thread waits for the socket only between two GenerateEvents. What finds no room in one is
 * told in parts, by the code's address, each of which fits.
 */
#ifndef FGAGENT_RESYNC_H
#define FGAGENT_RESYNC_H

#include "events.h"
#include "recorder.h"

#include <jvmti.h>

/* All pointers are borrowed. */
struct resync {
	JavaVM *vm;
	jvmtiEnv *jvmti;
	struct recorder *recorder;
	struct events *events;
	/* becomes true when the JVM ends: then the JVM is not asked for code */
	const atomic_bool *quit;
	events_send *flush; /* sends all, and waits for room */
	events_send *offer; /* sends what the socket takes at once */
	void *context;	    /* argument of both */
	uint32_t epoch;	    /* number of this resynchronisation */
};

bool resync_run(const struct resync *resync);

#endif
