// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about store/store_reader.h: who is meant, what is in a range, stores that are not whole.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "samples.h"

#include "common/child.h"
#include "common/files.h"
#include "common/temp_dir.h"
#include "store/store_times.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOW   1700000000
#define WHOLE 0, 4000000000u

static char dir[TEMP_DIR_BYTES];

/* Two JVMs of one PID, one after the other, and a pod beside them. */
static int set_up(void **state)
{
	struct store_process first = samples_process(4711, 5, "org.example.Main");
	struct store_process second = samples_process(4711, 900, "org.example.Other");
	struct store_process pod = samples_process(4800, 7, "org.example.Shop");
	struct store *store;

	temp_dir_make(dir);
	store = samples_open(dir, NOW);
	pod.pod = "api-1";
	pod.name_space = "shop";
	assert_int_equal(samples_write(store, NOW, &first, "A.a", NOW, 19), 0);
	assert_int_equal(samples_write(store, NOW, &second, "B.b", NOW + 100, 20), 0);
	assert_int_equal(samples_write(store, NOW, &pod, "C.c", NOW + 50, 21), 0);
	store_close(store);
	return 0;
}

static int tear_down(void **state)
{
	temp_dir_remove(dir);
	return 0;
}

static uint64_t count(const struct store_query *query, const char *method,
		      struct store_reading *ret)
{
	char why[STORE_READER_MESSAGE];
	struct store_reader reader;
	struct store_sum sum = {0};
	uint64_t all;

	assert_int_equal(store_reader_open(dir, &reader, why), 0);
	assert_int_equal(store_reader_sum(&reader, query, &sum, ret), 0);
	all = samples_count_in(&sum, method);
	store_sum_fini(&sum);
	store_reader_close(&reader);
	return all;
}

static void a_range_has_what_is_in_it(void **state)
{
	assert_int_equal(samples_count(dir, "A.a", NOW, NOW + 10), 19);
	assert_int_equal(samples_count(dir, "A.a", NOW + 2, NOW + 10), 0);
	assert_int_equal(samples_count(dir, "B.b", NOW, NOW + 10), 0);
	assert_int_equal(samples_count(dir, "B.b", NOW, NOW + 200), 20);
}

static void a_range_without_samples_is_empty(void **state)
{
	struct store_query query = {.range = {1, 2}};
	struct store_reading reading;

	assert_int_equal(count(&query, "A.a", &reading), 0); /* before the first */
	assert_int_equal(reading.processes, 0);
	query.range = (struct store_range){(NOW + 1000000) * SAMPLES_SEC, UINT64_MAX};
	assert_int_equal(count(&query, "A.a", &reading), 0); /* in the future */
	assert_int_equal(reading.processes, 0);
}

static void jvms_that_had_one_pid_are_two(void **state)
{
	struct store_query query = {.range = STORE_RANGE_ALL, .pid = 4711};
	char why[STORE_READER_MESSAGE];
	struct store_reader reader;
	struct store_list list;
	char keys[2][STORE_KEY_BYTES];

	assert_int_equal(store_reader_open(dir, &reader, why), 0);
	assert_int_equal(store_reader_list(&reader, &query, &list), 0);
	assert_int_equal(list.n, 2);
	store_process_key(&list.rows[0].process, keys[0]);
	store_process_key(&list.rows[1].process, keys[1]);
	assert_string_not_equal(keys[0], keys[1]);
	assert_true(store_process_is_key(keys[0]) && store_process_is_key(keys[1]));
	assert_false(store_process_is_key("4711-5-1234567") || store_process_is_key("-5-12345678"));
	assert_string_equal(list.rows[0].process.title, "org.example.Main");
	assert_string_equal(list.rows[1].process.title, "org.example.Other");
	store_list_fini(&list);
	assert_null(selector_set_jvm(&query.select, "Other$"));
	assert_int_equal(store_reader_list(&reader, &query, &list), 0);
	assert_int_equal(list.n, 1);
	store_list_fini(&list);
	store_reader_close(&reader);
}

static void a_pod_is_found_by_the_begin_of_its_name(void **state)
{
	struct store_query query = {.range = STORE_RANGE_ALL};
	struct store_reading reading;

	assert_null(selector_set_pod(&query.select, "shop/api-"));
	assert_int_equal(count(&query, "C.c", &reading), 21);
	assert_int_equal(reading.processes, 1);
}

static void a_kind_that_is_not_there_means_nobody(void **state)
{
	const struct store_query query = {.range = STORE_RANGE_ALL, .kind = "wall"};
	struct store_reading reading;

	assert_int_equal(count(&query, "C.c", &reading), 0);
	assert_int_equal(reading.processes, 0);
}

static void several_kinds_mean_whoever_has_any_of_them(void **state)
{
	const struct store_query query = {
		.range = STORE_RANGE_ALL, .kinds = {"wall", "cpu"}, .n_kinds = 2};
	const struct store_query others = {
		.range = STORE_RANGE_ALL, .kinds = {"wall", "alloc"}, .n_kinds = 2};
	struct store_reading reading;

	assert_int_equal(count(&query, "C.c", &reading), 21);
	assert_int_equal(reading.processes, 3);
	assert_int_equal(count(&others, "C.c", &reading), 0);
	assert_int_equal(reading.processes, 0);
}

static void path_of(const char *name, char ret[TEMP_DIR_BYTES + 64])
{
	snprintf(ret, TEMP_DIR_BYTES + 64, "%s/segments/%s", dir, name);
}

static void a_segment_that_is_missing_or_damaged_costs_itself(void **state)
{
	const struct store_query query = {.range = STORE_RANGE_ALL};
	char path[TEMP_DIR_BYTES + 64];
	struct store_reading reading;

	path_of("20231114T221320Z-4711-5.fgrec", path);
	assert_int_equal(truncate(path, 60), 0);
	path_of("20231114T221410Z-4800-7.fgrec", path);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(count(&query, "B.b", &reading), 20);
	assert_int_equal(reading.damaged, 1);
	assert_int_equal(reading.missing, 1);
	assert_int_equal(reading.segments, 1);
	assert_non_null(strstr(reading.first_damaged, "20231114T221320Z-4711-5.fgrec"));
}

static void forget_weight(void *arg)
{
	*(uint64_t *)arg = 0;
}

static void count_weight(void *arg, const struct store_time *time)
{
	*(uint64_t *)arg += time->weight;
}

/* A sum without what could not be opened would be too small, and nobody would know. */
static void without_descriptors_there_is_no_sum(void **state)
{
	const struct store_query query = {.range = STORE_RANGE_ALL, .kind = "cpu"};
	uint64_t weight = 0, untimed = 0;
	const struct store_times times = {
		.begin = forget_weight, .add = count_weight, .arg = &weight};
	char why[STORE_READER_MESSAGE];
	struct store_reading reading;
	struct store_reader reader;
	struct rlimit before, none;
	struct store_sum sum;
	int free_fd, sum_err, times_err;

	assert_int_equal(store_reader_open(dir, &reader, why), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	free_fd = dup(STDERR_FILENO);
	close(free_fd);
	none = (struct rlimit){(rlim_t)free_fd, before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	sum_err = store_reader_sum(&reader, &query, &sum, &reading);
	store_sum_fini(&sum);
	times_err = store_times_read(&reader, &query, &times, &reading, &untimed);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	store_reader_close(&reader);
	assert_int_equal(sum_err, -EMFILE);
	assert_int_equal(times_err, -EMFILE);
}

static void a_segment_that_is_no_plain_file_is_not_followed(void **state)
{
	const struct store_query query = {.range = STORE_RANGE_ALL};
	char path[TEMP_DIR_BYTES + 64];
	struct store_reading reading;

	path_of("20231114T221320Z-4711-5.fgrec", path);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	path_of("20231114T221410Z-4800-7.fgrec", path);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("20231114T221500Z-4711-900.fgrec", path), 0);
	assert_int_equal(count(&query, "B.b", &reading), 20);
	assert_int_equal(reading.damaged, 2);
}

static void names_in_the_index_lead_nowhere_else(void **state)
{
	const struct store_query query = {.range = STORE_RANGE_ALL};
	struct store_reading reading;
	char path[TEMP_DIR_BYTES + 64];
	sqlite3 *db;

	snprintf(path, sizeof(path), "%s/index.db", dir);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(
		sqlite3_exec(
			db,
			"UPDATE segments SET name = CASE id WHEN 1 THEN '../../../../etc/' || name"
			" ELSE '0/../' || name END;"
			"UPDATE processes SET title = 'a' || char(10, 27) || 'b'",
			NULL, NULL, NULL),
		SQLITE_OK);
	sqlite3_close(db);
	assert_int_equal(count(&query, "B.b", &reading), 0);
	assert_int_equal(reading.damaged, 3);
}

static void numbers_that_do_not_add_up_are_the_greatest(void **state)
{
	const struct store_query query = {.range = STORE_RANGE_ALL};
	char path[TEMP_DIR_BYTES + 64], why[STORE_READER_MESSAGE];
	struct store_reader reader;
	struct store_list list;
	sqlite3 *db;

	snprintf(path, sizeof(path), "%s/index.db", dir);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(
		sqlite3_exec(db,
			     "UPDATE segments SET process = 1, bytes = 9223372036854775807;"
			     "UPDATE windows SET samples = 9223372036854775807,"
			     " unnamed = 9223372036854775807, unrooted = 9223372036854775807",
			     NULL, NULL, NULL),
		SQLITE_OK);
	sqlite3_close(db);
	assert_int_equal(store_reader_open(dir, &reader, why), 0);
	assert_int_equal(store_reader_list(&reader, &query, &list), 0);
	assert_int_equal(list.n, 1);
	assert_int_equal(list.rows[0].bytes, INT64_MAX);
	assert_int_equal(list.rows[0].kinds[0].samples, INT64_MAX);
	assert_int_equal(list.rows[0].kinds[0].unnamed, INT64_MAX);
	assert_int_equal(list.rows[0].kinds[0].unrooted, INT64_MAX);
	store_list_fini(&list);
	store_reader_close(&reader);
}

static void texts_of_the_index_are_clean(void **state)
{
	const struct store_query query = {.range = STORE_RANGE_ALL};
	char path[TEMP_DIR_BYTES + 64], why[STORE_READER_MESSAGE];
	struct store_reader reader;
	struct store_list list;
	sqlite3 *db;

	snprintf(path, sizeof(path), "%s/index.db", dir);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "UPDATE processes SET title = 'a' || char(10, 27) || 'b'",
				      NULL, NULL, NULL),
			 SQLITE_OK);
	sqlite3_close(db);
	assert_int_equal(store_reader_open(dir, &reader, why), 0);
	assert_int_equal(store_reader_list(&reader, &query, &list), 0);
	assert_string_equal(list.rows[0].process.title, "a??b");
	store_list_fini(&list);
	store_reader_close(&reader);
}

static void what_is_no_store_is_told(void **state)
{
	char why[STORE_READER_MESSAGE];
	struct store_reader reader;

	assert_int_equal(store_reader_open("/nonexistent", &reader, why), -ENOENT);
	assert_non_null(strstr(why, "no store"));
	assert_int_equal(store_reader_open("/dev/null", &reader, why), -ENOTDIR);
}

/* Root may write everywhere, so another user reads. */
static int read_as_nobody(void)
{
	const struct store_query query = {.range = STORE_RANGE_ALL};
	char why[STORE_READER_MESSAGE];
	struct store_reading reading;
	struct store_reader reader;
	struct store_sum sum = {0};
	int err;

	if (!child_becomes_nobody())
		return 2;
	err = store_reader_open(dir, &reader, why);
	if (!err)
		err = store_reader_sum(&reader, &query, &sum, &reading);
	return !err && samples_count_in(&sum, "B.b") == 20 ? 0 : 1;
}

static void a_store_can_be_read_where_nothing_can_be_written(void **state)
{
	char path[TEMP_DIR_BYTES + 64];
	pid_t child;

	if (geteuid() != 0)
		skip();
	assert_int_equal(chmod(dir, 0555), 0);
	snprintf(path, sizeof(path), "%s/segments", dir);
	assert_int_equal(chmod(path, 0555), 0);
	snprintf(path, sizeof(path), "chmod -R a+rX,a-w %s", dir);
	assert_int_equal(system(path), 0);
	child = fork();
	if (child == 0)
		_exit(read_as_nobody());
	child_check(child);
	assert_int_equal(chmod(dir, 0755), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
		TEST(a_range_has_what_is_in_it),
		TEST(a_range_without_samples_is_empty),
		TEST(jvms_that_had_one_pid_are_two),
		TEST(a_pod_is_found_by_the_begin_of_its_name),
		TEST(a_kind_that_is_not_there_means_nobody),
		TEST(several_kinds_mean_whoever_has_any_of_them),
		TEST(a_segment_that_is_missing_or_damaged_costs_itself),
		TEST(without_descriptors_there_is_no_sum),
		TEST(a_segment_that_is_no_plain_file_is_not_followed),
		TEST(names_in_the_index_lead_nowhere_else),
		TEST(numbers_that_do_not_add_up_are_the_greatest),
		TEST(texts_of_the_index_are_clean),
		TEST(what_is_no_store_is_told),
		TEST(a_store_can_be_read_where_nothing_can_be_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
