// SPDX-License-Identifier: Apache-2.0
/* Periods of perf's clocks are times. */
#include "draw/draw_clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct draw_input input;

static int set_up(void **state)
{
	assert_int_equal(draw_input_init(&input), 0);
	input.kind = profile_kind_cpu;
	input.has_periods = true;
	strcpy(input.event, "cpu-clock:ppp");
	return 0;
}

static int tear_down(void **state)
{
	draw_input_fini(&input);
	return 0;
}

static void add(const char *name, uint64_t weight)
{
	const struct frame frame = {.name = name, .kind = FRAME_NATIVE};

	assert_int_equal(profile_add(&input.profile, &frame, 1, weight), 0);
}

static void nanoseconds_of_a_clock_become_time(void **state)
{
	add("f", 10101010);
	add("g", 20202020);
	input.profile.quality.unrooted_samples = 20202020;
	assert_true(draw_clock_is_time(&input));
	draw_clock_make_time(&input);
	assert_int_equal(input.profile.quality.samples, 10101 + 20202);
	assert_int_equal(input.profile.quality.unrooted_samples, 20202);
	assert_int_equal(input.profile.nodes[0].total, 10101 + 20202);
	assert_true(profile_kind_is_time(&input.kind));
	assert_string_equal(input.kind.name, "cpu");
	assert_false(draw_clock_is_time(&input));
}

static void a_clock_is_one_with_any_modifier_and_nothing_else(void **state)
{
	static const char *const clocks[] = {"cpu-clock", "cpu-clock:u", "task-clock:ppp"};
	static const char *const others[] = {"cycles:P", "cpu-clockwork", "sched:cpu-clock", ""};

	add("f", 10101010);
	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
		strcpy(input.event, clocks[i]);
		assert_true(draw_clock_is_time(&input));
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		strcpy(input.event, others[i]);
		assert_false(draw_clock_is_time(&input));
	}
}

/* As in the text that render writes. */
static void numbers_of_samples_stay_numbers(void **state)
{
	add("f", 10101010);
	add("g", 3);
	assert_false(draw_clock_is_time(&input));
}

static void counted_samples_and_other_kinds_stay_as_they_are(void **state)
{
	assert_false(draw_clock_is_time(&input)); /* nothing is there */
	add("f", 10101010);
	input.has_periods = false;
	assert_false(draw_clock_is_time(&input));
	input.has_periods = true;
	input.kind = profile_kind_wall;
	assert_false(draw_clock_is_time(&input));
}

static void moments_are_scaled_too(void **state)
{
	const struct timeline_process process = {.pid = 7, .title = "app"};
	struct timeline *const timeline = &input.recording.timeline;
	const struct timeline_thread thread = {
		.process = timeline_process(timeline, &process), .tid = 7, .name = "app"};
	const struct timeline_entry entry = {
		.thread = timeline_thread(timeline, &thread), .node = 1, .weight = 10101010};

	add("f", 10101010);
	timeline_add(timeline, 0, &entry);
	draw_clock_make_time(&input);
	assert_int_equal(timeline->entries[0].weight, 10101);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nanoseconds_of_a_clock_become_time),
		TEST(a_clock_is_one_with_any_modifier_and_nothing_else),
		TEST(numbers_of_samples_stay_numbers),
		TEST(counted_samples_and_other_kinds_stay_as_they_are),
		TEST(moments_are_scaled_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
