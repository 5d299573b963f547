// SPDX-License-Identifier: Apache-2.0
/*
 * The table of watched objects, see live_objects.h. An object's slot is the first free one behind
 * the place that the number's high bits say. Deaths free slots anywhere, so nothing is ever found
 * by its number: looks go through all slots.
 */
#include "probes/live_objects.h"

#include <stddef.h>

#define CLAIMED	   UINT64_MAX
#define LEVEL_MASK ((UINT64_C(1) << LIVE_OBJECTS_LEVEL_BITS) - 1)
#define LEVEL_MAX  UINT64_C(40)
#define PLACE_BITS 12

_Static_assert(LIVE_OBJECTS_MAX == 1u << PLACE_BITS, "a place has so many bits");

/* One to one; 0 alone becomes 0. The finalizer of splitmix64 (Steele, Lea, Flood, 2014). */
static uint64_t spread(uint64_t n)
{
	n = (n ^ n >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	n = (n ^ n >> 27) * UINT64_C(0x94d049bb133111eb);
	return n ^ n >> 31;
}

static uint64_t next_number(struct live_objects *objects)
{
	uint64_t number;

	do {
		number = spread(atomic_fetch_add(&objects->last, 1) + 1);
	} while (number == 0 || number == CLAIMED);
	return number;
}

static bool fits(uint64_t number, uint64_t round)
{
	return (number & ((UINT64_C(1) << (round & LEVEL_MASK)) - 1)) == 0;
}

/* A slot for the number, which the caller fills; NULL: all are taken. */
static struct live_slot *claim_free(struct live_objects *objects, uint64_t number)
{
	const uint64_t place = number >> (64 - PLACE_BITS);

	for (uint64_t i = 0; i < LIVE_OBJECTS_MAX; i++) {
		struct live_slot *const slot =
			&objects->slots[(place + i) & (LIVE_OBJECTS_MAX - 1)];
		uint64_t seen = 0;

		if (atomic_load_explicit(&slot->number, memory_order_relaxed) == 0 &&
		    atomic_compare_exchange_strong(&slot->number, &seen, CLAIMED)) {
			atomic_fetch_add(&objects->count, 1);
			return slot;
		}
	}
	return NULL;
}

/* The number of a slot that is the caller's from now on; 0: it is free, or another thread's. */
static uint64_t claim_taken(struct live_slot *slot)
{
	uint64_t number = atomic_load(&slot->number);

	if (number == 0 || number == CLAIMED ||
	    !atomic_compare_exchange_strong(&slot->number, &number, CLAIMED))
		return 0;
	return number;
}

static void let_go(struct live_objects *objects, struct live_slot *slot)
{
	atomic_store(&slot->number, 0);
	atomic_fetch_sub(&objects->count, 1);
}

/* The slot is claimed. */
static void forget(struct live_objects *objects, JNIEnv *jni, struct live_slot *slot)
{
	const jweak ref = slot->ref;

	slot->ref = NULL;
	let_go(objects, slot);
	(*jni)->DeleteWeakGlobalRef(jni, ref);
}

/*
 * Forgets what does not fit the round that is now, which may be a later one than the caller has
 * seen. Returns whether there was any.
 */
static bool forget_unfit(struct live_objects *objects, JNIEnv *jni)
{
	bool has_any = false;

	for (size_t i = 0; i < LIVE_OBJECTS_MAX; i++) {
		struct live_slot *const slot = &objects->slots[i];
		/* Before the round: a number of a later round must not meet an older level. */
		uint64_t number = atomic_load(&slot->number);

		if (number == 0 || number == CLAIMED ||
		    fits(number, atomic_load(&objects->round)) ||
		    !atomic_compare_exchange_strong(&slot->number, &number, CLAIMED))
			continue;
		forget(objects, jni, slot);
		has_any = true;
	}
	return has_any;
}

/* False: the level is as high as may be. Another thread may have raised it meanwhile. */
static bool raise_level(struct live_objects *objects, JNIEnv *jni, uint64_t round)
{
	if ((round & LEVEL_MASK) >= LEVEL_MAX)
		return false;
	if (!forget_unfit(objects, jni) &&
	    atomic_compare_exchange_strong(&objects->round, &round, round + 1))
		forget_unfit(objects, jni);
	return true;
}

/* A reference; NULL: the JVM has no memory for it, and that is no error of the program's. */
static jweak refer_to(JNIEnv *jni, jobject object)
{
	const jweak ref = (*jni)->NewWeakGlobalRef(jni, object);

	if (!ref)
		(*jni)->ExceptionClear(jni);
	return ref;
}

uint64_t live_objects_watch(struct live_objects *objects, JNIEnv *jni, jobject object)
{
	const uint64_t number = next_number(objects);
	struct live_slot *slot = NULL;
	uint64_t round = atomic_load(&objects->round);

	while (fits(number, round) && !(slot = claim_free(objects, number))) {
		if (!raise_level(objects, jni, round))
			return 0;
		round = atomic_load(&objects->round);
	}
	if (!slot)
		return 0;
	slot->ref = refer_to(jni, object);
	if (!slot->ref) {
		let_go(objects, slot);
		return 0;
	}
	atomic_store(&slot->number, number);
	return number;
}

void live_objects_look(struct live_objects *objects, JNIEnv *jni,
		       void (*dead)(void *arg, uint64_t number), void *arg)
{
	for (size_t i = 0; i < LIVE_OBJECTS_MAX; i++) {
		struct live_slot *const slot = &objects->slots[i];
		const uint64_t number = claim_taken(slot);
		bool is_dead;

		if (number == 0)
			continue;
		is_dead = (*jni)->IsSameObject(jni, slot->ref, NULL);
		if (is_dead || !fits(number, atomic_load(&objects->round)))
			forget(objects, jni, slot);
		else
			atomic_store(&slot->number, number);
		if (is_dead)
			dead(arg, number);
	}
}

void live_objects_empty(struct live_objects *objects, JNIEnv *jni)
{
	const uint64_t round = atomic_load(&objects->round);

	/* A thread that raises the level now does so in vain, and looks at the new round. */
	atomic_store(&objects->round, (round | LEVEL_MASK) + 1);
	for (size_t i = 0; i < LIVE_OBJECTS_MAX; i++) {
		if (claim_taken(&objects->slots[i]) != 0)
			forget(objects, jni, &objects->slots[i]);
	}
}

bool live_objects_are_none(const struct live_objects *objects)
{
	return atomic_load(&objects->count) == 0 &&
	       (atomic_load(&objects->round) & LEVEL_MASK) == 0;
}

uint64_t live_objects_round(const struct live_objects *objects)
{
	return atomic_load(&objects->round);
}

uint32_t live_objects_count(const struct live_objects *objects)
{
	return atomic_load(&objects->count);
}
