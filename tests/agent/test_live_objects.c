// SPDX-License-Identifier: Apache-2.0
/* The table of watched objects: who is in it, who dies, who is forgotten, in a crowd too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "agent/probes/live_objects.h"

#define THREADS 4
#define CROWD	20000

static struct live_objects objects;
static atomic_long refs;
static atomic_bool has_memory;
static struct JNINativeInterface_ functions;
static const struct JNINativeInterface_ *jni = &functions;

/* An object is alive if it is an even number. */
static jweak JNICALL new_ref(JNIEnv *env, jobject object)
{
	jobject *ref;

	(void)env;
	if (!atomic_load(&has_memory))
		return NULL;
	ref = malloc(sizeof(*ref));
	*ref = object;
	atomic_fetch_add(&refs, 1);
	return (jweak)(void *)ref;
}

static void JNICALL delete_ref(JNIEnv *env, jweak ref)
{
	(void)env;
	free(ref);
	atomic_fetch_sub(&refs, 1);
}

static jboolean JNICALL is_collected(JNIEnv *env, jobject ref, jobject none)
{
	(void)env;
	(void)none;
	return (uintptr_t) * (jobject *)(void *)ref & 1;
}

static void JNICALL clear_exception(JNIEnv *env)
{
	(void)env;
}

static int begin(void **state)
{
	functions.NewWeakGlobalRef = new_ref;
	functions.DeleteWeakGlobalRef = delete_ref;
	functions.IsSameObject = is_collected;
	functions.ExceptionClear = clear_exception;
	memset(&objects, 0, sizeof(objects));
	atomic_store(&has_memory, true);
	return 0;
}

/* Each reference has one slot, and the other way round. */
static int end(void **state)
{
	live_objects_empty(&objects, &jni);
	assert_true(live_objects_are_none(&objects));
	assert_int_equal(atomic_load(&refs), 0);
	return 0;
}

static uint64_t watch(uintptr_t object)
{
	return live_objects_watch(&objects, &jni, (jobject)object);
}

static uint64_t dead[4 * LIVE_OBJECTS_MAX];
static size_t n_dead;

static void note(void *arg, uint64_t number)
{
	(void)arg;
	dead[n_dead++] = number;
}

static void look(void)
{
	n_dead = 0;
	live_objects_look(&objects, &jni, note, NULL);
}

static unsigned level(void)
{
	return (unsigned)(live_objects_round(&objects) & 255);
}

static void the_dead_are_told_once(void **state)
{
	const uint64_t alive = watch(2), gone = watch(3);

	assert_true(alive && gone && alive != gone);
	assert_int_equal(live_objects_count(&objects), 2);
	look();
	assert_int_equal(n_dead, 1);
	assert_int_equal(dead[0], gone);
	assert_int_equal(live_objects_count(&objects), 1);
	look();
	assert_int_equal(n_dead, 0);
}

static void a_table_of_all_slots_is_level_0(void **state)
{
	for (uintptr_t i = 0; i < LIVE_OBJECTS_MAX; i++)
		assert_int_not_equal(watch(2 * i + 2), 0);
	assert_int_equal(level(), 0);
	assert_int_equal(atomic_load(&refs), LIVE_OBJECTS_MAX);
}

/* Whoever is watched fits the level, and whoever fits the level is watched, from the first on. */
static void numbers_say_who_is_watched(void **state)
{
	static uint64_t numbers[16 * LIVE_OBJECTS_MAX];
	size_t n = 0, fitting = 0;

	for (uintptr_t i = 0; i < 16 * LIVE_OBJECTS_MAX; i++) {
		const uint64_t number = watch(3);

		if (number)
			numbers[n++] = number;
	}
	assert_in_range(level(), 4, 5);
	look();
	for (size_t i = 0; i < n; i++)
		fitting += numbers[i] % (UINT64_C(1) << level()) == 0;
	assert_int_equal(n_dead, fitting);
	for (size_t i = 0; i < n_dead; i++)
		assert_int_equal(dead[i] % (UINT64_C(1) << level()), 0);
	assert_in_range(n_dead << level(), 14 * LIVE_OBJECTS_MAX, 18 * LIVE_OBJECTS_MAX);
}

/* Whoever allocates by turns has a share of each kind. */
static void numbers_have_nothing_of_their_order(void **state)
{
	size_t even = 0;

	for (uintptr_t i = 0; i < LIVE_OBJECTS_MAX; i++) {
		const uint64_t number = watch(2);

		assert_int_not_equal(number, 0);
		even += i % 2 == 0 && number % 2 == 0;
	}
	assert_in_range(even, LIVE_OBJECTS_MAX / 5, LIVE_OBJECTS_MAX * 3 / 10);
}

static void a_round_begins_with_an_empty_table(void **state)
{
	uint64_t before;

	for (uintptr_t i = 0; i < 2 * LIVE_OBJECTS_MAX; i++)
		watch(2);
	before = live_objects_round(&objects);
	assert_int_not_equal(level(), 0);
	live_objects_empty(&objects, &jni);
	assert_int_equal(live_objects_round(&objects), 256);
	assert_true(live_objects_round(&objects) > before);
	assert_true(live_objects_are_none(&objects));
	look();
	assert_int_equal(n_dead, 0);
}

static void without_memory_nothing_is_watched(void **state)
{
	atomic_store(&has_memory, false);
	assert_int_equal(watch(2), 0);
	assert_int_equal(live_objects_count(&objects), 0);
	atomic_store(&has_memory, true);
	for (uintptr_t i = 0; i < LIVE_OBJECTS_MAX; i++)
		assert_int_not_equal(watch(2), 0);
	assert_int_equal(level(), 0);
}

static atomic_bool is_over;

static void *allocate(void *arg)
{
	for (uintptr_t i = 0; i < CROWD; i++)
		watch(2 * i + (i % 8 != 0));
	return arg;
}

static void *look_on(void *arg)
{
	while (!atomic_load(&is_over)) {
		look();
		if (arg)
			live_objects_empty(&objects, &jni);
	}
	return NULL;
}

static void run_crowd(bool empties)
{
	pthread_t threads[THREADS], looker;

	atomic_store(&is_over, false);
	assert_int_equal(pthread_create(&looker, NULL, look_on, empties ? &is_over : NULL), 0);
	for (size_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, allocate, NULL), 0);
	for (size_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	atomic_store(&is_over, true);
	assert_int_equal(pthread_join(looker, NULL), 0);
	assert_int_equal(atomic_load(&refs), live_objects_count(&objects));
	assert_in_range(live_objects_count(&objects), 0, LIVE_OBJECTS_MAX);
}

static void no_reference_is_lost_in_a_crowd(void **state)
{
	run_crowd(false);
}

static void no_reference_is_left_when_tracers_come_and_go(void **state)
{
	run_crowd(true);
}

int main(void)
{
#define CLAIM(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		CLAIM(the_dead_are_told_once),
		CLAIM(a_table_of_all_slots_is_level_0),
		CLAIM(numbers_say_who_is_watched),
		CLAIM(numbers_have_nothing_of_their_order),
		CLAIM(a_round_begins_with_an_empty_table),
		CLAIM(without_memory_nothing_is_watched),
		CLAIM(no_reference_is_lost_in_a_crowd),
		CLAIM(no_reference_is_left_when_tracers_come_and_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
