// SPDX-License-Identifier: Apache-2.0
/*
 * The callbacks of the events that probes need, see probe_events.h.
 *
 * The number of a wait is the time at which the wait began, moved up where two waits began at the
 * same time. So one word holds both what pairs Enter with Entered and what the duration is made of.
 */
#include "probes/probe_events.h"

#include "clock.h"
#include "probes/class_text.h"
#include "probes/points.h"

#include <string.h>

static void add(_Atomic uint64_t *counter, uint64_t n)
{
	atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

void probe_events_alloc(struct probe_events *events, jvmtiEnv *jvmti, JNIEnv *jni, jobject object,
			jclass class, jlong size)
{
	/* Before the object is watched: of a later round than is told, it is merely not counted. */
	const uint64_t round = live_objects_round(&events->live);
	char class_sig[CLASS_TEXT_BYTES];
	uint64_t number = 0;

	if (points_alloc_interval() == 0)
		return;
	add(&events->alloc_events, 1);
	add(&events->alloc_bytes, (uint64_t)size);
	class_text_read(class_sig, jvmti, class);
	if (points_deaths_are_traced())
		number = live_objects_watch(&events->live, jni, object);
	points_fire_alloc(class_sig, (uint64_t)size, atomic_load(&events->alloc_interval), number,
			  round);
}

/* The dead that the next hit tells. */
struct dead_list {
	uint64_t round, objects[POINTS_DEAD_OBJECTS];
	size_t n;
};

static void tell_dead(struct dead_list *list)
{
	points_fire_dead(list->round, list->objects);
	memset(list->objects, 0, sizeof(list->objects));
	list->n = 0;
}

static void note_dead(void *arg, uint64_t number)
{
	struct dead_list *const list = arg;

	list->objects[list->n++] = number;
	if (list->n == POINTS_DEAD_OBJECTS)
		tell_dead(list);
}

void probe_events_look_at_live(struct probe_events *events, JNIEnv *jni)
{
	struct dead_list list = {.round = live_objects_round(&events->live)};

	live_objects_look(&events->live, jni, note_dead, &list);
	list.round = live_objects_round(&events->live);
	tell_dead(&list);
}

static void read_class_of(char to[CLASS_TEXT_BYTES], jvmtiEnv *jvmti, JNIEnv *jni, jobject object)
{
	jclass class = (*jni)->GetObjectClass(jni, object);

	to[0] = 0;
	if (!class)
		return;
	class_text_read(to, jvmti, class);
	(*jni)->DeleteLocalRef(jni, class);
}

/* A number of its own for a wait that begins now. */
static uint64_t number_wait(struct probe_events *events)
{
	const uint64_t now_ns = clock_monotonic_ns();
	uint64_t last = atomic_load(&events->last_wait), wait;

	do {
		wait = now_ns > last ? now_ns : last + 1;
	} while (!atomic_compare_exchange_weak(&events->last_wait, &last, wait));
	return wait;
}

/* NULL is the thread that calls. */
static jvmtiError keep_wait(jvmtiEnv *jvmti, uint64_t wait)
{
	return (*jvmti)->SetThreadLocalStorage(jvmti, NULL, (void *)(uintptr_t)wait);
}

void probe_events_enter(struct probe_events *events, jvmtiEnv *jvmti, JNIEnv *jni, jobject lock)
{
	char class_sig[CLASS_TEXT_BYTES];
	uint64_t wait;

	if (!points_locks_are_traced())
		return;
	wait = number_wait(events);
	if (keep_wait(jvmti, wait) != JVMTI_ERROR_NONE)
		return;
	read_class_of(class_sig, jvmti, jni, lock);
	points_fire_lock_enter(class_sig, wait);
}

/* The wait that this thread has kept, which is kept no longer; 0: none of this tracer's. */
static uint64_t take_wait(const struct probe_events *events, jvmtiEnv *jvmti)
{
	void *kept = NULL;
	uint64_t wait;

	if ((*jvmti)->GetThreadLocalStorage(jvmti, NULL, &kept) != JVMTI_ERROR_NONE || !kept)
		return 0;
	keep_wait(jvmti, 0);
	wait = (uint64_t)(uintptr_t)kept;
	return wait >= atomic_load(&events->lock_since_ns) ? wait : 0;
}

void probe_events_entered(struct probe_events *events, jvmtiEnv *jvmti, JNIEnv *jni, jobject lock)
{
	const uint64_t now_ns = clock_monotonic_ns();
	const uint64_t wait = take_wait(events, jvmti);
	const uint64_t duration_ns = now_ns > wait ? now_ns - wait : 0;
	char class_sig[CLASS_TEXT_BYTES];

	if (wait == 0 || !points_locks_are_traced())
		return;
	add(&events->lock_events, 1);
	add(&events->lock_ns, duration_ns);
	read_class_of(class_sig, jvmti, jni, lock);
	points_fire_lock_entered(class_sig, duration_ns, wait);
}
