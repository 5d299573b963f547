// SPDX-License-Identifier: Apache-2.0
/*
 * Times of merged hours in the index say what the files say, and nothing that a file would not say.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "samples.h"

#include "common/temp_dir.h"
#include "store/store_merge.h"
#include "store/store_steps.h"
#include "store/store_times.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define HOUR  UINT64_C(1699999200)
#define STEPS 720u

static char dir[TEMP_DIR_BYTES];
static uint64_t sums[STEPS];
static uint64_t longest_step;

static int set_up(void **state)
{
	temp_dir_make(dir);
	return 0;
}

static int tear_down(void **state)
{
	temp_dir_remove(dir);
	return 0;
}

static void forget(void *arg)
{
	memset(sums, 0, sizeof(sums));
	longest_step = 0;
}

static void add(void *arg, const struct store_time *time)
{
	sums[(time->at_ns - HOUR * SAMPLES_SEC) / STORE_STEP_NS] += time->weight;
	longest_step = time->step_ns > longest_step ? time->step_ns : longest_step;
}

/* An hour of windows, each with another weight, and one hole. Merged. */
static void make_hour(void)
{
	const struct store_process process = samples_process(4711, 5, "org.example.Main");
	struct store *const store = samples_open(dir, (int64_t)HOUR);
	const struct wall_clock later = samples_clock((int64_t)HOUR + 3700);

	for (unsigned i = 0; i < 360; i++)
		if (i != 100)
			assert_int_equal(samples_write(store, (int64_t)HOUR + 10 * i, &process,
						       "A.a", HOUR + 10 * i, 1 + i),
					 0);
	assert_int_equal(store_merge(store, &later), 1);
	store_close(store);
}

static void run(const char *sql)
{
	char path[TEMP_DIR_BYTES + 16];
	sqlite3 *db;

	snprintf(path, sizeof(path), "%s/index.db", dir);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

/* Sums of the range, of seconds from HOUR on. */
static struct store_reading read_times(bool may_be_coarse, uint64_t from_sec, uint64_t to_sec)
{
	const struct store_query query = {
		.range = {(HOUR + from_sec) * SAMPLES_SEC, (HOUR + to_sec) * SAMPLES_SEC},
		.kind = "cpu"};
	const struct store_times times = {
		.begin = forget, .add = add, .may_be_coarse = may_be_coarse};
	struct store_reading reading;
	struct store_reader reader;
	char why[STORE_READER_MESSAGE];
	uint64_t untimed;

	assert_int_equal(store_reader_open(dir, &reader, why), 0);
	assert_int_equal(store_times_read(&reader, &query, &times, &reading, &untimed), 0);
	assert_int_equal(untimed, 0);
	store_reader_close(&reader);
	return reading;
}

static void steps_say_what_the_file_says(void **state)
{
	static const uint64_t ranges[][2] = {{0, 3600}, {600, 660}, {995, 1015}, {3595, 3600}};
	uint64_t of_file[STEPS];

	make_hour();
	for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++) {
		read_times(false, ranges[i][0], ranges[i][1]);
		assert_true(longest_step < STORE_STEP_NS);
		memcpy(of_file, sums, sizeof(sums));
		read_times(true, ranges[i][0], ranges[i][1]);
		assert_memory_equal(of_file, sums, sizeof(sums));
		assert_true(longest_step == STORE_STEP_NS || i == 3);
	}
	read_times(true, 0, 3600);
	assert_int_equal(sums[0], 1);
	assert_int_equal(sums[200], 0);
	assert_int_equal(sums[718], 360);
}

/* What is asked for finer is still the file's. */
static void files_are_not_needed_for_steps(void **state)
{
	char path[TEMP_DIR_BYTES + 64];

	make_hour();
	snprintf(path, sizeof(path), "%s/segments/20231114T220000Z-4711-5.2.fgrec", dir);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(read_times(true, 0, 3600).missing, 0);
	assert_int_equal(sums[2], 2);
	assert_int_equal(read_times(false, 0, 3600).missing, 1);
	assert_int_equal(sums[2], 0);
}

static void steps_of_an_index_that_is_somebodys_cost_themselves(void **state)
{
	static const char *const bad[] = {"x''",
					  "x'ff'",
					  "'t'",
					  "x'ffffffffffffffff7f0001'",
					  "zeroblob(9000)",
					  "1",
					  "x'80808080808080808080808001'"};
	char sql[128];

	make_hour();
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		snprintf(sql, sizeof(sql), "UPDATE steps SET weights = %s", bad[i]);
		run(sql);
		assert_int_equal(read_times(true, 0, 3600).segments, 1);
		assert_int_equal(sums[718], 360);
		assert_true(longest_step < STORE_STEP_NS);
	}
}

static void a_store_of_before_has_times_too(void **state)
{
	make_hour();
	run("DELETE FROM steps");
	read_times(true, 0, 3600);
	assert_int_equal(sums[718], 360);
}

static void steps_go_with_their_segment(void **state)
{
	make_hour();
	run("PRAGMA foreign_keys = ON; DELETE FROM segments;"
	    "CREATE TABLE none (a CHECK (a = 0)); INSERT INTO none SELECT count(*) FROM steps");
}

/* Further apart than any hour: the kind has no steps then. */
static void times_far_apart_have_none(void **state)
{
	struct samples samples;
	struct bytes bytes = {0};

	samples_init(&samples, &profile_kind_cpu, HOUR, 10);
	samples_add(&samples, "A.a", 0, 1);
	samples_add(&samples, "A.a", 5.0 * STORE_STEPS_MAX, 1);
	samples_end(&samples);
	assert_int_equal(store_steps_write(&samples.part, &bytes), -ERANGE);
	samples_fini(&samples);
	bytes_fini(&bytes);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(steps_say_what_the_file_says),
		TEST(files_are_not_needed_for_steps),
		TEST(steps_of_an_index_that_is_somebodys_cost_themselves),
		TEST(a_store_of_before_has_times_too),
		TEST(steps_go_with_their_segment),
		TEST(times_far_apart_have_none),
	};

	return cmocka_run_group_tests_name("store_steps", tests, NULL, NULL);
}
