// SPDX-License-Identifier: Apache-2.0
/* Claims about store/store_sum.h: what of several parts is in a range. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "samples.h"

#include <stdio.h>

#define START 1700000000u

static struct samples first, second;
static struct store_sum sum;

static int set_up(void **state)
{
	samples_init(&first, &profile_kind_cpu, START, 10);
	samples_init(&second, &profile_kind_cpu, START + 10, 10);
	store_sum_init(&sum, START * SAMPLES_SEC);
	return 0;
}

static int tear_down(void **state)
{
	samples_fini(&first);
	samples_fini(&second);
	store_sum_fini(&sum);
	return 0;
}

static void add(struct samples *samples, double from_sec, double to_sec)
{
	const struct store_range range = {
		START * SAMPLES_SEC + (uint64_t)(from_sec * (double)SAMPLES_SEC),
		START * SAMPLES_SEC + (uint64_t)(to_sec * (double)SAMPLES_SEC)};

	samples_end(samples);
	assert_int_equal(store_sum_add(&sum, &samples->part, &range), 0);
}

static void whole_parts_are_added_up(void **state)
{
	samples_add(&first, "A.a", 1, 3);
	samples_add(&second, "A.a", 2, 4);
	samples_add(&second, "B.b", 2, 5);
	add(&first, 0, 20);
	add(&second, 0, 20);
	store_sum_finish(&sum);
	assert_int_equal(sum.n, 1);
	assert_int_equal(samples_count_in(&sum, "A.a"), 7);
	assert_int_equal(samples_count_in(&sum, "B.b"), 5);
	assert_int_equal(sum.kinds[0]->profile.nodes[PROFILE_ROOT].total, 12);
	assert_int_equal(sum.kinds[0]->info.duration_ns, 20 * SAMPLES_SEC);
	assert_int_equal(sum.kinds[0]->info.hz, 19);
	assert_string_equal(sum.kinds[0]->info.host, "h");
}

static void of_a_part_that_is_cut_are_the_samples_in_the_range(void **state)
{
	samples_add(&first, "A.a", 1, 3);
	samples_add(&first, "A.a", 5, 4);
	samples_add(&first, "B.b", 8, 5);
	add(&first, 4, 8);
	store_sum_finish(&sum);
	assert_int_equal(samples_count_in(&sum, "A.a"), 4);
	assert_int_equal(samples_count_in(&sum, "B.b"), 0); /* the end is not in the range */
	assert_int_equal(sum.kinds[0]->profile.quality.samples, 4);
}

static void times_are_since_the_start_of_the_sum(void **state)
{
	const struct timeline *timeline;

	samples_add(&second, "A.a", 2, 4);
	add(&second, 0, 20);
	store_sum_finish(&sum);
	timeline = &sum.kinds[0]->timeline;
	assert_int_equal(timeline->n_entries, 1);
	assert_int_equal(timeline->entries[0].bucket * timeline->bucket_ns, 12 * SAMPLES_SEC);
	assert_string_equal(timeline->threads[timeline->entries[0].thread].name, "main");
}

static void quality_is_that_of_the_share(void **state)
{
	samples_add(&first, "A.a", 1, 30);
	samples_add(&first, "A.a", 5, 10);
	first.profile.quality.unrooted_samples = 8;
	first.profile.quality.truncated_samples[1] = 4;
	first.info.reasons[1] = "why";
	add(&first, 4, 8);
	store_sum_finish(&sum);
	assert_int_equal(sum.kinds[0]->profile.quality.unrooted_samples, 2);
	assert_int_equal(sum.kinds[0]->info.quality.truncated_samples[0], 1);
	assert_string_equal(sum.kinds[0]->info.reasons[0], "why");
}

static void samples_without_a_time_are_counted_where_a_part_is_cut(void **state)
{
	samples_add(&first, "A.a", 1, 3);
	first.timeline.lost_samples = 7;
	add(&first, 0, 5);
	assert_int_equal(sum.untimed, 7);
}

static void processes_with_one_pid_stay_two(void **state)
{
	samples_add(&first, "A.a", 1, 3);
	samples_add(&second, "A.a", 1, 3);
	add(&first, 0, 20);
	store_sum_next_process(&sum);
	add(&second, 0, 20);
	store_sum_finish(&sum);
	assert_int_equal(sum.kinds[0]->timeline.n_processes, 2);
}

static void facts_that_differ_are_left_out(void **state)
{
	samples_add(&first, "A.a", 1, 3);
	samples_add(&second, "A.a", 1, 3);
	second.info.hz = 99;
	second.info.event = "cycles";
	add(&first, 0, 20);
	add(&second, 0, 20);
	store_sum_finish(&sum);
	assert_int_equal(sum.kinds[0]->info.hz, 0);
	assert_null(sum.kinds[0]->info.event);
	assert_string_equal(sum.kinds[0]->info.host, "h");
}

static void kinds_stay_apart(void **state)
{
	struct samples other;

	samples_init(&other, &profile_kind_wall, START, 10);
	samples_add(&first, "A.a", 1, 3);
	samples_add(&other, "A.a", 1, 1000);
	add(&first, 0, 20);
	add(&other, 0, 20);
	store_sum_finish(&sum);
	assert_int_equal(sum.n, 2);
	assert_int_equal(sum.kinds[1]->profile.quality.samples, 1000);
	samples_fini(&other);
}

static void a_kind_with_another_unit_is_left_out_and_counted(void **state)
{
	const struct profile_kind kind = {"cpu", "bananas"};
	struct samples other;

	samples_init(&other, &kind, START, 10);
	samples_add(&first, "A.a", 1, 3);
	samples_add(&other, "A.a", 1, 1000);
	add(&first, 0, 20);
	add(&other, 0, 20);
	assert_int_equal(sum.left_out, 1);
	assert_int_equal(samples_count_in(&sum, "A.a"), 3);
	samples_fini(&other);
}

static void a_part_that_overflows_is_left_out_whole_and_counted(void **state)
{
	samples_add(&first, "A.a", 1, 3);
	add(&first, 0, 20);
	samples_add(&second, "B.b", 1, 5);
	second.profile.nodes[second.profile.count - 1].self = UINT64_MAX - 2;
	add(&second, 0, 20);
	store_sum_finish(&sum);
	assert_int_equal(sum.left_out, 1);
	assert_int_equal(sum.parts, 1);
	assert_int_equal(samples_count_in(&sum, "A.a"), 3);
	assert_int_equal(sum.kinds[0]->profile.count, 3);
	assert_int_equal(sum.kinds[0]->timeline.n_entries, 1);
	assert_int_equal(sum.kinds[0]->info.duration_ns, 10 * SAMPLES_SEC);
}

static void a_part_that_overflows_by_itself_is_left_out(void **state)
{
	samples_add(&first, "A.a", 1, 3);
	samples_add(&first, "B.b", 1, 3);
	for (uint32_t id = 0; id < first.profile.count; id++)
		first.profile.nodes[id].self = UINT64_MAX / 2;
	add(&first, 0, 20);
	assert_int_equal(sum.left_out, 1);
}

static void nodes_and_times_past_a_limit_are_joined(void **state)
{
	char method[16];

	for (unsigned i = 0; i < 1000; i++) {
		snprintf(method, sizeof(method), "A.a%u", i);
		samples_add(&first, method, (double)i / 100, 1);
	}
	store_sum_limit(&sum, &(struct store_sum_limits){.nodes = 100, .times = 200});
	add(&first, 0, 20);
	store_sum_finish(&sum);
	assert_in_range(sum.kinds[0]->profile.count, 50, 100);
	assert_in_range(sum.kinds[0]->timeline.n_entries, 50, 200);
	assert_int_equal(sum.kinds[0]->profile.nodes[PROFILE_ROOT].total, 1000);
	assert_true(samples_count_in(&sum, "[overflow]") > 900);
	assert_int_equal(sum.kinds[0]->profile.quality.overflow_samples,
			 samples_count_in(&sum, "[overflow]"));
}

static void names_past_a_limit_are_not_kept(void **state)
{
	char method[16];

	for (unsigned i = 0; i < 20000; i++) {
		snprintf(method, sizeof(method), "A.a%u", i);
		samples_add(&first, method, 1, 1);
	}
	store_sum_limit(&sum, &(struct store_sum_limits){.name_bytes = 100000});
	add(&first, 0, 20);
	store_sum_finish(&sum);
	assert_in_range(sum.kinds[0]->profile.names.arena.total_bytes, 100000, 140000);
	assert_int_equal(sum.kinds[0]->profile.nodes[PROFILE_ROOT].total, 20000);
	assert_int_equal(sum.kinds[0]->profile.quality.overflow_samples,
			 samples_count_in(&sum, "[overflow]"));
	assert_true(samples_count_in(&sum, "A.a0") == 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
		TEST(whole_parts_are_added_up),
		TEST(of_a_part_that_is_cut_are_the_samples_in_the_range),
		TEST(times_are_since_the_start_of_the_sum),
		TEST(quality_is_that_of_the_share),
		TEST(samples_without_a_time_are_counted_where_a_part_is_cut),
		TEST(processes_with_one_pid_stay_two),
		TEST(facts_that_differ_are_left_out),
		TEST(kinds_stay_apart),
		TEST(a_part_that_overflows_is_left_out_whole_and_counted),
		TEST(a_part_that_overflows_by_itself_is_left_out),
		TEST(nodes_and_times_past_a_limit_are_joined),
		TEST(names_past_a_limit_are_not_kept),
		TEST(a_kind_with_another_unit_is_left_out_and_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
