// SPDX-License-Identifier: Apache-2.0
/* Two timelines as one: whose samples they are, and when they were. */
#include "profile/timeline_merge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define BUCKET TIMELINE_BUCKET_NS

/* A sample of thread "t" of that process in that bucket. */
static void add(struct timeline *timeline, pid_t pid, uint32_t bucket, uint32_t node)
{
	const struct timeline_process process = {.pid = pid, .title = "Main", .pod = "p"};
	const struct timeline_thread thread = {
		.process = timeline_process(timeline, &process), .tid = pid + 1, .name = "t"};
	const struct timeline_entry entry = {
		.thread = timeline_thread(timeline, &thread), .node = node, .weight = 1};

	timeline_add(timeline, bucket * BUCKET, &entry);
}

/* Two of process 7, and one of 8, in the third bucket. */
static void make(struct timeline *to, struct timeline *from)
{
	timeline_init(to, 0);
	timeline_init(from, 0);
	add(to, 7, 3, 1);
	add(from, 7, 2, 1);
	add(from, 8, 5, 2);
	to->lost_samples = 1;
	from->lost_samples = 2;
	from->lost_names = 3;
}

static void check_entry(const struct timeline *timeline, size_t i, uint32_t bucket)
{
	const struct timeline_entry *const entry = &timeline->entries[i];
	const struct timeline_thread *const thread = &timeline->threads[entry->thread];
	const pid_t pid = entry->node == 2 ? 8 : 7;

	assert_int_equal(entry->bucket, bucket);
	assert_int_equal(timeline->processes[thread->process].pid, pid);
	assert_int_equal(thread->tid, pid + 1);
	assert_string_equal(thread->name, "t");
}

static void check(const struct timeline_merging *how, size_t processes, const uint32_t buckets[3])
{
	struct timeline to, from;

	make(&to, &from);
	assert_int_equal(timeline_merge(&to, &from, how), 0);
	assert_int_equal(to.n_processes, processes);
	assert_string_equal(to.processes[processes - 1].pod, "p");
	assert_int_equal(to.lost_samples, 3);
	assert_int_equal(to.lost_names, 3);
	assert_int_equal(to.n_entries, 3);
	for (size_t i = 0; i < 3; i++)
		check_entry(&to, i, buckets[i]);
	timeline_fini(&to);
	timeline_fini(&from);
}

static void what_began_later_is_behind(void **state)
{
	check(&(struct timeline_merging){true, true, 0, 10 * BUCKET}, 2, (uint32_t[]){3, 12, 15});
	check(&(struct timeline_merging){true, true, 0, 0}, 2, (uint32_t[]){2, 3, 5});
}

static void what_began_earlier_moves_the_others(void **state)
{
	check(&(struct timeline_merging){true, true, 10 * BUCKET, 0}, 2, (uint32_t[]){2, 5, 13});
}

static void what_cannot_be_compared_keeps_its_threads(void **state)
{
	check(&(struct timeline_merging){0}, 3, (uint32_t[]){0, 0, 0});
}

static void days_between_make_buckets_longer(void **state)
{
	const uint64_t week_ns = UINT64_C(7) * 86400 * 1000000000;

	for (int i = 0; i < 2; i++) {
		const struct timeline_merging how = {true, true, i ? week_ns : 0, i ? 0 : week_ns};
		struct timeline to, from;
		uint64_t last_ns;

		make(&to, &from);
		assert_int_equal(timeline_merge(&to, &from, &how), 0);
		last_ns = to.entries[to.n_entries - 1].bucket * to.bucket_ns;
		assert_true(to.entries[to.n_entries - 1].bucket < TIMELINE_MAX_BUCKETS);
		assert_true(last_ns <= week_ns + 5 * BUCKET);
		assert_true(last_ns + 2 * to.bucket_ns > week_ns);
		assert_int_equal(to.entries[0].bucket, 0);
		timeline_fini(&to);
		timeline_fini(&from);
	}
}

static void endless_times_end(void **state)
{
	const struct timeline_merging how = {true, true, 0, UINT64_MAX},
				      back = {true, true, UINT64_MAX, 0};
	struct timeline to, from;

	make(&to, &from);
	assert_int_equal(timeline_merge(&to, &from, &how), 0);
	assert_int_equal(timeline_merge(&to, &from, &back), 0);
	assert_true(to.entries[to.n_entries - 1].bucket < TIMELINE_MAX_BUCKETS);
	timeline_fini(&to);
	timeline_fini(&from);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_began_later_is_behind),
		cmocka_unit_test(what_began_earlier_moves_the_others),
		cmocka_unit_test(what_cannot_be_compared_keeps_its_threads),
		cmocka_unit_test(days_between_make_buckets_longer),
		cmocka_unit_test(endless_times_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
