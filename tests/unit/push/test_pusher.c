// SPDX-License-Identifier: Apache-2.0
/* Claims about push/pusher.h: what becomes of a period when no server answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "common/temp_dir.h"
#include "common/files.h"
#include "push/pusher.h"

#define SEC	    UINT64_C(1000000000)
#define MOST_PAUSES 10000

static char dir[TEMP_DIR_BYTES], spool[TEMP_DIR_BYTES + 16], rules[TEMP_DIR_BYTES + 16];
static struct push_options push;
static struct pusher *pusher;

static int set_up(void **state)
{
	log_set_level(LOG_LEVEL_SILENT);
	temp_dir_make(dir);
	snprintf(spool, sizeof(spool), "%s/spool", dir);
	snprintf(rules, sizeof(rules), "%s/rules", dir);
	push_options_init(&push);
	/* Port 1 is nobody's. */
	assert_int_equal(push_options_add_target(&push, "--push", "otlp+http://127.0.0.1:1"), 0);
	assert_int_equal(push_options_add_target(&push, "--push", "pyroscope+http://127.0.0.1:1"),
			 0);
	return 0;
}

static int tear_down(void **state)
{
	assert_true(pusher_close(pusher, 10 * SEC));
	pusher = NULL;
	push_options_fini(&push);
	temp_dir_remove(dir);
	return 0;
}

static void open_pusher(void)
{
	const struct pusher_options options = {
		.push = &push,
		.facts = {.hz = 19, .host = "node-1", .event = "cycles", .program = "test"},
		.max_bytes = 256 << 20,
	};

	assert_int_equal(push_options_finish(&push), 0);
	assert_int_equal(pusher_open(&options, &pusher), 0);
}

static void open_with_spool(void)
{
	push.spool_dir = spool;
	open_pusher();
}

/* Takes a period with n different stacks of each processor sample. */
static void take(unsigned n, size_t name_bytes)
{
	const struct process process = {.pid = 5, .start_ticks = 1, .comm = "java"};
	struct period *period;
	struct period_graph *graph;
	static char name[70000];

	assert_int_equal(period_new(SAMPLES_OF_CPU, clock_now_ns(), 15 * SEC, &period), 0);
	graph = period_graph_of(period, &process);
	assert_non_null(graph);
	memset(name, 'x', sizeof(name));
	for (unsigned i = 0; i < n; i++) {
		const struct frame frame = {.name = name, .kind = FRAME_JIT};

		snprintf(name, sizeof(name), "%08u", i);
		name[8] = name_bytes > 8 ? 'x' : '\0';
		name[name_bytes] = '\0';
		assert_int_equal(profile_add(&graph->parts[0].profile, &frame, 1, 2), 0);
		name[name_bytes] = 'x';
	}
	pusher_take(pusher, period);
}

/* Takes a period with a stack that two threads of one pool share with a thread of another. */
static void take_of_threads(void)
{
	const struct process process = {.pid = 5, .start_ticks = 1, .comm = "java"};
	static const char *const names[] = {"exec-1", "exec-2", "main"};
	const struct frame frame = {.name = "f", .kind = FRAME_JIT};
	struct period *period;
	struct period_part *part;
	uint32_t number;

	assert_int_equal(period_new(SAMPLES_OF_CPU, clock_now_ns(), 15 * SEC, &period), 0);
	part = &period_graph_of(period, &process)->parts[0];
	assert_int_equal(profile_add(&part->profile, &frame, 1, 7), 0);
	number = timeline_process(&part->timeline,
				  &(struct timeline_process){.pid = 5, .title = "java"});
	for (uint32_t i = 0; i < 3; i++) {
		const struct timeline_thread thread = {
			.process = number, .tid = (pid_t)(5 + i), .name = names[i]};
		const struct timeline_entry entry = {
			.thread = timeline_thread(&part->timeline, &thread),
			.node = 1,
			.weight = 1u << i};

		timeline_add(&part->timeline, 0, &entry);
	}
	pusher_take(pusher, period);
}

static bool has_made(const struct push_stats *stats, uint64_t made)
{
	return stats->targets[0].made.profiles >= made && stats->targets[1].made.profiles >= made &&
	       stats->waiting_bytes == 0;
}

/* Waits until so many profiles were made for each target. */
static struct push_stats wait_for(uint64_t made)
{
	const struct timespec pause = {.tv_nsec = 5000000};
	struct push_stats stats;

	for (int i = 0; i < MOST_PAUSES; i++) {
		pusher_stats(pusher, &stats);
		if (has_made(&stats, made))
			return stats;
		nanosleep(&pause, NULL);
	}
	fail_msg("%llu of %llu profiles were made",
		 (unsigned long long)stats.targets[0].made.profiles, (unsigned long long)made);
	return stats;
}

static void what_is_more_than_servers_take_becomes_several(void **state)
{
	struct push_stats stats;

	open_with_spool();
	take(40000, 8);
	stats = wait_for(4);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(stats.targets[i].made.profiles, 4);
		assert_int_equal(stats.targets[i].made.samples, 80000);
		assert_int_equal(stats.targets[i].waiting.samples, 80000);
	}
	assert_int_equal(stats.profiles_split, 3);
	assert_int_equal(stats.samples[PUSH_ALL], 80000);
}

static void long_names_are_split_by_their_bytes(void **state)
{
	struct push_stats stats;

	open_with_spool();
	take(100, 60000);
	stats = wait_for(2);
	assert_int_equal(stats.targets[0].made.samples, 200);
	assert_int_equal(stats.targets[1].made.samples, 200);
	assert_true(stats.profiles_split >= 1);
	assert_int_equal(stats.stacks_too_large, 0);
}

static void what_was_not_sent_is_there_for_the_next_one(void **state)
{
	struct push_stats stats;

	open_with_spool();
	take(3, 8);
	wait_for(1);
	assert_true(pusher_close(pusher, 10 * SEC));
	open_pusher();
	pusher_stats(pusher, &stats);
	assert_int_equal(stats.targets[0].found.samples, 6);
	assert_int_equal(stats.targets[1].found.samples, 6);
	assert_int_equal(stats.targets[1].in_doubt.samples, 0);
}

static void what_rules_drop_is_counted(void **state)
{
	struct push_stats stats;

	files_write(rules, "- {source_labels: [service_name], regex: java, action: drop}");
	push.relabel_path = rules;
	open_pusher();
	take(3, 8);
	do
		stats = wait_for(0);
	while (stats.series_unwanted == 0);
	assert_int_equal(stats.targets[0].made.profiles, 0);
}

static void each_pool_of_threads_has_a_profile_if_asked_for(void **state)
{
	struct push_stats stats;

	push.by_pool = true;
	open_pusher();
	take_of_threads();
	stats = wait_for(2);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(stats.targets[i].made.profiles, 2);
		assert_int_equal(stats.targets[i].made.samples, 7);
	}
	assert_int_equal(stats.samples[PUSH_ALL], 7); /* once, and not for each pool */
}

static void rules_choose_pools_of_threads(void **state)
{
	struct push_stats stats;

	files_write(rules, "- {source_labels: [thread], regex: exec-.*, action: drop}");
	push.relabel_path = rules;
	push.by_pool = true;
	open_pusher();
	take_of_threads();
	stats = wait_for(1);
	assert_int_equal(stats.targets[0].made.samples, 4);
	assert_int_equal(stats.series_unwanted, 1);
	assert_int_equal(stats.samples[PUSH_ALL], 7); /* of the whole */
}

static void a_process_of_which_rules_want_no_pool_has_no_quality(void **state)
{
	struct push_stats stats;

	files_write(rules, "- {source_labels: [service_name], regex: java, action: drop}");
	push.relabel_path = rules;
	push.by_pool = true;
	open_pusher();
	take_of_threads();
	do
		stats = wait_for(0);
	while (stats.series_unwanted < 2);
	assert_int_equal(stats.samples[PUSH_ALL], 0);
	assert_int_equal(stats.targets[0].made.profiles, 0);
}

static void without_a_spool_profiles_wait_in_memory(void **state)
{
	struct push_stats stats;

	open_pusher();
	take(3, 8);
	stats = wait_for(1);
	assert_int_equal(stats.targets[0].waiting.samples, 6);
	assert_true(stats.targets[0].memory_bytes > 0);
}

static void a_spool_has_one_pusher(void **state)
{
	struct pusher *other;
	struct pusher_options options = {.push = &push, .max_bytes = 1 << 20};

	open_with_spool();
	assert_true(pusher_open(&options, &other) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define PUSHER(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		PUSHER(what_is_more_than_servers_take_becomes_several),
		PUSHER(long_names_are_split_by_their_bytes),
		PUSHER(what_was_not_sent_is_there_for_the_next_one),
		PUSHER(what_rules_drop_is_counted),
		PUSHER(each_pool_of_threads_has_a_profile_if_asked_for),
		PUSHER(rules_choose_pools_of_threads),
		PUSHER(a_process_of_which_rules_want_no_pool_has_no_quality),
		PUSHER(without_a_spool_profiles_wait_in_memory),
		PUSHER(a_spool_has_one_pusher),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
