// SPDX-License-Identifier: Apache-2.0
/* Recordings that are added up: what they keep beside their stacks, and what cannot be compared. */
#include "common/files.h"
#include "draw/draw_cut.h"
#include "draw/draw_input.h"
#include "render/render.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#define START  UINT64_C(1700000000000000000)
#define SECOND UINT64_C(1000000000)

static const struct profile_info info = {
	.host = "host",
	.boot_id = "boot",
	.event = "cycles",
	.hz = 99,
	.start_unix_ns = START,
	.duration_ns = SECOND,
	.reasons = {"no rule", "by fp"},
};

/* A sample of f, on thread t of process 7, half a second after the start. Reads it. */
static void add_recording(struct draw_input *input, struct profile_info with)
{
	const struct frame frame = {
		.name = "f", .module = "libx.so", .kind = FRAME_NATIVE, .build_id = "c0ffee"};
	const struct timeline_process process = {.pid = 7, .title = "Main"};
	struct timeline_thread thread = {.tid = 8, .name = "t"};
	struct timeline_entry entry = {.weight = 1};
	struct timeline timeline;
	struct profile profile;
	struct render_options options = {.title = "T", .info = &with, .timeline = &timeline};
	FILE *const stream = fdopen(memfd_create("recording", 0), "w+");
	char path[40];

	timeline_init(&timeline, 0);
	assert_int_equal(profile_init(&profile, 0), 0);
	assert_int_equal(profile_add_leaf(&profile, &frame, 1, 1, &entry.node), 0);
	thread.process = timeline_process(&timeline, &process);
	entry.thread = timeline_thread(&timeline, &thread);
	timeline_add(&timeline, SECOND / 2, &entry);
	with.quality.truncated_samples[1] = 1;
	assert_int_equal(render_write(&profile, RENDER_RECORDING, &options, stream), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(stream));
	assert_int_equal(draw_input_read(input, path, &(struct import_options){0}), 0);
	fclose(stream);
	timeline_fini(&timeline);
	profile_fini(&profile);
}

static void add_folded(struct draw_input *input, const char *text)
{
	const int fd = files_open_memory(text, strlen(text));
	char path[40];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(draw_input_read(input, path, &(struct import_options){0}), 0);
	close(fd);
}

/* ---- kinds ---- */

struct kinds {
	struct profile profiles[2];
	struct timeline timelines[2];
};

/* Writes 3 samples of cpu and so many microseconds of wall, in f and g. Returns a stream. */
static FILE *write_kinds(struct kinds *kinds, uint64_t us, const struct profile_kind *second)
{
	const struct frame frames[] = {{.name = "f", .kind = FRAME_NATIVE},
				       {.name = "g", .kind = FRAME_NATIVE}};
	const struct timeline_process process = {.pid = 7, .title = "Main"};
	const struct profile_info wall_info = {.event = "tasks", .hz = 20};
	const struct profile_part other = {second, &kinds->profiles[1], &kinds->timelines[1],
					   &wall_info};
	const struct render_options options = {
		.info = &info, .timeline = &kinds->timelines[0], .others = &other, .n_others = 1};
	FILE *const stream = fdopen(memfd_create("recording", 0), "w+");

	for (int i = 0; i < 2; i++) {
		struct timeline_thread thread = {.tid = 8 + i, .name = "t"};
		struct timeline_entry entry = {.weight = i ? (uint32_t)us : 3};

		timeline_init(&kinds->timelines[i], 0);
		assert_int_equal(profile_init(&kinds->profiles[i], 0), 0);
		assert_int_equal(profile_add_leaf(&kinds->profiles[i], &frames[i], 1, entry.weight,
						  &entry.node),
				 0);
		thread.process = timeline_process(&kinds->timelines[i], &process);
		entry.thread = timeline_thread(&kinds->timelines[i], &thread);
		timeline_add(&kinds->timelines[i], SECOND / 2, &entry);
	}
	assert_int_equal(render_write(&kinds->profiles[0], RENDER_RECORDING, &options, stream), 0);
	return stream;
}

static int read_kinds(struct draw_input *input, uint64_t us, const struct profile_kind *second)
{
	struct kinds kinds;
	FILE *const stream = write_kinds(&kinds, us, second);
	char path[40];
	int err;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(stream));
	err = draw_input_read(input, path, &(struct import_options){0});
	fclose(stream);
	for (int i = 0; i < 2; i++) {
		timeline_fini(&kinds.timelines[i]);
		profile_fini(&kinds.profiles[i]);
	}
	return err;
}

static void kinds_of_several_recordings_are_joined_by_name(void **state)
{
	struct profile_part parts[PROFILE_MAX_KINDS];
	struct draw_input input;

	assert_int_equal(draw_input_init(&input), 0);
	assert_int_equal(read_kinds(&input, 1000, &profile_kind_wall), 0);
	assert_int_equal(read_kinds(&input, 500, &profile_kind_wall), 0);
	assert_int_equal(draw_input_parts(&input, parts), 2);
	assert_string_equal(parts[0].kind->name, "cpu");
	assert_int_equal(parts[0].profile->quality.samples, 6);
	assert_string_equal(parts[0].info->event, "cycles");
	assert_string_equal(parts[0].info->host, "host");
	assert_string_equal(parts[1].kind->name, "wall");
	assert_true(profile_kind_is_time(parts[1].kind));
	assert_int_equal(parts[1].profile->quality.samples, 1500);
	assert_int_equal(parts[1].info->hz, 20);
	assert_string_equal(parts[1].info->event, "tasks");
	assert_string_equal(parts[1].info->host, "host");
	assert_int_equal(parts[1].timeline->n_entries, 1);
	assert_int_equal(parts[1].timeline->entries[0].weight, 1500);
	assert_int_equal(parts[1].timeline->threads[0].tid, 9);
	draw_input_fini(&input);
}

static void wanted_kind_alone_is_read(void **state)
{
	struct profile_part parts[PROFILE_MAX_KINDS];
	struct draw_input input;

	assert_int_equal(draw_input_init(&input), 0);
	input.wanted = "wall";
	assert_int_equal(read_kinds(&input, 1000, &profile_kind_wall), 0);
	assert_int_equal(draw_input_parts(&input, parts), 1);
	assert_string_equal(parts[0].kind->name, "wall");
	assert_int_equal(parts[0].profile->quality.samples, 1000);
	draw_input_fini(&input);
}

/* So that the text about a recording's first kind is not taken for one about another. */
static void kind_that_is_not_the_first_is_known(void **state)
{
	struct draw_input input;

	assert_int_equal(draw_input_init(&input), 0);
	assert_int_equal(read_kinds(&input, 1000, &profile_kind_wall), 0);
	assert_false(input.is_later);
	assert_true(input.next->is_later);
	draw_input_fini(&input);
	assert_int_equal(draw_input_init(&input), 0);
	input.wanted = "wall";
	assert_int_equal(read_kinds(&input, 1000, &profile_kind_wall), 0);
	assert_true(input.is_later);
	draw_input_fini(&input);
}

static void kind_that_is_not_there_is_refused(void **state)
{
	struct draw_input input;

	assert_int_equal(draw_input_init(&input), 0);
	input.wanted = "offcpu";
	assert_int_equal(read_kinds(&input, 1000, &profile_kind_wall), -ENODATA);
	draw_input_fini(&input);
}

static void unknown_kind_keeps_its_name_and_unit(void **state)
{
	const struct profile_kind moon = {"moon", "cheese"};
	struct profile_part parts[PROFILE_MAX_KINDS];
	struct draw_input input;

	assert_int_equal(draw_input_init(&input), 0);
	assert_int_equal(read_kinds(&input, 1000, &moon), 0);
	assert_int_equal(draw_input_parts(&input, parts), 2);
	assert_true(profile_kind_is_same(parts[1].kind, &moon));
	draw_input_fini(&input);
}

static void recordings_of_one_boot_keep_threads_and_times(void **state)
{
	struct profile_info earlier = info;
	struct draw_input input;
	const struct timeline *const timeline = &input.recording.timeline;

	earlier.start_unix_ns -= 10 * SECOND;
	assert_int_equal(draw_input_init(&input), 0);
	add_recording(&input, info);
	add_recording(&input, earlier);
	assert_int_equal(input.profile.quality.samples, 2);
	assert_int_equal(timeline->n_processes, 1);
	assert_int_equal(timeline->n_threads, 1);
	assert_int_equal(timeline->n_entries, 2);
	assert_int_equal(timeline->entries[0].bucket * timeline->bucket_ns, SECOND / 2);
	assert_int_equal(timeline->entries[1].bucket * timeline->bucket_ns,
			 10 * SECOND + SECOND / 2);
	assert_int_equal(timeline->entries[0].node, timeline->entries[1].node);
	assert_int_equal(input.recording.info.start_unix_ns, earlier.start_unix_ns);
	assert_int_equal(input.recording.info.duration_ns, 11 * SECOND);
	assert_int_equal(input.recording.info.hz, 99);
	assert_string_equal(input.recording.info.event, "cycles");
	assert_string_equal(input.recording.title, "T");
	draw_input_fini(&input);
}

static void check_other_clock(struct profile_info other)
{
	struct draw_input input;
	const struct timeline *const timeline = &input.recording.timeline;

	assert_int_equal(draw_input_init(&input), 0);
	add_recording(&input, info);
	add_recording(&input, other);
	add_recording(&input, info);
	assert_int_equal(timeline->n_processes, 3);
	assert_int_equal(timeline->n_threads, 3);
	assert_int_equal(timeline->n_entries, 3);
	assert_int_equal(timeline->entries[2].bucket, 0);
	assert_string_equal(timeline->threads[2].name, "t");
	assert_int_equal(input.recording.info.start_unix_ns, 0);
	/* Of clocks that differ nothing is said that holds for one alone. */
	assert_true(!input.recording.info.host || !input.recording.info.boot_id);
	assert_int_equal(input.recording.info.duration_ns, 0);
	draw_input_fini(&input);
}

static void recordings_of_other_clocks_keep_threads(void **state)
{
	struct profile_info host = info, boot = info, old = info;

	host.host = "other";
	boot.boot_id = "next";
	old.boot_id = NULL;
	check_other_clock(host);
	check_other_clock(boot);
	check_other_clock(old);
}

static void reasons_are_added_up_by_their_words(void **state)
{
	struct profile_info swapped = info;
	struct draw_input input;

	swapped.reasons[0] = "by fp";
	swapped.reasons[1] = "no rule";
	assert_int_equal(draw_input_init(&input), 0);
	add_recording(&input, info);
	add_recording(&input, swapped);
	add_recording(&input, info);
	/* Of a reason without samples a file does not speak. */
	assert_string_equal(input.recording.info.reasons[0], "by fp");
	assert_string_equal(input.recording.info.reasons[1], "no rule");
	assert_int_equal(input.recording.info.quality.truncated_samples[0], 2);
	assert_int_equal(input.recording.info.quality.truncated_samples[1], 1);
	draw_input_fini(&input);
}

static void what_is_not_the_same_in_all_is_not_said(void **state)
{
	struct profile_info other = info;
	struct draw_input input;

	other.hz = 49;
	other.event = "faults";
	assert_int_equal(draw_input_init(&input), 0);
	add_recording(&input, info);
	add_recording(&input, other);
	assert_int_equal(input.recording.info.hz, 0);
	assert_null(input.recording.info.event);
	assert_string_equal(input.recording.info.host, "host");
	draw_input_fini(&input);
}

/* In whatever order. */
static void stacks_beside_a_recording_have_no_cpu_time(void **state)
{
	for (int i = 0; i < 2; i++) {
		struct draw_input input;

		assert_int_equal(draw_input_init(&input), 0);
		if (i)
			add_folded(&input, "g 5\n");
		add_recording(&input, info);
		if (!i)
			add_folded(&input, "g 5\n");
		assert_true(input.recording.is_read);
		assert_int_equal(input.recording.info.hz, 0);
		assert_int_equal(input.recording.timeline.n_entries, 1);
		assert_int_equal(input.recording.info.quality.samples, 6);
		draw_input_fini(&input);
	}
}

static void stacks_that_are_cut_keep_their_build(void **state)
{
	struct draw_input input;

	assert_int_equal(draw_input_init(&input), 0);
	add_recording(&input, info);
	add_folded(&input, "g 5\n");
	assert_int_equal(draw_cut(&input, (const char *[]){"f", NULL}, false), 0);
	assert_int_equal(input.profile.quality.samples, 1);
	assert_string_equal(profile_build_id(input.profile.nodes[1].module), "c0ffee");
	assert_false(input.recording.is_read);
	draw_input_fini(&input);
}

static void check_cut(const char *folded, const char *name, bool keeps_others, uint64_t samples,
		      const char *first)
{
	struct draw_input input;

	assert_int_equal(draw_input_init(&input), 0);
	add_folded(&input, folded);
	assert_int_equal(draw_cut(&input, (const char *[]){name, "d", NULL}, keeps_others), 0);
	assert_int_equal(input.profile.quality.samples, samples);
	assert_int_equal(input.profile.nodes[0].total, samples);
	assert_string_equal(input.profile.nodes[1].name, first);
	draw_input_fini(&input);
}

static void stacks_begin_at_the_outermost_frame_of_the_name(void **state)
{
	check_cut("x;a;b;a;c 3\ny 4\n", "a", false, 3, "a");
	check_cut("x;a;b;a;c 3\ny 4\n", "a", true, 7, "a");
	check_cut("x;a;b;a;c 3\ny 4\n", "c", false, 3, "c");
	check_cut("x;a;b;a;c 3\ny 4\n", "none", true, 7, "x");
	check_cut("a;b 1\nc;d 1\n", "b", false, 2, "b"); /* the other one is d */
	check_cut("a;d;b 1\nc;b;d 2\ne 4\n", "b", false, 3, "d");
	check_cut("a;d;b 1\ne 4\n", "b", true, 5, "d");
}

/* Folded stacks do not say what they count. */
static void kind_of_folded_stacks_is_what_is_asked_for(void **state)
{
	struct draw_input input;

	assert_int_equal(draw_input_init(&input), 0);
	input.wanted = "wall";
	add_folded(&input, "x;a 3\n");
	assert_true(profile_kind_is_same(&input.kind, &profile_kind_wall));
	draw_input_fini(&input);
}

static void nothing_below_the_first_of_the_name_is_cut(void **state)
{
	struct draw_input input;

	assert_int_equal(draw_input_init(&input), 0);
	add_folded(&input, "x;a;b;a;c 3\n");
	assert_int_equal(draw_cut(&input, (const char *[]){"a", NULL}, false), 0);
	assert_int_equal(input.profile.count, 5); /* all, a, b, a, c */
	draw_input_fini(&input);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds_of_several_recordings_are_joined_by_name),
		cmocka_unit_test(wanted_kind_alone_is_read),
		cmocka_unit_test(kind_that_is_not_the_first_is_known),
		cmocka_unit_test(kind_that_is_not_there_is_refused),
		cmocka_unit_test(unknown_kind_keeps_its_name_and_unit),
		cmocka_unit_test(recordings_of_one_boot_keep_threads_and_times),
		cmocka_unit_test(recordings_of_other_clocks_keep_threads),
		cmocka_unit_test(reasons_are_added_up_by_their_words),
		cmocka_unit_test(what_is_not_the_same_in_all_is_not_said),
		cmocka_unit_test(stacks_beside_a_recording_have_no_cpu_time),
		cmocka_unit_test(stacks_begin_at_the_outermost_frame_of_the_name),
		cmocka_unit_test(kind_of_folded_stacks_is_what_is_asked_for),
		cmocka_unit_test(nothing_below_the_first_of_the_name_is_cut),
		cmocka_unit_test(stacks_that_are_cut_keep_their_build),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
