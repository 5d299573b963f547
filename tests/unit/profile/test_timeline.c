// SPDX-License-Identifier: Apache-2.0
/* The timeline: what is joined, what gives way when there is too much, and what is counted. */
#include "profile/timeline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int setup(void **state)
{
	static struct timeline timeline;

	timeline_init(&timeline, 0);
	*state = &timeline;
	return 0;
}

static int teardown(void **state)
{
	timeline_fini(*state);
	return 0;
}

static uint32_t thread_of(struct timeline *timeline, pid_t pid, pid_t tid, const char *name)
{
	const struct timeline_process process = {.pid = pid, .title = "Main"};
	const struct timeline_thread thread = {
		.process = timeline_process(timeline, &process), .tid = tid, .name = name};

	return timeline_thread(timeline, &thread);
}

static void add(struct timeline *timeline, uint64_t at_ns, uint32_t thread, uint32_t node)
{
	const struct timeline_entry entry = {.thread = thread, .node = node, .weight = 1};

	timeline_add(timeline, at_ns, &entry);
}

static uint64_t weight_of(const struct timeline *timeline)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < timeline->n_entries; i++)
		sum += timeline->entries[i].weight;
	return sum;
}

static void a_thread_has_a_row_for_each_set_of_labels(void **state)
{
	struct timeline *const timeline = *state;
	struct timeline_thread thread = {.tid = 8, .name = "main", .labels = "a\tb\n"};
	const uint32_t plain = thread_of(timeline, 7, 8, "main");
	const uint32_t labelled = timeline_thread(timeline, &thread);

	assert_int_not_equal(labelled, plain);
	assert_int_equal(timeline_thread(timeline, &thread), labelled);
	assert_int_equal(thread_of(timeline, 7, 8, "main"), plain);
	thread.labels = "a\tc\n";
	assert_int_not_equal(timeline_thread(timeline, &thread), labelled);
	assert_string_equal(timeline->threads[labelled].labels, "a\tb\n");
	assert_string_equal(timeline->threads[plain].labels, "");
	assert_int_equal(timeline->lost_names, 0);
}

static void endless_labels_leave_room_for_threads(void **state)
{
	struct timeline *const timeline = *state;
	struct timeline_thread thread = {.tid = 8, .name = "main"};
	const uint32_t plain = thread_of(timeline, 7, 8, "main");
	char labels[32];

	for (unsigned i = 0; i < TIMELINE_MAX_THREADS; i++) {
		snprintf(labels, sizeof(labels), "trace\t%u\n", i);
		thread.labels = labels;
		timeline_thread(timeline, &thread);
	}
	assert_int_equal(timeline->n_threads, TIMELINE_MAX_THREADS / 2);
	assert_int_equal(timeline->lost_names, TIMELINE_MAX_THREADS / 2 + 1);
	assert_int_equal(timeline_thread(timeline, &thread), plain);
	assert_int_equal(thread_of(timeline, 7, 9, "other"), TIMELINE_MAX_THREADS / 2);
}

static void equal_samples_of_a_bucket_are_one_entry(void **state)
{
	struct timeline *const timeline = *state;
	const uint32_t thread = thread_of(timeline, 7, 8, "main");

	add(timeline, TIMELINE_BUCKET_NS, thread, 3);
	add(timeline, 0, thread, 3);
	add(timeline, TIMELINE_BUCKET_NS + 1, thread, 3);
	timeline_sort(timeline);
	assert_int_equal(timeline->n_entries, 2);
	assert_int_equal(timeline->entries[0].bucket, 0);
	assert_int_equal(timeline->entries[1].bucket, 1);
	assert_int_equal(timeline->entries[1].weight, 2);
}

static void thread_is_its_process_and_tid(void **state)
{
	struct timeline *const timeline = *state;
	const uint32_t first = thread_of(timeline, 7, 8, "");

	assert_int_equal(thread_of(timeline, 7, 8, "worker"), first);
	assert_int_equal(thread_of(timeline, 7, 8, ""), first);
	assert_string_equal(timeline->threads[first].name, "worker");
	assert_int_not_equal(thread_of(timeline, 9, 8, "worker"), first);
	assert_int_not_equal(thread_of(timeline, 7, 9, "worker"), first);
	assert_string_equal(timeline->processes[0].container, "");
}

static void a_renamed_thread_has_a_row_for_each_name(void **state)
{
	struct timeline *const timeline = *state;
	const uint32_t first = thread_of(timeline, 7, 8, "job-1");
	const uint32_t second = thread_of(timeline, 7, 8, "job-2");
	const uint32_t third = thread_of(timeline, 7, 8, "job-3");

	assert_int_not_equal(second, first);
	assert_string_equal(timeline->threads[first].name, "job-1");
	assert_string_equal(timeline->threads[second].name, "job-2");
	assert_int_equal(timeline->threads[third].first, first);
	assert_int_equal(thread_of(timeline, 7, 8, "job-1"), first);
	assert_int_equal(thread_of(timeline, 7, 8, ""), first); /* the name that it had last */
	assert_int_equal(thread_of(timeline, 7, 8, "job-3"), third);
	assert_int_equal(thread_of(timeline, 7, 8, ""), third);
	assert_int_equal(timeline->n_threads, 3);
}

static void a_row_takes_the_whole_of_a_name_that_was_cut(void **state)
{
	struct timeline *const timeline = *state;
	const uint32_t first = thread_of(timeline, 7, 8, "http-nio-8080-e");
	struct timeline_thread thread = timeline->threads[first];

	thread.name = "http-nio-8080-exec-1";
	thread.cut_name = "http-nio-8080-e";
	assert_int_equal(timeline_thread(timeline, &thread), first);
	assert_string_equal(timeline->threads[first].name, "http-nio-8080-exec-1");
	thread.name = "http-nio-8080-exec-2";
	assert_int_not_equal(timeline_thread(timeline, &thread), first);
}

static void names_past_the_cap_are_one_of_their_thread(void **state)
{
	struct timeline *const timeline = *state;
	char name[32];
	uint32_t rest;

	for (unsigned i = 0; i < TIMELINE_MAX_NAMES; i++) {
		snprintf(name, sizeof(name), "job-%u", i);
		thread_of(timeline, 7, 8, name);
	}
	rest = thread_of(timeline, 7, 8, "one more");
	assert_int_equal(thread_of(timeline, 7, 8, "and another"), rest);
	assert_int_equal(timeline->threads[rest].tid, 8);
	assert_string_equal(timeline->threads[rest].name, "[other names]");
	assert_int_equal(timeline->n_threads, TIMELINE_MAX_NAMES + 1);
	assert_int_equal(timeline->lost_names, 2);
	assert_int_equal(timeline->threads[thread_of(timeline, 7, 8, "job-9")].tid, 8);
	assert_string_equal(timeline->threads[thread_of(timeline, 7, 8, "job-9")].name, "job-9");
}

static void a_new_name_has_no_room_in_a_closed_timeline(void **state)
{
	struct timeline *const timeline = *state;
	const uint32_t first = thread_of(timeline, 7, 8, "job-1");
	uint32_t rest;

	timeline->is_closed = true;
	rest = thread_of(timeline, 7, 8, "job-2");
	assert_string_equal(timeline->threads[rest].name, "[other threads]");
	assert_int_equal(thread_of(timeline, 7, 8, "job-1"), first);
}

static void long_recording_has_wider_buckets(void **state)
{
	struct timeline *const timeline = *state;
	const uint32_t thread = thread_of(timeline, 7, 8, "main");
	const uint64_t day = UINT64_C(86400) * 1000000000;

	add(timeline, TIMELINE_BUCKET_NS * 5, thread, 3);
	add(timeline, day, thread, 3);
	timeline_sort(timeline);
	assert_true(day / timeline->bucket_ns < TIMELINE_MAX_BUCKETS);
	assert_int_equal(timeline->entries[0].bucket, 5 * TIMELINE_BUCKET_NS / timeline->bucket_ns);
	assert_int_equal(timeline->entries[1].bucket, day / timeline->bucket_ns);
}

static void entries_give_way_to_wider_buckets(void **state)
{
	struct timeline *const timeline = *state;
	uint32_t thread;

	timeline->max_entries = 100;
	thread = thread_of(timeline, 7, 8, "main");
	for (uint64_t i = 0; i < 1000; i++)
		add(timeline, i * TIMELINE_BUCKET_NS, thread, 3);
	timeline_sort(timeline);
	assert_true(timeline->n_entries <= 100);
	assert_int_equal(weight_of(timeline), 1000);
	assert_int_equal(timeline->lost_samples, 0);
}

static void what_has_no_room_in_one_bucket_is_counted(void **state)
{
	struct timeline *const timeline = *state;
	uint32_t thread;

	timeline->max_entries = 10;
	thread = thread_of(timeline, 7, 8, "main");
	for (uint32_t node = 0; node < 30; node++)
		add(timeline, 0, thread, node);
	assert_int_equal(weight_of(timeline) + timeline->lost_samples, 30);
	assert_true(timeline->lost_samples > 0);
}

static void a_weight_of_more_than_32_bits_is_several_entries(void **state)
{
	struct timeline *const timeline = *state;
	const struct timeline_entry entry = {.thread = thread_of(timeline, 7, 8, "main")};

	timeline_add_weight(timeline, 0, &entry, 2 * (uint64_t)UINT32_MAX + 5);
	timeline_add_weight(timeline, 0, &entry, 0);
	assert_int_equal(timeline->n_entries, 3);
	timeline_sort(timeline);
	assert_int_equal(timeline->n_entries, 3);
	assert_true(weight_of(timeline) == 2 * (uint64_t)UINT32_MAX + 5);
	assert_int_equal(timeline->lost_samples, 0);
}

static void what_would_take_endless_entries_is_counted(void **state)
{
	struct timeline *const timeline = *state;
	const struct timeline_entry entry = {.thread = thread_of(timeline, 7, 8, "main")};

	timeline_add_weight(timeline, 0, &entry, UINT64_MAX);
	assert_int_equal(timeline->n_entries, TIMELINE_MAX_PIECES);
	assert_true(weight_of(timeline) + timeline->lost_samples == UINT64_MAX);
}

static void threads_past_the_cap_are_one_of_their_process(void **state)
{
	struct timeline *const timeline = *state;
	uint32_t rest;

	for (pid_t tid = 1; tid <= (pid_t)TIMELINE_MAX_THREADS; tid++)
		thread_of(timeline, 7, tid, "t");
	rest = thread_of(timeline, 7, 70001, "u");
	assert_int_equal(thread_of(timeline, 7, 70002, "v"), rest);
	assert_int_equal(timeline->threads[rest].tid, 0);
	assert_string_equal(timeline->threads[rest].name, "[other threads]");
}

/* An agent says what threads are called: it must not fill the memory. */
static void endless_new_names_are_bounded(void **state)
{
	struct timeline *const timeline = *state;
	char name[1001];

	memset(name, 'x', sizeof(name));
	for (int i = 0; i < 20000; i++) {
		snprintf(name, 9, "%08d", i);
		name[8] = 'x';
		name[1000] = '\0';
		thread_of(timeline, 7, 8 + i / 100, name);
	}
	assert_true(timeline->texts.arena.total_bytes < TIMELINE_MAX_TEXT_BYTES + (1u << 20));
	assert_true(timeline->lost_names > 0);
	assert_true(timeline->threads[0].name[0] != '\0');
}

static void sample_of_no_thread_is_counted(void **state)
{
	struct timeline *const timeline = *state;

	add(timeline, 0, UINT32_MAX, 1);
	assert_int_equal(timeline->n_entries, 0);
	assert_int_equal(timeline->lost_samples, 1);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(equal_samples_of_a_bucket_are_one_entry),
		CASE(a_thread_has_a_row_for_each_set_of_labels),
		CASE(endless_labels_leave_room_for_threads),
		CASE(thread_is_its_process_and_tid),
		CASE(a_renamed_thread_has_a_row_for_each_name),
		CASE(a_row_takes_the_whole_of_a_name_that_was_cut),
		CASE(names_past_the_cap_are_one_of_their_thread),
		CASE(a_new_name_has_no_room_in_a_closed_timeline),
		CASE(long_recording_has_wider_buckets),
		CASE(entries_give_way_to_wider_buckets),
		CASE(what_has_no_room_in_one_bucket_is_counted),
		CASE(a_weight_of_more_than_32_bits_is_several_entries),
		CASE(what_would_take_endless_entries_is_counted),
		CASE(threads_past_the_cap_are_one_of_their_process),
		CASE(endless_new_names_are_bounded),
		CASE(sample_of_no_thread_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
