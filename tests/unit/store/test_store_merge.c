// SPDX-License-Identifier: Apache-2.0
/* Claims about store/store_merge.h: windows become hours, and nothing is lost on the way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "samples.h"

#include "common/files.h"
#include "common/temp_dir.h"
#include "store/store_content.h"
#include "store/store_merge.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define HOUR  1699999200u /* begins there */
#define WHOLE 0, 4000000000u

static char dir[TEMP_DIR_BYTES];
static struct store *store;
static struct store_process process;

static int set_up(void **state)
{
	temp_dir_make(dir);
	store = samples_open(dir, HOUR);
	process = samples_process(4711, 5, "org.example.Main");
	return 0;
}

static int tear_down(void **state)
{
	store_close(store);
	temp_dir_remove(dir);
	return 0;
}

static void write_hour(uint64_t start_sec)
{
	for (uint64_t at = start_sec; at < start_sec + 3600; at += 10)
		assert_int_equal(samples_write(store, (int64_t)at + 10, &process, "A.a", at, 19),
				 0);
}

static int merge(int64_t now_sec)
{
	const struct wall_clock now = samples_clock(now_sec);

	return store_merge(store, &now);
}

static void an_hour_that_is_over_becomes_one_segment(void **state)
{
	const uint64_t all = 360u * 19;

	write_hour(HOUR);
	assert_int_equal(store->stats.segments, 360);
	assert_int_equal(merge(HOUR + 3590), 0); /* not yet */
	assert_int_equal(merge(HOUR + 3661), 1);
	assert_int_equal(merge(HOUR + 3661), 0);
	assert_int_equal(store->stats.segments, 1);
	assert_int_equal(store->stats.merged, 1);
	assert_int_equal(samples_count(dir, "A.a", WHOLE), all);
	/*
	 * A range in the hour: the windows that begin in its minute have their sample a second in.
	 */
	assert_int_equal(samples_count(dir, "A.a", HOUR + 600, HOUR + 660), 6 * 19);
}

static void an_hour_that_goes_on_stays_windows(void **state)
{
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(samples_write(store, HOUR + 10 * (i + 1), &process, "A.a",
					       HOUR + 10 * i, 19),
				 0);
	assert_int_equal(merge(HOUR + 1800), 0);
	assert_int_equal(store->stats.segments, 3);
}

static void the_files_of_windows_go(void **state)
{
	char path[TEMP_DIR_BYTES + 64];

	write_hour(HOUR);
	snprintf(path, sizeof(path), "%s/segments/20231114T220010Z-4711-5.fgrec", dir);
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(merge(HOUR + 3661), 1);
	assert_int_equal(access(path, F_OK), -1);
}

/* Much of what a container may choose takes xz long. */
static void a_large_hour_is_packed_fast(void **state)
{
	const struct wall_clock now = samples_clock(HOUR + 10);
	char path[TEMP_DIR_BYTES + 64], name[1001], *data;
	struct samples samples;
	struct store_window window;
	size_t len;

	samples_init(&samples, &profile_kind_cpu, HOUR, 10);
	for (unsigned i = 0; i < 9000; i++) {
		snprintf(name, sizeof(name), "A.%0998u", i);
		samples_add(&samples, name, 1, 1);
	}
	samples_end(&samples);
	window = (struct store_window){.process = process,
				       .start_ns = HOUR * SAMPLES_SEC,
				       .end_ns = (HOUR + 10) * SAMPLES_SEC,
				       .parts = &samples.part,
				       .n_parts = 1};
	assert_int_equal(store_begin(store, &now), 0);
	assert_int_equal(store_add(store, &window), 0);
	assert_int_equal(store_commit(store), 0);
	samples_fini(&samples);
	assert_int_equal(samples_write(store, HOUR + 20, &process, "A.a", HOUR + 10, 1), 0);
	assert_int_equal(merge(HOUR + 3661), 1);
	snprintf(path, sizeof(path), "%s/segments/20231114T220000Z-4711-5.2.fgrec", dir);
	data = files_read(path, &len);
	assert_memory_equal(data, "fgrec 1\n", 8);
	free(data);
	snprintf(name, sizeof(name), "A.%0998u", 8999);
	assert_int_equal(samples_count(dir, name, WHOLE), 1);
}

static void an_hour_is_packed_better_than_windows(void **state)
{
	char path[TEMP_DIR_BYTES + 64], *data;
	size_t len;

	write_hour(HOUR);
	snprintf(path, sizeof(path), "%s/segments/20231114T220000Z-4711-5.fgrec", dir);
	data = files_read(path, &len);
	assert_memory_equal(data, "fgrec 1\n", 8);
	free(data);
	assert_int_equal(merge(HOUR + 3661), 1);
	snprintf(path, sizeof(path), "%s/segments/20231114T220000Z-4711-5.2.fgrec", dir);
	data = files_read(path, &len);
	assert_memory_equal(data, "fgrec 3\n\xfd", 9);
	free(data);
}

static void hours_and_processes_stay_apart(void **state)
{
	const struct store_process other = samples_process(4711, 900, "org.example.Other");

	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(samples_write(store, HOUR, &process, "A.a", HOUR + 10 * i, 19), 0);
		assert_int_equal(samples_write(store, HOUR, &other, "B.b", HOUR + 10 * i, 19), 0);
		assert_int_equal(
			samples_write(store, HOUR, &process, "C.c", HOUR + 3600 + 10 * i, 19), 0);
	}
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(merge(HOUR + 8000), 1);
	assert_int_equal(merge(HOUR + 8000), 0);
	assert_int_equal(store->stats.segments, 3);
	assert_int_equal(samples_count(dir, "B.b", WHOLE), 38);
}

static void a_window_that_comes_late_joins_its_hour(void **state)
{
	write_hour(HOUR);
	assert_int_equal(merge(HOUR + 3661), 1);
	assert_int_equal(samples_write(store, HOUR + 3700, &process, "A.a", HOUR + 5, 7), 0);
	assert_int_equal(merge(HOUR + 3800), 1);
	assert_int_equal(store->stats.segments, 1);
	assert_int_equal(samples_count(dir, "A.a", WHOLE), 360 * 19 + 7);
}

static void an_hour_in_the_future_is_merged_all_the_same(void **state)
{
	/* The clock was a year ahead, and was set back. */
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(samples_write(store, HOUR, &process, "A.a",
					       HOUR + 365 * 86400u + 10 * i, 19),
				 0);
	assert_int_equal(merge(HOUR + 3599), 0);
	assert_int_equal(merge(HOUR + 3601), 1);
	assert_int_equal(store->stats.segments, 1);
}

static void a_damaged_window_costs_itself(void **state)
{
	char path[TEMP_DIR_BYTES + 64];

	write_hour(HOUR);
	snprintf(path, sizeof(path), "%s/segments/20231114T220010Z-4711-5.fgrec", dir);
	files_write(path, "fgrec 1\nnothing");
	assert_int_equal(merge(HOUR + 3661), 1);
	assert_int_equal(store->stats.damaged, 1);
	assert_int_equal(samples_count(dir, "A.a", WHOLE), 359 * 19);
}

static void change_index(const char *sql)
{
	char path[TEMP_DIR_BYTES + 64];
	sqlite3 *db;

	snprintf(path, sizeof(path), "%s/index.db", dir);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static void write_two(uint64_t start_sec)
{
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(
			samples_write(store, HOUR, &process, "A.a", start_sec + 10 * i, 19), 0);
}

static void an_hour_that_cannot_be_merged_does_not_keep_others_waiting(void **state)
{
	write_two(HOUR);
	change_index("UPDATE segments SET process = 0"); /* there is no such process */
	write_two(HOUR + 3600);
	assert_int_equal(merge(HOUR + 8000), -EBADMSG);
	assert_int_equal(merge(HOUR + 8000), 1);
	assert_int_equal(merge(HOUR + 8000), 0);
	assert_int_equal(store->stats.segments, 3); /* the two are kept */
	assert_int_equal(store->stats.merges_failed, 1);
}

/* One part alone fits in 64 bits; both do not. */
static void an_hour_that_does_not_add_up_stays_windows(void **state)
{
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(samples_write(store, HOUR, &process, "A.a", HOUR + 10 * i,
					       UINT64_MAX / 2 + 10),
				 0);
	assert_int_equal(merge(HOUR + 8000), -EOVERFLOW);
	assert_int_equal(merge(HOUR + 8000), 0);
	assert_int_equal(store->stats.segments, 2);
	assert_int_equal(samples_count(dir, "A.a", HOUR, HOUR + 10), UINT64_MAX / 2 + 10);
}

static void times_that_no_clock_has_are_not_merged(void **state)
{
	static const char *const numbers[] = {
		"start_ns = -5",
		"start_ns = -7200000000000",
		"start_ns = 9223372036854775807",
		"start_ns = 9223372036854775807 - 3600000000000",
		"start_ns = 'now'",
		"start_ns = 1e300",
		"process = 'nobody'",
	};
	char sql[128];

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		write_two(HOUR + 7200 * i);
		snprintf(sql, sizeof(sql), "UPDATE segments SET %s WHERE is_merged = 0",
			 numbers[i]);
		change_index(sql);
		assert_int_equal(merge(HOUR + 2 * 86400), 0);
		change_index("UPDATE segments SET is_merged = 1, process = 1");
	}
	write_two(HOUR + 86400);
	assert_int_equal(merge(HOUR + 2 * 86400), 1);
	assert_int_equal(merge(HOUR + 2 * 86400), 0);
}

/* Nodes of a segment, in the order of their numbers. */
static void a_merged_tree_is_in_the_order_of_a_drawing(void **state)
{
	static const char *const order[] = {"all", "Main.main", "A.a", "B.b", "C.c"};
	static const char *const came[] = {"C.c", "A.a", "B.b"};
	struct store_content content;
	const struct profile *profile;

	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(
			samples_write(store, HOUR, &process, came[i], HOUR + 10 * i, 1 + i), 0);
	assert_int_equal(merge(HOUR + 8000), 1);
	assert_int_equal(store_content_read(&content, store->segments_fd,
					    "20231114T220000Z-4711-5.2.fgrec", NULL),
			 0);
	profile = &content.kinds[0]->profile;
	assert_int_equal(profile->count, 5);
	for (unsigned i = 0; i < 5; i++)
		assert_string_equal(profile->nodes[i].name, order[i]);
	assert_string_equal(content.kinds[0]->recording.info.host, "h");
	store_content_fini(&content);
	assert_int_equal(samples_count(dir, "C.c", HOUR, HOUR + 10), 1);
	assert_int_equal(samples_count(dir, "A.a", HOUR + 10, HOUR + 20), 2);
	assert_int_equal(samples_count(dir, "B.b", HOUR + 20, HOUR + 30), 3);
}

static void a_merged_segment_keeps_the_age_of_its_newest_window(void **state)
{
	const struct wall_clock now = samples_clock(HOUR + 2 * 86400);

	write_hour(HOUR);
	assert_int_equal(merge(HOUR + 86400), 1);
	store->limits.age_sec = 2 * 86400 - 1800;
	assert_int_equal(store_expire(store, &now), 0);
	assert_int_equal(store->stats.removed, 0); /* the hour ended 3600 s after its begin */
	store->limits.age_sec = 86400;
	assert_int_equal(store_expire(store, &now), 0);
	assert_int_equal(store->stats.removed, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
		TEST(an_hour_that_is_over_becomes_one_segment),
		TEST(an_hour_that_goes_on_stays_windows),
		TEST(the_files_of_windows_go),
		TEST(an_hour_is_packed_better_than_windows),
		TEST(a_large_hour_is_packed_fast),
		TEST(hours_and_processes_stay_apart),
		TEST(a_window_that_comes_late_joins_its_hour),
		TEST(an_hour_in_the_future_is_merged_all_the_same),
		TEST(a_damaged_window_costs_itself),
		TEST(an_hour_that_cannot_be_merged_does_not_keep_others_waiting),
		TEST(an_hour_that_does_not_add_up_stays_windows),
		TEST(times_that_no_clock_has_are_not_merged),
		TEST(a_merged_tree_is_in_the_order_of_a_drawing),
		TEST(a_merged_segment_keeps_the_age_of_its_newest_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
