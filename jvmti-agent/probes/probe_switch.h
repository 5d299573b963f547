// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   semaphores -> capabilities and events of the JVM, and the PROBES record
 * units:   bytes, CLOCK_MONOTONIC nanoseconds
 * threads: probe_switch_init in Agent_OnLoad; the rest on the agent's own
 * errors:  a capability that the JVM refuses is asked for again once a second while there are
 *          tracers
 * source:  JVMTI, AddCapabilities, SetHeapSamplingInterval; shared/README.md, PROBES
 *
 * Nothing but a semaphore switches a probe on: neither option nor command. Capabilities are held
 * only while a probe is on. The capability for exceptions is never taken, because it slows down
 * every throw for good.
 */
#ifndef FGAGENT_PROBES_PROBE_SWITCH_H
#define FGAGENT_PROBES_PROBE_SWITCH_H

#include "probes/probe_events.h"
#include "shared/wire.h"

#include <stdbool.h>

struct probe_switch {
	JavaVM *vm;
	jvmtiEnv *jvmti;
	struct probe_events *events;
	bool offers_alloc, offers_lock; /* this JVM has the event */
	uint32_t alloc_interval;	/* of the event that is on; 0: off */
	bool is_lock_on;
	bool is_alloc_refused, is_lock_refused;
	uint64_t look_at_ns; /* while a probe is on and a collector connected */
	uint64_t ask_at_ns;  /* for a capability that was refused */
	uint64_t live_at_ns; /* at watched objects; once a second */
	struct wire_probes told;
};

/* Borrows all three for the life of the process. */
void probe_switch_init(struct probe_switch *probes, JavaVM *vm, jvmtiEnv *jvmti,
		       struct probe_events *events);

/* Looks are made at multiples of some time, which is that of all agents of a host. */
uint64_t probe_switch_next_look_ns(void);
/* No probe is on, and no tracer is there for whom one would be switched on. */
bool probe_switch_is_quiet(const struct probe_switch *probes);
/*
 * Switches events on and off as the semaphores say. Tells of watched objects that have died, and
 * forgets them all when nobody traces deaths.
 */
void probe_switch_look(struct probe_switch *probes);

/* The collector is a new one, which has been told nothing. */
void probe_switch_restart(struct probe_switch *probes);
/* True if the record differs from what this collector has been told. */
bool probe_switch_tell(struct probe_switch *probes, struct wire_probes *ret);

#endif
