// SPDX-License-Identifier: Apache-2.0
/* Claims about serve/store_keeper.h: a period's graphs become windows that can be read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/temp_dir.h"
#include "serve/store_keeper.h"
#include "store/store_reader.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SEC UINT64_C(1000000000)

static char dir[TEMP_DIR_BYTES];

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

static struct store_keeper_options options_of(void)
{
	return (struct store_keeper_options){
		.dir = dir,
		.limits = {.bytes = UINT64_C(1) << 30, .age_sec = 86400},
		.facts = {.hz = 19,
			  .event = "cpu-clock",
			  .host = "h",
			  .kernel = "6.1",
			  .boot_id = "b",
			  .program = "test"},
		.max_bytes = 64 << 20,
	};
}

/* A period with a graph of a process, in a pod and with a label. */
static struct period *make_period(uint64_t samples)
{
	static const struct frame frames[] = {{.name = "A.a", .kind = FRAME_JIT}};
	struct process process = {.pid = 4711, .start_ticks = 5, .comm = "java"};
	struct timeline_process row = {.pid = 4711, .title = "Main", .pod = "api-1"};
	struct timeline_entry entry = {.weight = (uint32_t)samples};
	struct period_graph *graph;
	struct timeline *timeline;
	struct period *period;

	label_set_add(&process.workload.labels, "version", "1.2");
	strcpy(process.pod_uid, "4a9f8d0e-0000-0000-0000-000000000000");
	assert_int_equal(period_new(SAMPLES_OF_CPU | SAMPLES_OF_WALL, 1 * SEC, 10 * SEC, &period),
			 0);
	graph = period_graph_of(period, &process);
	label_set_fini(&process.workload.labels);
	assert_non_null(graph);
	timeline = &graph->parts[0].timeline;
	entry.thread = timeline_thread(
		timeline, &(struct timeline_thread){.process = timeline_process(timeline, &row),
						    .tid = 4711,
						    .name = "main"});
	assert_int_equal(
		profile_add_leaf(&graph->parts[0].profile, frames, 1, samples, &entry.node), 0);
	timeline_add(timeline, 3 * SEC, &entry);
	return period;
}

static void read_list(struct store_list *ret)
{
	const struct store_query query = {.range = STORE_RANGE_ALL};
	char why[STORE_READER_MESSAGE];
	struct store_reader reader;

	assert_int_equal(store_reader_open(dir, &reader, why), 0);
	assert_int_equal(store_reader_list(&reader, &query, ret), 0);
	store_reader_close(&reader);
}

static void what_waits_is_written_before_the_keeper_ends(void **state)
{
	const struct store_keeper_options options = options_of();
	struct store_keeper *keeper;
	struct store_list list;

	assert_int_equal(store_keeper_open(&options, &keeper), 0);
	store_keeper_take(keeper, make_period(19));
	store_keeper_take(keeper, make_period(20));
	store_keeper_close(keeper, 10 * SEC);
	read_list(&list);
	assert_int_equal(list.n, 1);
	assert_int_equal(list.rows[0].segments, 2);
	assert_int_equal(list.rows[0].kinds[0].samples, 39);
	assert_int_equal(list.rows[0].n_kinds, 1); /* without the kind that has no samples */
	store_list_fini(&list);
}

static void a_window_has_the_names_of_its_process(void **state)
{
	const struct store_keeper_options options = options_of();
	const struct store_process *process;
	struct store_keeper *keeper;
	struct store_list list;

	assert_int_equal(store_keeper_open(&options, &keeper), 0);
	store_keeper_take(keeper, make_period(19));
	store_keeper_close(keeper, 10 * SEC);
	read_list(&list);
	process = &list.rows[0].process;
	assert_int_equal(process->pid, 4711);
	assert_int_equal(process->ticks, 5);
	assert_string_equal(process->title, "Main");
	assert_string_equal(process->comm, "java");
	assert_string_equal(process->pod, "api-1");
	assert_string_equal(process->pod_uid, "4a9f8d0e-0000-0000-0000-000000000000");
	assert_string_equal(process->host, "h");
	assert_int_equal(process->n_labels, 1);
	assert_string_equal(process->labels[0].value, "1.2");
	store_list_fini(&list);
}

static void windows_without_room_are_dropped_and_counted(void **state)
{
	struct store_keeper_options options = options_of();
	struct store_keeper_stats stats;
	struct store_keeper *keeper;

	options.max_bytes = 1;
	assert_int_equal(store_keeper_open(&options, &keeper), 0);
	store_keeper_take(keeper, make_period(19));
	store_keeper_stats(keeper, &stats);
	assert_int_equal(stats.dropped, 1);
	store_keeper_close(keeper, 10 * SEC);
}

/* Makes of what is stored an hour that is over, of a process that is not there. */
static void make_hour_that_cannot_be_merged(void)
{
	char path[TEMP_DIR_BYTES + 64];
	sqlite3 *db;

	snprintf(path, sizeof(path), "%s/index.db", dir);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db,
				      "UPDATE segments SET process = 0, made_sec = made_sec - 7200,"
				      " start_ns = start_ns - 7200000000000",
				      NULL, NULL, NULL),
			 SQLITE_OK);
	sqlite3_close(db);
}

static void what_is_too_much_goes_also_if_an_hour_cannot_be_merged(void **state)
{
	struct store_keeper_options options = options_of();
	struct store_keeper_stats stats = {0};
	struct store_keeper *keeper;

	assert_int_equal(store_keeper_open(&options, &keeper), 0);
	store_keeper_take(keeper, make_period(19));
	store_keeper_close(keeper, 10 * SEC);
	make_hour_that_cannot_be_merged();
	options.limits.bytes = 1;
	assert_int_equal(store_keeper_open(&options, &keeper), 0);
	store_keeper_take(keeper, make_period(19));
	for (unsigned i = 0; i < 100000 && stats.store.removed < 2; i++) {
		usleep(10000);
		store_keeper_stats(keeper, &stats);
	}
	assert_int_equal(stats.store.removed, 2);
	store_keeper_close(keeper, 10 * SEC);
}

static void *release_soon(void *db)
{
	usleep(200000);
	sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
	return NULL;
}

/* The thread waits for the index until the keeper is being closed. */
static void who_closes_does_not_wait_for_hours_to_be_merged(void **state)
{
	const struct store_keeper_options options = options_of();
	char path[TEMP_DIR_BYTES + 64];
	struct store_keeper *keeper;
	struct store_list list;
	pthread_t thread;
	sqlite3 *db;

	assert_int_equal(store_keeper_open(&options, &keeper), 0);
	store_keeper_take(keeper, make_period(19));
	store_keeper_take(keeper, make_period(20));
	store_keeper_close(keeper, 10 * SEC);
	snprintf(path, sizeof(path), "%s/index.db", dir);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db,
				      "UPDATE segments SET made_sec = made_sec - 7200,"
				      " start_ns = 3600000000000 + id, end_ns = 3700000000000",
				      NULL, NULL, NULL),
			 SQLITE_OK);
	assert_int_equal(store_keeper_open(&options, &keeper), 0);
	assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	store_keeper_take(keeper, make_period(21));
	assert_int_equal(pthread_create(&thread, NULL, release_soon, db), 0);
	store_keeper_close(keeper, 10 * SEC);
	pthread_join(thread, NULL);
	sqlite3_close(db);
	read_list(&list);
	assert_int_equal(list.rows[0].segments, 3);
	store_list_fini(&list);
}

static void a_store_in_use_is_not_opened(void **state)
{
	const struct store_keeper_options options = options_of();
	struct store_keeper *keeper, *other;

	assert_int_equal(store_keeper_open(&options, &keeper), 0);
	assert_int_equal(store_keeper_open(&options, &other), -EBUSY);
	store_keeper_close(keeper, 10 * SEC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
		TEST(what_waits_is_written_before_the_keeper_ends),
		TEST(a_window_has_the_names_of_its_process),
		TEST(windows_without_room_are_dropped_and_counted),
		TEST(what_is_too_much_goes_also_if_an_hour_cannot_be_merged),
		TEST(who_closes_does_not_wait_for_hours_to_be_merged),
		TEST(a_store_in_use_is_not_opened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
