// SPDX-License-Identifier: Apache-2.0
/* Samples stay until their objects have died, whatever a hostile agent says. */
#include "probes/live_samples.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ROUND (UINT64_C(1) << 8)

static const struct symbolizer_verdict verdict = {.is_rooted = true, .is_java_named = true};
static const struct stack whole = {.depth = 1, .end = STACK_WHOLE};
static struct process processes[4]; /* three of one container, and one of another */

static int set_up(void **state)
{
	struct live_samples *live;

	for (pid_t i = 0; i < 4; i++)
		processes[i] = (struct process){.pid = i + 1,
						.start_ticks = 10,
						.owner = {.container = (uint64_t)i / 3 + 1}};
	assert_int_equal(live_samples_new(&live), 0);
	*state = live;
	return 0;
}

static int tear_down(void **state)
{
	live_samples_free(*state);
	return 0;
}

/* The frames' texts are gone afterwards. */
static void keep_of(struct live_samples *live, struct process *process, uint64_t number,
		    uint64_t round, const char *method)
{
	char leaf[] = "byte[]", *name = strdup(method), root[] = "main";
	const struct record record = {.kind = RECORD_SAMPLE,
				      .time_ns = 1000 + number,
				      .pid = process->pid,
				      .tid = process->pid + 100,
				      .sample = {.kind = SAMPLE_OF_ALLOC,
						 .weight = 1,
						 .probe = {.objects = {number}, .round = round}}};
	const struct frame frames[] = {{.name = leaf, .kind = FRAME_CLASS},
				       {.name = name, .kind = FRAME_JIT, .line = 7},
				       {.name = root, .kind = FRAME_LABEL}};
	const struct named_sample sample = {.kind = &sample_kind_alloc,
					    .values = {1000, 10},
					    .process = process,
					    .stack = &whole,
					    .verdict = &verdict,
					    .frames = frames,
					    .n_frames = 3};

	live_samples_keep(live, &record, &sample);
	memset(name, 'x', strlen(name));
	memset(leaf, 'x', sizeof(leaf));
	free(name);
}

static void keep(struct live_samples *live, uint64_t number, uint64_t round)
{
	keep_of(live, &processes[0], number, round, "a/B.one");
}

static void end(struct live_samples *live, pid_t pid, uint64_t round, uint64_t first,
		uint64_t second)
{
	const struct record record = {
		.kind = RECORD_SAMPLE,
		.pid = pid,
		.sample = {.kind = SAMPLE_OF_DEAD,
			   .probe = {.objects = {first, 0, second}, .round = round}}};

	live_samples_end(live, &record);
}

/* How many live, and the sums of their values. */
static size_t count(struct live_samples *live, uint64_t *ret_bytes)
{
	struct named_sample sample;
	uint64_t start_ticks;
	size_t n = 0;

	*ret_bytes = 0;
	for (; live_samples_next(live, &sample, &start_ticks); n++)
		*ret_bytes += sample.values[0];
	return n;
}

static void check(struct live_samples *live, size_t n, uint64_t bytes)
{
	uint64_t found;

	assert_int_equal(count(live, &found), n);
	assert_int_equal(found, bytes);
}

static void who_lives_is_as_it_was_allocated(void **state)
{
	struct named_sample sample;
	uint64_t start_ticks;

	keep_of(*state, &processes[0], 16, 0, "a/B.one");
	keep_of(*state, &processes[0], 17, 0, "a/B.other");
	end(*state, 1, 0, 17, 0);
	assert_true(live_samples_next(*state, &sample, &start_ticks));
	assert_ptr_equal(sample.kind, &sample_kind_live);
	assert_int_equal(sample.values[0], 1000);
	assert_int_equal(sample.values[1], 10);
	assert_int_equal(sample.time_ns, 1016);
	assert_int_equal(sample.pid, 1);
	assert_int_equal(sample.tid, 101);
	assert_int_equal(start_ticks, 10);
	assert_int_equal(sample.n_frames, 3);
	assert_string_equal(sample.frames[0].name, "byte[]");
	assert_int_equal(sample.frames[0].kind, FRAME_CLASS);
	assert_string_equal(sample.frames[1].name, "a/B.one");
	assert_int_equal(sample.frames[1].line, 7);
	assert_string_equal(sample.frames[2].name, "main");
	assert_true(sample.verdict->is_rooted);
	assert_int_equal(sample.stack->end, STACK_WHOLE);
	assert_false(live_samples_next(*state, &sample, &start_ticks));
}

static void the_dead_are_gone(void **state)
{
	struct live_samples_stats stats;

	for (uint64_t i = 1; i <= 10; i++)
		keep(*state, i, 0);
	end(*state, 1, 0, 3, 7);
	end(*state, 1, 0, 3, 99); /* told already, and of no sample */
	end(*state, 2, 0, 4, 5);  /* another JVM's */
	live_samples_stats(*state, &stats);
	assert_int_equal(stats.kept, 10);
	assert_int_equal(stats.dead, 2);
	check(*state, 8, 8000);
	live_samples_stats(*state, &stats);
	assert_int_equal(stats.given, 8);
}

/* Of an object that is not watched nothing will be told. */
static void who_is_not_watched_is_counted(void **state)
{
	struct live_samples_stats stats;

	keep(*state, 0, 0);
	keep(*state, 8, 3);
	keep(*state, 4, 3);
	live_samples_stats(*state, &stats);
	assert_int_equal(stats.unwatched, 2);
	assert_int_equal(stats.kept, 1);
	check(*state, 1, 8000);
}

/* Whoever fits the last level stands for those that the agent has forgotten. */
static void a_level_counts_for_all_of_a_jvm(void **state)
{
	struct live_samples_stats stats;

	for (uint64_t i = 1; i <= 64; i++)
		keep(*state, i, 0);
	keep_of(*state, &processes[1], 3, 0, "c/D.e");
	end(*state, 1, 2, 64, 0);
	check(*state, 16, 15 * 4000 + 1000);
	live_samples_stats(*state, &stats);
	assert_int_equal(stats.forgotten, 48);
}

static void an_older_word_lowers_no_level(void **state)
{
	keep(*state, 4, 2);
	keep(*state, 8, 1);
	end(*state, 1, 0, 0, 0);
	check(*state, 2, 8000);
}

static void who_was_watched_before_a_round_is_forgotten(void **state)
{
	struct live_samples_stats stats;

	keep(*state, 16, 1);
	keep(*state, 32, ROUND);
	check(*state, 1, 1000);
	live_samples_stats(*state, &stats);
	assert_int_equal(stats.forgotten, 1);
}

static void another_process_of_the_pid_begins_anew(void **state)
{
	struct live_samples_stats stats;

	keep(*state, 16, 3 * ROUND);
	processes[0].start_ticks++;
	keep(*state, 1, 0);
	check(*state, 1, 1000);
	live_samples_stats(*state, &stats);
	assert_int_equal(stats.left_out, 1);
}

static void no_level_makes_a_sum_overflow(void **state)
{
	for (uint64_t level = 0; level < 256; level++)
		keep_of(*state, &processes[0], UINT64_C(1) << 63, level, "a/B.one");
	check(*state, 0, 0);
	tear_down(state);
	set_up(state);
	keep(*state, UINT64_C(1) << 62, 40);
	keep(*state, UINT64_C(1) << 63, 40);
	check(*state, 2, UINT64_C(2) << 44);
}

/* Each number is new, and nothing ever dies. */
static void a_jvm_and_a_container_have_their_shares(void **state)
{
	struct live_samples_stats stats;

	for (uint64_t i = 1; i <= LIVE_SAMPLES_MAX; i++)
		keep(*state, i, 0);
	live_samples_stats(*state, &stats);
	assert_int_equal(stats.kept, LIVE_SAMPLES_MAX_JVM);
	assert_int_equal(stats.left_out, LIVE_SAMPLES_MAX - LIVE_SAMPLES_MAX_JVM);
	for (uint64_t i = 1; i <= LIVE_SAMPLES_MAX_JVM; i++) {
		keep_of(*state, &processes[1], i, 0, "a/B.one");
		keep_of(*state, &processes[2], i, 0, "a/B.one");
	}
	live_samples_stats(*state, &stats);
	assert_int_equal(stats.kept, LIVE_SAMPLES_MAX / 2);
	keep_of(*state, &processes[3], 1, 0, "a/B.one");
	live_samples_stats(*state, &stats);
	assert_int_equal(stats.kept, LIVE_SAMPLES_MAX / 2 + 1);
}

/* Nor do several containers take it all. */
static void a_late_container_has_half_of_what_is_left(void **state)
{
	struct live_samples_stats stats;
	struct process all[6];

	for (pid_t i = 0; i < 6; i++) {
		all[i] = (struct process){
			.pid = i + 1, .start_ticks = 10, .owner = {.container = (uint64_t)i + 1}};
		for (uint64_t k = 1; k <= LIVE_SAMPLES_MAX_JVM; k++)
			keep_of(*state, &all[i], k, 0, "a/B.one");
		live_samples_stats(*state, &stats);
		if (i == 2)
			assert_int_equal(stats.kept, 3 * LIVE_SAMPLES_MAX_JVM);
	}
	/* A half, a quarter and an eighth of the last 16,384. */
	assert_int_equal(stats.kept, 3 * LIVE_SAMPLES_MAX_JVM + LIVE_SAMPLES_MAX_JVM / 8 * 7);
}

/* What the agent has forgotten makes room. */
static void a_higher_level_makes_room(void **state)
{
	struct live_samples_stats stats;

	for (uint64_t i = 1; i <= LIVE_SAMPLES_MAX_JVM; i++)
		keep(*state, i, 0);
	end(*state, 1, 4, 0, 0);
	for (uint64_t i = 1; i <= 100; i++)
		keep(*state, (LIVE_SAMPLES_MAX_JVM + i) * 16, 4);
	live_samples_stats(*state, &stats);
	assert_int_equal(stats.left_out, 0);
	check(*state, LIVE_SAMPLES_MAX_JVM / 16 + 100, (LIVE_SAMPLES_MAX_JVM / 16 + 100) * 16000);
}

/* Stacks of the dead are forgotten before those of the living are refused. */
static void endless_stacks_need_no_room(void **state)
{
	const uint64_t living = LIVE_SAMPLES_MAX_NODES / 5;
	struct live_samples_stats stats;
	struct named_sample sample;
	uint64_t start_ticks;
	char name[32];

	for (uint64_t i = 1; i <= 3 * LIVE_SAMPLES_MAX_NODES; i++) {
		snprintf(name, sizeof(name), "a/B.m%llu", (unsigned long long)i);
		keep_of(*state, &processes[0], i, 0, name);
		if (i != living)
			end(*state, 1, 0, i, 0);
	}
	live_samples_stats(*state, &stats);
	assert_int_equal(stats.left_out, 0);
	assert_in_range(live_samples_bytes(*state), 1, 200 * LIVE_SAMPLES_MAX_NODES);
	snprintf(name, sizeof(name), "a/B.m%llu", (unsigned long long)living);
	assert_true(live_samples_next(*state, &sample, &start_ticks));
	assert_int_equal(sample.n_frames, 3);
	assert_string_equal(sample.frames[0].name, "byte[]");
	assert_string_equal(sample.frames[1].name, name);
	assert_int_equal(sample.frames[1].line, 7);
	assert_string_equal(sample.frames[2].name, "main");
}

static void many_stacks_of_the_living_have_room(void **state)
{
	struct live_samples_stats stats;
	char name[32];
	uint64_t i;

	for (i = 1; i <= LIVE_SAMPLES_MAX_JVM; i++) {
		snprintf(name, sizeof(name), "a/B.m%llu", (unsigned long long)i);
		keep_of(*state, &processes[0], i, 0, name);
		keep_of(*state, &processes[1], i, 0, name);
	}
	live_samples_stats(*state, &stats);
	assert_int_equal(stats.left_out, 0);
	check(*state, 2 * LIVE_SAMPLES_MAX_JVM, 2 * LIVE_SAMPLES_MAX_JVM * 1000);
}

int main(void)
{
#define CLAIM(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		CLAIM(who_lives_is_as_it_was_allocated),
		CLAIM(the_dead_are_gone),
		CLAIM(who_is_not_watched_is_counted),
		CLAIM(a_level_counts_for_all_of_a_jvm),
		CLAIM(an_older_word_lowers_no_level),
		CLAIM(who_was_watched_before_a_round_is_forgotten),
		CLAIM(another_process_of_the_pid_begins_anew),
		CLAIM(no_level_makes_a_sum_overflow),
		CLAIM(a_jvm_and_a_container_have_their_shares),
		CLAIM(a_late_container_has_half_of_what_is_left),
		CLAIM(a_higher_level_makes_room),
		CLAIM(endless_stacks_need_no_room),
		CLAIM(many_stacks_of_the_living_have_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
