// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   sampled objects -> weak references to some of them -> the numbers of those that died
 * units:   LIVE_OBJECTS_MAX references at most
 * threads: live_objects_watch on any thread of the JVM; the rest on the agent's own, while attached
 * errors:  an object to which the JVM gives no reference is not watched
 * source:  the JNI specification, weak global references
 *
 * A number is never 0, and is used once in a JVM's life. Its bits are evenly spread. At level n the
 * objects whose numbers have n zeros at their low end are watched, and no others. An object that
 * finds the table full raises the level, and whatever does not fit it is forgotten. So each sampled
 * object is watched with the probability 2^-level, whenever it was allocated.
 *
 * A round begins when the table is emptied: level 0 again. The word of a round is the number of
 * rounds before it, times 256, and the level. The word only rises.
 *
 * No function waits for another thread. A thread that works on a slot has claimed it by its number.
 */
#ifndef FGAGENT_PROBES_LIVE_OBJECTS_H
#define FGAGENT_PROBES_LIVE_OBJECTS_H

#include <jni.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define LIVE_OBJECTS_MAX	4096u /* a power of two */
#define LIVE_OBJECTS_LEVEL_BITS 8

struct live_slot {
	_Atomic uint64_t number; /* 0: free; all ones: of a thread that works on it */
	jweak ref;
};

/* Zero-filled at first. */
struct live_objects {
	_Atomic uint64_t last;	/* so many numbers have been given */
	_Atomic uint64_t round; /* its word */
	_Atomic uint32_t count; /* references, or a few more */
	struct live_slot slots[LIVE_OBJECTS_MAX];
};

/* The object's number if it is watched from now on, else 0. */
uint64_t live_objects_watch(struct live_objects *objects, JNIEnv *jni, jobject object);

/*
 * Forgets the objects that the JVM has collected, and calls dead with each one's number. Forgets
 * what does not fit the level.
 */
void live_objects_look(struct live_objects *objects, JNIEnv *jni,
		       void (*dead)(void *arg, uint64_t number), void *arg);
/* Forgets all objects, and begins a round. */
void live_objects_empty(struct live_objects *objects, JNIEnv *jni);
/* Nothing is watched, and no object has raised the level. */
bool live_objects_are_none(const struct live_objects *objects);

uint64_t live_objects_round(const struct live_objects *objects);
uint32_t live_objects_count(const struct live_objects *objects);

#endif
