// SPDX-License-Identifier: Apache-2.0
/* The window: what leaves it and when, and that nothing in it grows without end. */
#include "profile/window.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define SEC   UINT64_C(1000000000)
#define START (100 * SEC)
#define WIDE  3u /* seconds */

static struct window window;
static struct window_copy copy;

static int set_up(void **state)
{
	return window_init(&window, START, WIDE);
}

static int tear_down(void **state)
{
	window_fini(&window);
	window_copy_fini(&copy);
	return 0;
}

/* A sample of leaf, called by main, so long after the start. */
static void add(uint64_t after_ns, pid_t pid, const char *leaf)
{
	struct timeline *timeline = window_timeline(&window, START + after_ns);
	const struct timeline_process process = {.pid = pid, .title = "Main"};
	const struct timeline_thread thread = {
		.process = timeline_process(timeline, &process), .tid = pid, .name = "main"};
	const struct profile_quality flaws = {.unrooted_samples = 1, .unnamed_samples = 1};
	const struct frame frames[] = {
		{.name = leaf, .kind = FRAME_JIT},
		{.name = "main", .kind = FRAME_NATIVE, .module = "libx.so", .build_id = "c0ffee"}};
	const struct window_sample sample = {
		.time_ns = START + after_ns,
		.frames = frames,
		.n_frames = 2,
		.weight = 1,
		.thread = timeline_thread(timeline, &thread),
		.flaws = &flaws,
	};

	assert_int_equal(window_add(&window, &sample), 0);
}

static void take_copy(void)
{
	window_copy_fini(&copy);
	assert_int_equal(window_copy(&window, &copy), 0);
}

static uint64_t samples_of(const char *name)
{
	uint64_t sum = 0;

	for (uint32_t id = 0; id < copy.profile.count; id++)
		sum += strcmp(copy.profile.nodes[id].name, name) ? 0 : copy.profile.nodes[id].total;
	return sum;
}

static uint64_t entries_weight(void)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < copy.timeline.n_entries; i++)
		sum += copy.timeline.entries[i].weight;
	return sum;
}

static void samples_leave_when_their_time_has_passed(void **state)
{
	add(0, 1, "old");
	add(SEC, 1, "new");
	take_copy();
	assert_int_equal(samples_of("old"), 1);
	window_advance(&window, START + 4 * SEC - 1);
	take_copy();
	assert_int_equal(samples_of("old"), 1);
	window_advance(&window, START + 4 * SEC);
	take_copy();
	assert_int_equal(samples_of("old"), 0);
	assert_int_equal(samples_of("new"), 1);
	assert_int_equal(samples_of("main"), 1);
	assert_int_equal(copy.quality.samples, 1);
	assert_int_equal(copy.quality.unrooted_samples, 1);
	assert_int_equal(copy.quality.unnamed_samples, 1);
	assert_int_equal(copy.covered_ns, 3 * SEC);
	window_advance(&window, START + 50 * SEC);
	take_copy();
	assert_int_equal(copy.profile.count, 1); /* the root */
	assert_int_equal(copy.quality.samples, 0);
}

static void nodes_keep_the_build_of_their_module(void **state)
{
	add(0, 1, "leaf");
	take_copy();
	assert_string_equal(copy.profile.nodes[1].name, "main");
	assert_string_equal(copy.profile.nodes[1].module, "libx.so");
	assert_string_equal(profile_build_id(copy.profile.nodes[1].module), "c0ffee");
}

static void at_any_moment_it_has_the_last_seconds_whole(void **state)
{
	for (uint64_t i = 0; i < 400; i++) {
		const uint64_t now_ns = i * SEC / 10;
		const uint64_t kept = i / 10 > WIDE ? i - (i / 10 - WIDE) * 10 + 1 : i + 1;

		add(now_ns, 1, "same");
		take_copy();
		assert_int_equal(samples_of("same"), kept);
		assert_int_equal(samples_of("main"), kept);
		assert_int_equal(entries_weight(), kept);
		assert_int_equal(copy.quality.samples, kept);
	}
}

static void threads_of_both_generations_are_the_same(void **state)
{
	add(3 * SEC, 1, "a");
	add(3 * SEC, 2, "a");
	add(5 * SEC, 2, "a"); /* in the second one */
	take_copy();
	assert_int_equal(copy.timeline.n_processes, 2);
	assert_int_equal(copy.timeline.n_threads, 2);
	assert_int_equal(copy.timeline.n_entries, 2);
	assert_int_equal(entries_weight(), 3);
}

/* Names that are new for ever, as of an application that generates code without end. */
static void endless_new_names_take_bounded_memory(void **state)
{
	size_t most = 0;
	char name[64];

	for (uint64_t i = 0; i < 20000; i++) {
		snprintf(name, sizeof(name), "method%llu", (unsigned long long)i);
		add(i * SEC / 100, (pid_t)(i % 50 + 1), name);
		if (window.generations[0].profile.count > most)
			most = window.generations[0].profile.count;
	}
	assert_in_range(most, 300, (WIDE + 1) * 100 + 2);
	take_copy();
	assert_in_range(copy.quality.samples, 300, 400);
	assert_int_equal(copy.quality.overflow_samples, 0);
}

static void names_past_their_room_are_cut_and_counted(void **state)
{
	static char name[60000];
	const uint64_t n = 2 * WINDOW_MAX_NAME_BYTES / sizeof(name);

	memset(name, 'x', sizeof(name) - 1);
	for (uint64_t i = 0; i < n; i++) {
		snprintf(name, 16, "%06u", (unsigned)i);
		name[strlen(name)] = 'x';
		add(0, 1, name);
	}
	assert_true(window.generations[0].profile.names.arena.total_bytes <
		    WINDOW_MAX_NAME_BYTES + 4 * sizeof(name));
	take_copy();
	assert_true(copy.quality.overflow_samples > 0);
	assert_int_equal(samples_of("[overflow]"), copy.quality.overflow_samples);
	assert_int_equal(copy.quality.samples, n);
	assert_int_equal(entries_weight(), n);
}

static void losses_are_of_the_second_in_which_they_are_noted(void **state)
{
	window_note_losses(&window, 5, 2);
	window_advance(&window, START + SEC);
	window_note_losses(&window, 8, 2);
	window_sum(&window, &copy);
	assert_int_equal(copy.quality.lost_samples, 8);
	assert_int_equal(copy.quality.stackless_samples, 2);
	window_advance(&window, START + 4 * SEC);
	window_note_losses(&window, 8, 2);
	window_sum(&window, &copy);
	assert_int_equal(copy.quality.lost_samples, 3);
	assert_int_equal(copy.quality.stackless_samples, 0);
}

static void a_sample_that_comes_late_is_not_lost(void **state)
{
	add(9 * SEC, 1, "new");
	add(SEC, 1, "late");
	take_copy();
	assert_int_equal(samples_of("late"), 1);
	assert_int_equal(copy.quality.samples, 2);
	assert_int_equal(window.now_ns, START + 9 * SEC);
	/* And times stay as fine as they are. */
	assert_int_equal(window.generations[0].timeline.bucket_ns, TIMELINE_BUCKET_NS);
}

static void a_sample_without_a_thread_is_counted_as_in_no_row(void **state)
{
	const struct profile_quality flaws = {0};
	const struct frame frame = {.name = "a", .kind = FRAME_JIT};
	const struct window_sample sample = {.time_ns = START,
					     .frames = &frame,
					     .n_frames = 1,
					     .weight = 1,
					     .thread = UINT32_MAX,
					     .flaws = &flaws};

	assert_int_equal(window_add(&window, &sample), 0);
	take_copy();
	assert_int_equal(copy.quality.samples, 1);
	assert_int_equal(copy.timeline.lost_samples, 1);
	assert_int_equal(copy.timeline.n_entries, 0);
}

#define CLAIM(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM(samples_leave_when_their_time_has_passed),
		CLAIM(nodes_keep_the_build_of_their_module),
		CLAIM(at_any_moment_it_has_the_last_seconds_whole),
		CLAIM(threads_of_both_generations_are_the_same),
		CLAIM(endless_new_names_take_bounded_memory),
		CLAIM(names_past_their_room_are_cut_and_counted),
		CLAIM(losses_are_of_the_second_in_which_they_are_noted),
		CLAIM(a_sample_that_comes_late_is_not_lost),
		CLAIM(a_sample_without_a_thread_is_counted_as_in_no_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
