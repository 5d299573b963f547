// SPDX-License-Identifier: Apache-2.0
/* Waits are what their begins and ends say together, whatever a hostile agent says. */
#include "probes/lock_waits.h"

#include "process/process.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)

static const struct symbolizer_verdict verdict = {.is_rooted = true, .is_java_named = true};
static const struct stack whole = {.depth = 1, .end = STACK_WHOLE};

static uint64_t (*owner_user)(pid_t pid);

static uint64_t own_user(pid_t pid)
{
	return (uint64_t)pid;
}

static int set_up(void **state)
{
	struct lock_waits *waits;

	owner_user = own_user;
	assert_int_equal(lock_waits_new(&waits), 0);
	*state = waits;
	return 0;
}

static int tear_down(void **state)
{
	lock_waits_free(*state);
	return 0;
}

static struct record event(enum sample_of kind, pid_t pid, uint64_t number, uint64_t time_ns)
{
	return (struct record){
		.kind = RECORD_SAMPLE,
		.time_ns = time_ns,
		.pid = pid,
		.tid = pid + 1,
		.sample = {.kind = (uint8_t)kind, .weight = 1, .probe = {.wait = number}}};
}

/* The frames' texts are gone when the wait ends. */
static void begin(struct lock_waits *waits, const struct record *record, const char *method)
{
	char leaf[] = "java.lang.Object", *name = strdup(method), root[] = "main";
	const struct frame frames[] = {{.name = leaf, .kind = FRAME_CLASS},
				       {.name = name, .kind = FRAME_JIT, .line = 7},
				       {.name = root, .kind = FRAME_LABEL}};
	struct process process = {.pid = record->pid, .owner.user = owner_user(record->pid)};
	const struct named_sample sample = {.kind = &sample_kind_lock,
					    .process = &process,
					    .values = {0, record->sample.weight},
					    .stack = &whole,
					    .verdict = &verdict,
					    .frames = frames,
					    .n_frames = 3};

	lock_waits_begin(waits, record, &sample);
	memset(name, 'x', strlen(name));
	memset(leaf, 'x', sizeof(leaf));
	free(name);
}

static bool end(struct lock_waits *waits, pid_t pid, uint64_t number, uint64_t time_ns,
		uint64_t duration_ns, struct named_sample *ret)
{
	struct record record = event(SAMPLE_OF_ENTERED, pid, number, time_ns);

	record.sample.probe.amount = duration_ns;
	record.tid = 999; /* a virtual thread goes on elsewhere */
	return lock_waits_end(waits, &record, NULL, ret);
}

static void a_wait_has_the_stack_of_its_begin_and_the_time_of_its_end(void **state)
{
	struct record one = event(SAMPLE_OF_ENTER, 5, 1, 100 * MS);
	const struct record other = event(SAMPLE_OF_ENTER, 5, 2, 101 * MS);
	struct named_sample sample;

	one.sample.weight = 3;
	begin(*state, &one, "a/B.one");
	begin(*state, &other, "a/B.other");
	assert_true(end(*state, 5, 2, 111 * MS, 10 * MS, &sample));
	assert_string_equal(sample.frames[1].name, "a/B.other");
	assert_int_equal(sample.values[0], 10000);
	assert_int_equal(sample.values[1], 1);
	assert_true(end(*state, 5, 1, 120 * MS, 19 * MS, &sample));
	assert_ptr_equal(sample.kind, &sample_kind_lock);
	assert_int_equal(sample.values[0], 57000); /* for three */
	assert_int_equal(sample.values[1], 3);
	assert_int_equal(sample.time_ns, 120 * MS);
	assert_int_equal(sample.span_ns, 19 * MS);
	assert_int_equal(sample.pid, 5);
	assert_int_equal(sample.tid, 6); /* who began */
	assert_int_equal(sample.n_frames, 3);
	assert_string_equal(sample.frames[0].name, "java.lang.Object");
	assert_int_equal(sample.frames[0].kind, FRAME_CLASS);
	assert_string_equal(sample.frames[1].name, "a/B.one");
	assert_int_equal(sample.frames[1].line, 7);
	assert_string_equal(sample.frames[2].name, "main");
	assert_true(sample.verdict->is_rooted);
	assert_int_equal(sample.stack->end, STACK_WHOLE);
	assert_false(end(*state, 5, 1, 130 * MS, 1, &sample)); /* once */
}

static void an_end_without_a_begin_is_counted(void **state)
{
	const struct record record = event(SAMPLE_OF_ENTER, 5, 1, 100 * MS);
	struct lock_waits_stats stats;
	struct named_sample sample;

	begin(*state, &record, "a/B.c");
	assert_false(end(*state, 6, 1, 110 * MS, 1, &sample)); /* another process */
	assert_false(end(*state, 5, 9, 110 * MS, 1, &sample));
	lock_waits_stats(*state, &stats);
	assert_int_equal(stats.unmatched, 2);
	assert_int_equal(stats.left_out, 0);
}

static void a_time_that_cannot_be_is_the_time_that_was_seen(void **state)
{
	const struct record record = event(SAMPLE_OF_ENTER, 5, 1, 100 * MS);
	struct named_sample sample;

	begin(*state, &record, "a/B.c");
	assert_true(end(*state, 5, 1, 110 * MS, UINT64_MAX, &sample));
	assert_int_equal(sample.values[0], 10000);
	begin(*state, &record, "a/B.c");
	assert_true(end(*state, 5, 1, 90 * MS, UINT64_MAX, &sample)); /* in front of its begin */
	assert_int_equal(sample.values[0], 0);
}

static void a_number_that_comes_twice_is_the_later_wait(void **state)
{
	const struct record first = event(SAMPLE_OF_ENTER, 5, 1, 100 * MS);
	const struct record second = event(SAMPLE_OF_ENTER, 5, 1, 200 * MS);
	struct named_sample sample;

	begin(*state, &first, "a/B.first");
	begin(*state, &second, "a/B.second");
	assert_true(end(*state, 5, 1, 210 * MS, UINT64_MAX, &sample));
	assert_string_equal(sample.frames[1].name, "a/B.second");
	assert_int_equal(sample.values[0], 10000);
	assert_false(lock_waits_next_open(*state, 300 * MS, &sample));
}

static void waits_that_go_on_have_their_time_until_the_end(void **state)
{
	uint64_t us = 0;
	struct named_sample sample;

	for (uint64_t i = 0; i < 3; i++) {
		const struct record record = event(SAMPLE_OF_ENTER, 5, i, (100 + i) * MS);

		begin(*state, &record, "a/B.c");
	}
	while (lock_waits_next_open(*state, 110 * MS, &sample))
		us += sample.values[0];
	assert_int_equal(us, 27000);
}

static bool is_six(const void *arg, pid_t pid)
{
	return pid == 6;
}

static void waits_of_processes_that_are_gone_are_forgotten(void **state)
{
	struct lock_waits_stats stats;
	struct named_sample sample;

	for (uint64_t i = 0; i < 100; i++) {
		const struct record record = event(SAMPLE_OF_ENTER, i % 2 ? 5 : 6, i, 100 * MS);

		begin(*state, &record, "a/B.c");
	}
	for (int i = 0; i < 20; i++)
		lock_waits_sweep(*state, is_six, NULL);
	lock_waits_stats(*state, &stats);
	assert_int_equal(stats.forgotten, 50);
	for (int i = 0; i < 50; i++) {
		assert_true(lock_waits_next_open(*state, 110 * MS, &sample));
		assert_int_equal(sample.pid, 5);
	}
	assert_false(lock_waits_next_open(*state, 110 * MS, &sample));
}

static uint64_t left_out(const struct lock_waits *waits)
{
	struct lock_waits_stats stats;

	lock_waits_stats(waits, &stats);
	return stats.left_out;
}

/* As many waits as there can be, of eight processes. */
static void fill(struct lock_waits *waits)
{
	for (uint64_t i = 0; i < LOCK_WAITS_MAX; i++) {
		const struct record record =
			event(SAMPLE_OF_ENTER, 1 + (pid_t)(i % 8), i, 100 * MS);

		begin(waits, &record, "a/B.c");
	}
	assert_int_equal(left_out(waits), 0);
}

static uint64_t one_users_but_nine(pid_t pid)
{
	return pid == 9 ? 2 : 1;
}

/* Whoever began all waits that there can be, others' waits are kept. */
static void who_has_the_most_waits_makes_room(void **state)
{
	const struct record more = event(SAMPLE_OF_ENTER, 1, LOCK_WAITS_MAX, 100 * MS);
	struct named_sample sample;
	uint64_t ended = 0;

	owner_user = one_users_but_nine;
	fill(*state);
	begin(*state, &more, "a/B.c");
	assert_int_equal(left_out(*state), 1); /* the user's own */
	for (uint64_t i = 0; i < 10; i++) {
		const struct record record = event(SAMPLE_OF_ENTER, 9, i, 100 * MS);

		begin(*state, &record, "a/C.d");
	}
	assert_int_equal(left_out(*state), 1 + LOCK_WAITS_MAX / 4 + 1);
	for (uint64_t i = 0; i < 10; i++) {
		assert_true(end(*state, 9, i, 110 * MS, MS, &sample));
		assert_string_equal(sample.frames[1].name, "a/C.d");
	}
	for (uint64_t i = 0; i < LOCK_WAITS_MAX; i++) {
		if (!end(*state, 1 + (pid_t)(i % 8), i, 110 * MS, MS, &sample))
			continue;
		assert_string_equal(sample.frames[1].name, "a/B.c");
		ended++;
	}
	assert_int_equal(ended, LOCK_WAITS_MAX - LOCK_WAITS_MAX / 4 - 1);
}

/* Users that have as many as the others lose nothing to one another. */
static void who_would_have_as_many_waits_is_refused(void **state)
{
	fill(*state);
	for (uint64_t i = 0; i < 10; i++) {
		const struct record record =
			event(SAMPLE_OF_ENTER, 1 + (pid_t)(i % 8), LOCK_WAITS_MAX + i, 100 * MS);

		begin(*state, &record, "a/B.c");
	}
	assert_int_equal(left_out(*state), 10);
}

#define DEPTH 100

static void begin_deep(struct lock_waits *waits, pid_t pid, uint64_t number)
{
	const struct record record = event(SAMPLE_OF_ENTER, pid, number, 100 * MS);
	struct frame frames[DEPTH];
	char names[DEPTH][48];
	struct process process = {.pid = pid, .owner.user = (uint64_t)pid};
	const struct named_sample sample = {.kind = &sample_kind_lock,
					    .process = &process,
					    .values = {0, 1},
					    .stack = &whole,
					    .verdict = &verdict,
					    .frames = frames,
					    .n_frames = DEPTH};

	for (int i = 0; i < DEPTH; i++) {
		snprintf(names[i], sizeof(names[i]), "a/B.m%d_%d_%d", (int)pid, (int)number, i);
		frames[i] = (struct frame){.name = names[i], .kind = FRAME_JIT};
	}
	lock_waits_begin(waits, &record, &sample);
}

/* Nor do users who have stacks without end keep others' out, though their waits do not end. */
static void who_has_the_most_frames_makes_room(void **state)
{
	const uint64_t each = LOCK_WAITS_WAITER_NODES / DEPTH - 1;
	struct named_sample sample;

	for (uint64_t i = 0; i < 4 * each; i++)
		begin_deep(*state, 1 + (pid_t)(i / each), i);
	assert_in_range(lock_waits_bytes(*state), 1 << 20, 128 << 20);
	assert_true(left_out(*state) > 0);
	for (uint64_t i = 0; i < 100; i++)
		begin_deep(*state, 9, i);
	for (uint64_t i = 0; i < 100; i++) {
		assert_true(end(*state, 9, i, 110 * MS, MS, &sample));
		assert_int_equal(sample.n_frames, DEPTH);
	}
}

/* What one user has too much of is left out, and costs no other user a wait. */
static void a_user_has_so_many_frames(void **state)
{
	const uint64_t most = LOCK_WAITS_WAITER_NODES / DEPTH;
	struct named_sample sample;

	begin_deep(*state, 9, 0);
	for (uint64_t i = 0; i < most + 10; i++)
		begin_deep(*state, 1, i);
	assert_in_range(left_out(*state), 10, most / 8);
	assert_true(end(*state, 9, 0, 110 * MS, MS, &sample));
	for (uint64_t i = 0; i < most; i++)
		end(*state, 1, i, 110 * MS, MS, &sample);
	begin_deep(*state, 1, 0); /* what ended made room */
	assert_true(end(*state, 1, 0, 110 * MS, MS, &sample));
}

static bool is_nobody(const void *arg, pid_t pid)
{
	return false;
}

static void who_waits_no_more_takes_no_memory(void **state)
{
	const size_t before = lock_waits_bytes(*state);
	struct named_sample sample;

	for (pid_t pid = 1; pid <= 20; pid++)
		begin_deep(*state, pid, 1);
	for (pid_t pid = 1; pid <= 20; pid++)
		assert_true(end(*state, pid, 1, 110 * MS, MS, &sample));
	for (int i = 0; i < 100; i++)
		lock_waits_sweep(*state, is_nobody, NULL);
	assert_in_range(lock_waits_bytes(*state), before, before + 8192); /* of empty tables */
}

/* What is left out is counted, and what ends makes room. */
static void memory_is_bounded(void **state)
{
	struct lock_waits_stats stats;
	struct named_sample sample;
	char name[64];
	size_t bytes;

	for (uint64_t i = 0; i < LOCK_WAITS_MAX + 10; i++) {
		const struct record record = event(SAMPLE_OF_ENTER, 5 + i % 2, i, 100 * MS);

		snprintf(name, sizeof(name), "a/B.method%d", (int)i);
		begin(*state, &record, name);
	}
	lock_waits_stats(*state, &stats);
	assert_int_equal(stats.left_out, 10);
	bytes = lock_waits_bytes(*state);
	assert_in_range(bytes, 1 << 20, 64 << 20);
	for (uint64_t i = 0; i < LOCK_WAITS_MAX; i++)
		assert_true(end(*state, 5 + i % 2, i, 101 * MS, MS, &sample));
	/* Stacks without end, of waits that end. */
	for (uint64_t i = 0; i < LOCK_WAITS_MAX_NODES; i++) {
		const struct record record = event(SAMPLE_OF_ENTER, 5, i, 100 * MS);

		snprintf(name, sizeof(name), "a/C.method%d", (int)i);
		begin(*state, &record, name);
		assert_true(end(*state, 5, i, 101 * MS, MS, &sample));
		assert_string_equal(sample.frames[1].name, name);
	}
	lock_waits_stats(*state, &stats);
	assert_int_equal(stats.left_out, 10);
	assert_in_range(lock_waits_bytes(*state), 0, 64 << 20);
}

#define TEST(claim) cmocka_unit_test_setup_teardown(claim, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_wait_has_the_stack_of_its_begin_and_the_time_of_its_end),
		TEST(an_end_without_a_begin_is_counted),
		TEST(a_time_that_cannot_be_is_the_time_that_was_seen),
		TEST(a_number_that_comes_twice_is_the_later_wait),
		TEST(waits_that_go_on_have_their_time_until_the_end),
		TEST(waits_of_processes_that_are_gone_are_forgotten),
		TEST(who_has_the_most_waits_makes_room),
		TEST(who_would_have_as_many_waits_is_refused),
		TEST(who_has_the_most_frames_makes_room),
		TEST(a_user_has_so_many_frames),
		TEST(who_waits_no_more_takes_no_memory),
		TEST(memory_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
