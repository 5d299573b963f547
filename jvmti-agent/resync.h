// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   all code that the JVM has now -> records between RESYNC_BEGIN and RESYNC_END
 * units:   none
 * threads: the agent's own, which is attached to the JVM meanwhile and detached after
 * errors:  false if the repetition is not complete; that is also what END says
 * source:  JVMTI GenerateEvents
 */
#ifndef FGAGENT_RESYNC_H
#define FGAGENT_RESYNC_H

#include "events.h"
#include "recorder.h"

#include <jvmti.h>

/* All of it is borrowed. */
struct resync {
	JavaVM *vm;
	jvmtiEnv *jvmti;
	struct recorder *recorder;
	struct events *events;
	const atomic_bool *quit; /* becomes true when the JVM ends: no code is asked for then */
	events_make_room *make_room;
	void *context;	/* make_room's */
	uint32_t epoch; /* the number of this repetition */
};

bool resync_run(const struct resync *resync);

#endif
