// SPDX-License-Identifier: Apache-2.0
/*
 * Switches the events of probes, see probe_switch.h. The agent's thread attaches for each change,
 * because the JVM switches no event for a thread that it does not know.
 */
#include "probes/probe_switch.h"

#include "clock.h"
#include "jni_thread.h"
#include "probes/points.h"

#include <string.h>

#define LOOK_NS		  (100 * CLOCK_NS_PER_MS)
#define ASK_AGAIN_NS	  (1000 * CLOCK_NS_PER_MS) /* for a capability that was refused */
#define LIVE_NS		  (1000 * CLOCK_NS_PER_MS) /* for deaths of watched objects */
#define SAMPLED_SINCE_JDK 11

static const jvmtiCapabilities alloc_capability = {.can_generate_sampled_object_alloc_events = 1};
static const jvmtiCapabilities lock_capability = {.can_generate_monitor_events = 1};

static bool is_since(jvmtiEnv *jvmti, jint jdk)
{
	jint version = 0;

	return (*jvmti)->GetVersionNumber(jvmti, &version) == JVMTI_ERROR_NONE &&
	       (version & JVMTI_VERSION_MASK_MAJOR) >> JVMTI_VERSION_SHIFT_MAJOR >= jdk;
}

void probe_switch_init(struct probe_switch *probes, JavaVM *vm, jvmtiEnv *jvmti,
		       struct probe_events *events)
{
	jvmtiCapabilities offered = {0};

	probes->vm = vm;
	probes->jvmti = jvmti;
	probes->events = events;
	/* Another agent may hold the capability at the moment, so its bit says nothing. */
	probes->offers_alloc = is_since(jvmti, SAMPLED_SINCE_JDK);
	probes->offers_lock =
		(*jvmti)->GetPotentialCapabilities(jvmti, &offered) == JVMTI_ERROR_NONE &&
		offered.can_generate_monitor_events;
}

static bool set_event(jvmtiEnv *jvmti, jvmtiEventMode mode, jvmtiEvent event)
{
	return (*jvmti)->SetEventNotificationMode(jvmti, mode, event, NULL) == JVMTI_ERROR_NONE;
}

static void stop_allocs(struct probe_switch *probes)
{
	jvmtiEnv *jvmti = probes->jvmti;

	set_event(jvmti, JVMTI_DISABLE, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC);
	(*jvmti)->RelinquishCapabilities(jvmti, &alloc_capability);
	probes->alloc_interval = 0;
}

static bool set_interval(struct probe_switch *probes, uint32_t interval)
{
	atomic_store(&probes->events->alloc_interval, interval);
	probes->alloc_interval = interval;
	return (*probes->jvmti)->SetHeapSamplingInterval(probes->jvmti, (jint)interval) ==
	       JVMTI_ERROR_NONE;
}

static void start_allocs(struct probe_switch *probes, uint32_t interval)
{
	jvmtiEnv *jvmti = probes->jvmti;

	probes->is_alloc_refused =
		(*jvmti)->AddCapabilities(jvmti, &alloc_capability) != JVMTI_ERROR_NONE;
	if (probes->is_alloc_refused ||
	    (set_interval(probes, interval) &&
	     set_event(jvmti, JVMTI_ENABLE, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC)))
		return;
	stop_allocs(probes);
	probes->is_alloc_refused = true;
}

static void switch_allocs(struct probe_switch *probes, uint32_t interval)
{
	if (interval == 0)
		stop_allocs(probes);
	else if (probes->alloc_interval == 0)
		start_allocs(probes, interval);
	else
		set_interval(probes, interval);
}

static void stop_locks(struct probe_switch *probes)
{
	jvmtiEnv *jvmti = probes->jvmti;

	set_event(jvmti, JVMTI_DISABLE, JVMTI_EVENT_MONITOR_CONTENDED_ENTER);
	set_event(jvmti, JVMTI_DISABLE, JVMTI_EVENT_MONITOR_CONTENDED_ENTERED);
	(*jvmti)->RelinquishCapabilities(jvmti, &lock_capability);
	probes->is_lock_on = false;
}

static void start_locks(struct probe_switch *probes)
{
	jvmtiEnv *jvmti = probes->jvmti;

	if ((*jvmti)->AddCapabilities(jvmti, &lock_capability) != JVMTI_ERROR_NONE) {
		probes->is_lock_refused = true;
		return;
	}
	atomic_store(&probes->events->lock_since_ns, clock_monotonic_ns());
	probes->is_lock_on =
		set_event(jvmti, JVMTI_ENABLE, JVMTI_EVENT_MONITOR_CONTENDED_ENTERED) &&
		set_event(jvmti, JVMTI_ENABLE, JVMTI_EVENT_MONITOR_CONTENDED_ENTER);
	probes->is_lock_refused = !probes->is_lock_on;
	if (!probes->is_lock_on)
		stop_locks(probes);
}

/* 0: nobody traces allocations, or this JVM does not sample them. */
static uint32_t wanted_interval(const struct probe_switch *probes)
{
	return probes->offers_alloc ? points_alloc_interval() : 0;
}

static bool are_locks_wanted(const struct probe_switch *probes)
{
	return probes->offers_lock && points_locks_are_traced();
}

uint64_t probe_switch_next_look_ns(void)
{
	const uint64_t now_ns = clock_monotonic_ns();

	return now_ns - now_ns % LOOK_NS + LOOK_NS;
}

bool probe_switch_is_quiet(const struct probe_switch *probes)
{
	return probes->alloc_interval == 0 && !probes->is_lock_on && !probes->is_alloc_refused &&
	       !probes->is_lock_refused && wanted_interval(probes) == 0 &&
	       !are_locks_wanted(probes) && live_objects_are_none(&probes->events->live);
}

/*
 * Whether there is something to be done with watched objects. A callback that is late may have
 * watched one after the last tracer has gone.
 */
static bool are_live_due(const struct probe_switch *probes, uint64_t now_ns)
{
	const bool are_none = live_objects_are_none(&probes->events->live);

	if (!points_deaths_are_traced())
		return !are_none;
	return (!are_none || probes->alloc_interval) && now_ns >= probes->live_at_ns;
}

static void look_at_live(struct probe_switch *probes, JNIEnv *jni, uint64_t now_ns)
{
	if (points_deaths_are_traced())
		probe_events_look_at_live(probes->events, jni);
	else
		live_objects_empty(&probes->events->live, jni);
	probes->live_at_ns = now_ns + LIVE_NS - LOOK_NS / 2;
}

void probe_switch_look(struct probe_switch *probes)
{
	const uint32_t interval = wanted_interval(probes);
	const bool locks = are_locks_wanted(probes);
	const uint64_t now_ns = clock_monotonic_ns();

	probes->look_at_ns = probe_switch_next_look_ns();
	probes->is_alloc_refused &= interval != 0;
	probes->is_lock_refused &= locks;
	/* Who has a capability may give it back meanwhile: the JVM tells nobody of that. */
	const bool asks_again = now_ns >= probes->ask_at_ns;
	const bool allocs_differ =
		interval != probes->alloc_interval && (!probes->is_alloc_refused || asks_again);
	const bool locks_differ =
		locks != probes->is_lock_on && (!probes->is_lock_refused || asks_again);
	const bool live = are_live_due(probes, now_ns);
	JNIEnv *jni;

	if (!allocs_differ && !locks_differ && !live)
		return;
	jni = jni_thread_attach(probes->vm);
	if (!jni)
		return;
	if (allocs_differ)
		switch_allocs(probes, interval);
	if (locks_differ && locks)
		start_locks(probes);
	else if (locks_differ)
		stop_locks(probes);
	if (live)
		look_at_live(probes, jni, now_ns);
	if (probes->is_alloc_refused || probes->is_lock_refused)
		probes->ask_at_ns = now_ns + ASK_AGAIN_NS;
	jni_thread_detach(probes->vm);
}

void probe_switch_restart(struct probe_switch *probes)
{
	probes->told = (struct wire_probes){0};
	probes->look_at_ns = 0;
}

static struct wire_probes read_state(const struct probe_switch *probes)
{
	struct probe_events *events = probes->events;

	return (struct wire_probes){
		.flags = (probes->alloc_interval ? WIRE_PROBES_ALLOC : 0u) |
			 (probes->is_lock_on ? WIRE_PROBES_LOCK : 0u) |
			 (probes->is_alloc_refused ? WIRE_PROBES_ALLOC_REFUSED : 0u) |
			 (probes->is_lock_refused ? WIRE_PROBES_LOCK_REFUSED : 0u),
		.alloc_interval = probes->alloc_interval,
		.alloc_events = atomic_load(&events->alloc_events),
		.alloc_bytes = atomic_load(&events->alloc_bytes),
		.lock_events = atomic_load(&events->lock_events),
		.lock_ns = atomic_load(&events->lock_ns),
		.live_objects = live_objects_count(&events->live),
		.live_level = (uint32_t)(live_objects_round(&events->live) &
					 ((1u << LIVE_OBJECTS_LEVEL_BITS) - 1)),
	};
}

bool probe_switch_tell(struct probe_switch *probes, struct wire_probes *ret)
{
	const struct wire_probes state = read_state(probes);

	if (memcmp(&state, &probes->told, sizeof(state)) == 0)
		return false;
	probes->told = state;
	*ret = state;
	ret->time_ns = clock_monotonic_ns();
	return true;
}
