// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a sampled allocation, or a wait for a monitor -> counters and the points of points.h
 * units:   bytes, CLOCK_MONOTONIC nanoseconds
 * threads: probe_events_alloc, _enter and _entered on any thread of the JVM; the rest on the
 *          agent's own
 * errors:  an event that the JVM does not tell enough of is left out
 * source:  JVMTI, SampledObjectAlloc, MonitorContendedEnter, MonitorContendedEntered
 *
 * A callback that finds no tracer does nothing. A callback takes no lock, and keeps no memory but
 * a weak reference to a sampled object while a tracer wants to be told of its death, and
 * one number in the thread's JVMTI storage, from Enter to Entered. That storage follows a virtual
 * thread from carrier to carrier.
 */
#ifndef FGAGENT_PROBES_PROBE_EVENTS_H
#define FGAGENT_PROBES_PROBE_EVENTS_H

#include "probes/live_objects.h"

#include <jvmti.h>
#include <stdatomic.h>
#include <stdint.h>

/* Zero-filled at first. The counters only rise. */
struct probe_events {
	_Atomic uint32_t alloc_interval; /* set before the event is switched on */
	_Atomic uint64_t alloc_events, alloc_bytes;
	struct live_objects live;	/* filled while deaths are traced */
	_Atomic uint64_t lock_since_ns; /* waits that began earlier are of an earlier tracer */
	_Atomic uint64_t last_wait;
	_Atomic uint64_t lock_events, lock_ns;
};

void probe_events_alloc(struct probe_events *events, jvmtiEnv *jvmti, JNIEnv *jni, jobject object,
			jclass class, jlong size);
/* Tells tracers which of the watched objects have died, and in any case the round. */
void probe_events_look_at_live(struct probe_events *events, JNIEnv *jni);
void probe_events_enter(struct probe_events *events, jvmtiEnv *jvmti, JNIEnv *jni, jobject lock);
void probe_events_entered(struct probe_events *events, jvmtiEnv *jvmti, JNIEnv *jni, jobject lock);

#endif
