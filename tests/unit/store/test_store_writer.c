// SPDX-License-Identifier: Apache-2.0
/* Claims about store/store_writer.h: one writer, limits, clocks, files that nobody names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "samples.h"

#include "common/files.h"
#include "common/temp_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <signal.h>
#include <unistd.h>

#define NOW   1700000000
#define DAY   86400
#define WHOLE 0, 4000000000u

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

static unsigned count_files(void)
{
	char path[TEMP_DIR_BYTES + 16];
	const struct dirent *entry;
	unsigned n = 0;
	DIR *all;

	snprintf(path, sizeof(path), "%s/segments", dir);
	all = opendir(path);
	assert_non_null(all);
	while ((entry = readdir(all)))
		n += entry->d_name[0] != '.';
	closedir(all);
	return n;
}

static void path_of(const char *name, char ret[TEMP_DIR_BYTES + 64])
{
	snprintf(ret, TEMP_DIR_BYTES + 64, "%s/%s", dir, name);
}

static void write_at(struct store *store, uint64_t at_sec, const char *method)
{
	const struct store_process process = samples_process(4711, 5, "org.example.Main");

	assert_int_equal(samples_write(store, (int64_t)at_sec + 10, &process, method, at_sec, 19),
			 0);
}

static int add_window(struct store *store, const char *method, uint64_t at_sec)
{
	const struct store_process process = samples_process(4711, 5, "org.example.Main");
	struct store_window window = {.process = process,
				      .start_ns = at_sec * SAMPLES_SEC,
				      .end_ns = (at_sec + 10) * SAMPLES_SEC,
				      .n_parts = 1};
	struct samples samples;
	int err;

	samples_init(&samples, &profile_kind_cpu, at_sec, 10);
	samples_add(&samples, method, 1, 19);
	samples_end(&samples);
	window.parts = &samples.part;
	err = store_add(store, &window);
	samples_fini(&samples);
	return err;
}

static void what_is_written_can_be_read(void **state)
{
	struct store *store = samples_open(dir, NOW);

	write_at(store, NOW, "A.a");
	assert_int_equal(samples_count(dir, "A.a", WHOLE), 19); /* beside the writer */
	store_close(store);
	assert_int_equal(samples_count(dir, "A.a", WHOLE), 19);
}

static void a_second_writer_is_told_who_has_the_store(void **state)
{
	const struct wall_clock now = samples_clock(NOW);
	const struct store_limits limits = {.bytes = 1 << 30, .age_sec = DAY};
	struct store *store = samples_open(dir, NOW), *other;
	char why[STORE_WHY_BYTES], pid[32];

	assert_int_equal(store_open(dir, &limits, &now, &other, why), -EBUSY);
	snprintf(pid, sizeof(pid), "PID %d", (int)getpid());
	assert_non_null(strstr(why, pid));
	store_close(store);
}

static void segments_that_are_too_old_go(void **state)
{
	const struct wall_clock later = samples_clock(NOW + 3 * DAY);
	struct store *store = samples_open(dir, NOW);

	write_at(store, NOW, "A.a");
	write_at(store, NOW + 2 * DAY, "B.b");
	store->limits.age_sec = 2 * DAY;
	assert_int_equal(store_expire(store, &later), 0);
	assert_int_equal(store->stats.removed, 1);
	store_close(store);
	assert_int_equal(samples_count(dir, "A.a", WHOLE), 0);
	assert_int_equal(samples_count(dir, "B.b", WHOLE), 19);
	assert_int_equal(count_files(), 1);
}

static void the_oldest_go_when_there_are_too_many_bytes(void **state)
{
	const struct wall_clock now = samples_clock(NOW + 4000);
	struct store *store = samples_open(dir, NOW);

	for (unsigned i = 0; i < 200; i++)
		write_at(store, NOW + 10 * i, i < 100 ? "A.a" : "B.b");
	store->limits.bytes = store->stats.index_bytes + store->stats.segment_bytes / 2;
	assert_int_equal(store_expire(store, &now), 0);
	assert_true(store->stats.segment_bytes + store->stats.index_bytes <= store->limits.bytes);
	assert_int_equal(store->stats.segments, count_files());
	store_close(store);
	assert_true(samples_count(dir, "A.a", WHOLE) < 1000);
	assert_int_equal(samples_count(dir, "B.b", WHOLE), 1900); /* no more go than have to */
}

static void write_of(struct store *store, const char *container, pid_t pid, unsigned from,
		     unsigned n, const char *method)
{
	struct store_process process = samples_process(pid, 5, "org.example.Main");

	process.container = container;
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(samples_write(store, NOW + from + i, &process, method,
					       NOW + 10 * (from + i), 19),
				 0);
}

/* 100 segments of others, which are the oldest, and then 300 of one. */
static void fill(const char *greedy_1, const char *greedy_2, struct store **ret)
{
	const struct wall_clock now = samples_clock(NOW + 4000);
	struct store *store = samples_open(dir, NOW);

	write_of(store, "", 1, 0, 50, "A.a");
	write_of(store, "c0ffee", 2, 50, 50, "B.b");
	write_of(store, greedy_1, 3, 100, 150, "C.c");
	write_of(store, greedy_2, 4, 250, 150, "D.d");
	store->limits.bytes = store->stats.index_bytes + store->stats.segment_bytes / 2;
	assert_int_equal(store_expire(store, &now), 0);
	assert_true(store->stats.segment_bytes + store->stats.index_bytes <= store->limits.bytes);
	assert_int_equal(store->stats.segments, count_files());
	*ret = store;
}

static void who_has_more_than_a_half_of_the_store_pays_first(void **state)
{
	struct store *store;

	fill("greedy", "greedy", &store);
	store_close(store);
	assert_int_equal(samples_count(dir, "A.a", WHOLE), 50 * 19);
	assert_int_equal(samples_count(dir, "B.b", WHOLE), 50 * 19);
	assert_int_equal(samples_count(dir, "C.c", WHOLE), 0);
	assert_true(samples_count(dir, "D.d", WHOLE) > 0);
}

static void ids_that_one_user_makes_up_pay_together(void **state)
{
	struct store *store;

	fill("user-1000:aa", "user-1000:bb", &store);
	store_close(store);
	assert_int_equal(samples_count(dir, "A.a", WHOLE), 50 * 19);
	assert_int_equal(samples_count(dir, "B.b", WHOLE), 50 * 19);
	assert_int_equal(samples_count(dir, "C.c", WHOLE), 0);
}

static void of_those_with_less_the_oldest_of_all_go(void **state)
{
	struct store *store;

	fill("one", "two", &store);
	store_close(store);
	assert_int_equal(samples_count(dir, "A.a", WHOLE), 0);
	assert_int_equal(samples_count(dir, "B.b", WHOLE), 0);
	assert_true(samples_count(dir, "D.d", WHOLE) > 0);
}

static void a_clock_that_is_set_makes_nothing_older(void **state)
{
	const struct store_process process = samples_process(4711, 5, "org.example.Main");
	struct store *store = samples_open(dir, NOW);
	struct wall_clock ahead = samples_clock(NOW + 10);

	write_at(store, NOW, "A.a");
	store->limits.age_sec = 30 * DAY;
	ahead.unix_sec += 400 * DAY; /* while no time has passed since boot */
	assert_int_equal(store_begin(store, &ahead), 0);
	assert_int_equal(store_commit(store), 0);
	assert_int_equal(store_expire(store, &ahead), 0);
	assert_int_equal(store->stats.removed, 0);
	assert_int_equal(samples_write(store, NOW + 20, &process, "B.b", NOW + 10, 19), 0);
	assert_int_equal(store_expire(store, &store->clock), 0); /* and back */
	assert_int_equal(store->stats.removed, 0);
	store_close(store);
}

static void after_a_boot_nothing_goes_by_age_until_clocks_are_set(void **state)
{
	const struct store_limits limits = {.bytes = 1 << 30, .age_sec = DAY};
	struct wall_clock now = {.boot = "c", .boot_sec = 10, .unix_sec = NOW + 400 * DAY};
	struct store *store = samples_open(dir, NOW);
	char why[STORE_WHY_BYTES];

	write_at(store, NOW, "A.a");
	store_close(store);
	assert_int_equal(store_open(dir, &limits, &now, &store, why), 0);
	assert_int_equal(store_expire(store, &now), 0);
	assert_int_equal(store->stats.removed, 0);
	now.boot_sec += STORE_SETTLE_SEC;
	now.unix_sec += STORE_SETTLE_SEC;
	assert_int_equal(store_expire(store, &now), 0);
	assert_int_equal(store->stats.removed, 1);
	store_close(store);
}

static void a_daemon_that_starts_again_waits_for_clocks_too(void **state)
{
	const struct store_limits limits = {.bytes = 1 << 30, .age_sec = DAY};
	struct wall_clock now = {.boot = "c", .boot_sec = 10, .unix_sec = NOW + 400 * DAY};
	struct store *store = samples_open(dir, NOW);
	char why[STORE_WHY_BYTES];

	write_at(store, NOW, "A.a");
	store_close(store);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(store_open(dir, &limits, &now, &store, why), 0);
		assert_int_equal(store_expire(store, &now), 0);
		assert_int_equal(store->stats.removed, 0);
		store_close(store);
		now.boot_sec += 10;
		now.unix_sec += 10;
	}
}

static void a_clock_that_is_set_moves_nothing_of_earlier_boots(void **state)
{
	const struct store_limits limits = {.bytes = 1 << 30, .age_sec = 3000 * DAY};
	/* The clock has no battery, and shows a year of its own until it is set. */
	struct wall_clock now = {.boot = "c", .boot_sec = 10, .unix_sec = NOW - 400 * DAY};
	struct store *store = samples_open(dir, NOW);
	char why[STORE_WHY_BYTES];

	write_at(store, NOW, "A.a");
	store_close(store);
	assert_int_equal(store_open(dir, &limits, &now, &store, why), 0);
	assert_int_equal(store_begin(store, &now), 0);
	assert_int_equal(add_window(store, "B.b", (uint64_t)now.unix_sec), 0);
	assert_int_equal(store_commit(store), 0);
	now.boot_sec += 10;
	now.unix_sec = NOW + DAY;
	assert_int_equal(store_begin(store, &now), 0);
	assert_int_equal(store_commit(store), 0);
	assert_int_equal(store_index_number(&store->index, "SELECT min(made_sec) FROM segments", 0),
			 NOW + 10);
	assert_int_equal(store_index_number(&store->index, "SELECT max(made_sec) FROM segments", 0),
			 NOW + DAY - 10);
	store_close(store);
}

static void files_that_the_index_does_not_name_go(void **state)
{
	char orphan[TEMP_DIR_BYTES + 64], other[TEMP_DIR_BYTES + 64];
	struct store *store = samples_open(dir, NOW);

	write_at(store, NOW, "A.a");
	store_close(store);
	path_of("segments/20231114T221320Z-1-1.fgrec", orphan);
	path_of("segments/notes.txt", other);
	files_write(orphan, "fgrec 1\n");
	files_write(other, "mine");
	store = samples_open(dir, NOW);
	assert_int_equal(store->stats.swept, 1);
	store_close(store);
	assert_int_equal(access(orphan, F_OK), -1);
	assert_int_equal(access(other, F_OK), 0);
	assert_int_equal(samples_count(dir, "A.a", WHOLE), 19);
}

static void segments_without_a_file_are_forgotten(void **state)
{
	char path[TEMP_DIR_BYTES + 64];
	struct store *store = samples_open(dir, NOW);

	write_at(store, NOW, "A.a");
	write_at(store, NOW + 10, "B.b");
	store_close(store);
	path_of("segments/20231114T221320Z-4711-5.fgrec", path);
	assert_int_equal(unlink(path), 0);
	store = samples_open(dir, NOW);
	assert_int_equal(store->stats.missing, 1);
	assert_int_equal(store->stats.segments, 1);
	store_close(store);
}

static void a_segment_of_a_time_that_no_clock_has_is_not_adopted(void **state)
{
	const struct store_process process = samples_process(4711, 5, "org.example.Main");
	struct store *store = samples_open(dir, NOW);
	char path[TEMP_DIR_BYTES + 64];

	write_at(store, NOW, "A.a");
	assert_int_equal(samples_write(store, NOW, &process, "A.a", 9223372036, 19), 0);
	assert_int_equal(samples_write(store, NOW, &process, "A.a", 18446744071, 19), 0);
	store_close(store);
	path_of("index.db", path);
	assert_int_equal(unlink(path), 0);
	store = samples_open(dir, NOW + 100);
	assert_int_equal(store->stats.adopted, 1);
	assert_int_equal(store->stats.damaged, 2);
	store_close(store);
}

/* Has the index of a store that somebody made name a file outside of the store. */
static void name_outside(struct store *store)
{
	assert_int_equal(store_index_do(&store->index,
					"UPDATE segments SET name = '../../victim', made_sec = 0",
					""),
			 0);
}

static struct store *open_below(const char *name)
{
	char below[TEMP_DIR_BYTES + 64];

	path_of(name, below);
	return samples_open(below, NOW);
}

static void a_row_that_names_a_file_elsewhere_is_forgotten(void **state)
{
	char victim[TEMP_DIR_BYTES + 64];
	struct store *store = open_below("store");

	path_of("victim", victim);
	files_write(victim, "mine");
	write_at(store, NOW, "A.a");
	name_outside(store);
	store_close(store);
	store = open_below("store");
	assert_int_equal(store->stats.missing, 1);
	assert_int_equal(store->stats.segments, 0);
	assert_int_equal(store_expire(store, &store->clock), 0);
	store_close(store);
	assert_int_equal(access(victim, F_OK), 0);
}

static void nothing_outside_of_the_store_is_removed(void **state)
{
	const struct wall_clock later = samples_clock(NOW + 3 * DAY);
	char victim[TEMP_DIR_BYTES + 64];
	struct store *store = open_below("store");

	path_of("victim", victim);
	files_write(victim, "mine");
	write_at(store, NOW, "A.a");
	name_outside(store);
	store->limits.age_sec = DAY;
	assert_int_equal(store_expire(store, &later), 0);
	assert_int_equal(store->stats.removed, 1);
	store_close(store);
	assert_int_equal(access(victim, F_OK), 0);
}

static void a_damaged_index_is_made_anew_of_the_segments(void **state)
{
	const struct store_query query = {.range = STORE_RANGE_ALL};
	char path[TEMP_DIR_BYTES + 64], aside[TEMP_DIR_BYTES + 64], why[STORE_READER_MESSAGE];
	struct store *store = samples_open(dir, NOW);
	struct store_reader reader;
	struct store_list list;

	write_at(store, NOW, "A.a");
	store_close(store);
	path_of("index.db", path);
	path_of("index.db.damaged", aside);
	files_write(path,
		    "this is no database at all, and it is longer than a hundred bytes, so that "
		    "it is not taken for an empty one by SQLite");
	store = samples_open(dir, NOW + 100);
	assert_int_equal(store->stats.adopted, 1);
	store_close(store);
	assert_int_equal(access(aside, F_OK), 0);
	assert_int_equal(samples_count(dir, "A.a", WHOLE), 19);
	assert_int_equal(store_reader_open(dir, &reader, why), 0);
	assert_int_equal(store_reader_list(&reader, &query, &list), 0);
	assert_int_equal(list.n, 1);
	assert_int_equal(list.rows[0].process.pid, 4711);
	assert_int_equal(list.rows[0].process.ticks, 5);
	assert_string_equal(list.rows[0].process.title, "org.example.Main");
	assert_int_equal(list.rows[0].process.n_labels, 0);
	store_list_fini(&list);
	store_reader_close(&reader);
}

static void a_new_index_has_the_image_of_each_segments_process(void **state)
{
	const struct store_process process = samples_process(4711, 5, "org.example.Main");
	const struct store_query query = {.range = STORE_RANGE_ALL};
	const struct timeline_process row = {.pid = 4711, .image = "shop/cart:1.4.2"};
	const struct wall_clock now = samples_clock(NOW);
	char path[TEMP_DIR_BYTES + 64], why[STORE_READER_MESSAGE];
	struct store *store = samples_open(dir, NOW);
	struct store_reader reader;
	struct store_list list;
	struct samples samples;

	samples_init(&samples, &profile_kind_cpu, NOW, 10);
	samples_add(&samples, "A.a", 1, 19);
	timeline_process(&samples.timeline, &row);
	samples_end(&samples);
	assert_int_equal(store_begin(store, &now), 0);
	assert_int_equal(store_add(store, &(struct store_window){.process = process,
								 .start_ns = NOW * SAMPLES_SEC,
								 .end_ns = (NOW + 10) * SAMPLES_SEC,
								 .parts = &samples.part,
								 .n_parts = 1}),
			 0);
	assert_int_equal(store_commit(store), 0);
	samples_fini(&samples);
	store_close(store);
	path_of("index.db", path);
	assert_int_equal(unlink(path), 0);
	store_close(samples_open(dir, NOW + 100));
	assert_int_equal(store_reader_open(dir, &reader, why), 0);
	assert_int_equal(store_reader_list(&reader, &query, &list), 0);
	assert_int_equal(list.n, 1);
	assert_int_equal(list.rows[0].process.n_labels, 1);
	assert_string_equal(list.rows[0].process.labels[0].key, "image");
	assert_string_equal(list.rows[0].process.labels[0].value, "shop/cart:1.4.2");
	store_list_fini(&list);
	store_reader_close(&reader);
}

static void the_log_of_a_damaged_index_is_kept(void **state)
{
	char index[TEMP_DIR_BYTES + 64], log[TEMP_DIR_BYTES + 64], aside[TEMP_DIR_BYTES + 64];
	struct store *store = samples_open(dir, NOW);

	write_at(store, NOW, "A.a");
	store_close(store);
	path_of("index.db", index);
	path_of("index.db-wal", log);
	path_of("index.db.damaged-wal", aside);
	files_write(index,
		    "this is no database at all, and it is longer than a hundred bytes, so that "
		    "it is not taken for an empty one by SQLite");
	files_write(log, "a log");
	store = samples_open(dir, NOW + 100);
	assert_int_equal(store->stats.adopted, 1);
	store_close(store);
	assert_int_equal(access(aside, F_OK), 0);
}

static void a_file_that_cannot_be_written_is_counted_and_ends_nothing(void **state)
{
	const struct store_process process = samples_process(4711, 5, "org.example.Main");
	struct rlimit old, limit;
	struct store *store = samples_open(dir, NOW);

	signal(SIGXFSZ, SIG_IGN);
	write_at(store, NOW, "A.a");
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit = (struct rlimit){.rlim_cur = 64, .rlim_max = old.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_not_equal(samples_write(store, NOW + 20, &process, "B.b", NOW + 10, 19), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(store->stats.failed, 1);
	assert_int_equal(count_files(), 1);
	write_at(store, NOW + 20, "C.c");
	store_close(store);
	assert_int_equal(samples_count(dir, "A.a", WHOLE), 19);
	assert_int_equal(samples_count(dir, "B.b", WHOLE), 0);
	assert_int_equal(samples_count(dir, "C.c", WHOLE), 19);
}

static void a_batch_that_the_index_has_given_up_is_lost_whole(void **state)
{
	const struct wall_clock now = samples_clock(NOW);
	struct store *store = samples_open(dir, NOW);

	assert_int_equal(store_begin(store, &now), 0);
	assert_int_equal(add_window(store, "A.a", NOW), 0);
	/* As SQLite does when the disk is full. */
	assert_int_equal(store_index_do(&store->index, "ROLLBACK", ""), 0);
	assert_int_equal(add_window(store, "B.b", NOW + 10), -EIO);
	assert_int_not_equal(store_commit(store), 0);
	assert_int_equal(store->stats.failed, 2);
	assert_int_equal(store->stats.written, 0);
	assert_int_equal(store->stats.segments, 0);
	assert_int_equal(count_files(), 0);
	write_at(store, NOW + 20, "C.c");
	store_close(store);
	assert_int_equal(samples_count(dir, "C.c", WHOLE), 19);
}

static void names_that_become_known_later_are_kept(void **state)
{
	const struct store_query query = {.range = STORE_RANGE_ALL};
	const struct label label = {"version", "1.2"};
	struct store_process process = samples_process(4711, 5, "java");
	struct store *store = samples_open(dir, NOW);
	char why[STORE_READER_MESSAGE];
	struct store_reader reader;
	struct store_list list;

	assert_int_equal(samples_write(store, NOW, &process, "A.a", NOW, 1), 0);
	process.title = "org.example.Main";
	process.pod = "api-1";
	process.labels = &label;
	process.n_labels = 1;
	assert_int_equal(samples_write(store, NOW, &process, "A.a", NOW + 10, 1), 0);
	process.pod = "";
	process.n_labels = 0;
	assert_int_equal(samples_write(store, NOW, &process, "A.a", NOW + 20, 1), 0);
	store_close(store);
	assert_int_equal(store_reader_open(dir, &reader, why), 0);
	assert_int_equal(store_reader_list(&reader, &query, &list), 0);
	assert_int_equal(list.n, 1);
	assert_string_equal(list.rows[0].process.title, "org.example.Main");
	assert_string_equal(list.rows[0].process.pod, "api-1");
	assert_string_equal(list.rows[0].process.labels[0].value, "1.2");
	assert_int_equal(list.rows[0].kinds[0].samples, 3);
	store_list_fini(&list);
	store_reader_close(&reader);
}

static void windows_with_one_name_do_not_replace_one_another(void **state)
{
	struct store *store = samples_open(dir, NOW);

	write_at(store, NOW, "A.a");
	write_at(store, NOW, "B.b"); /* the clock was set back */
	store_close(store);
	assert_int_equal(samples_count(dir, "A.a", WHOLE), 19);
	assert_int_equal(samples_count(dir, "B.b", WHOLE), 19);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
		TEST(what_is_written_can_be_read),
		TEST(a_second_writer_is_told_who_has_the_store),
		TEST(segments_that_are_too_old_go),
		TEST(the_oldest_go_when_there_are_too_many_bytes),
		TEST(who_has_more_than_a_half_of_the_store_pays_first),
		TEST(ids_that_one_user_makes_up_pay_together),
		TEST(of_those_with_less_the_oldest_of_all_go),
		TEST(a_clock_that_is_set_makes_nothing_older),
		TEST(after_a_boot_nothing_goes_by_age_until_clocks_are_set),
		TEST(a_daemon_that_starts_again_waits_for_clocks_too),
		TEST(a_clock_that_is_set_moves_nothing_of_earlier_boots),
		TEST(files_that_the_index_does_not_name_go),
		TEST(segments_without_a_file_are_forgotten),
		TEST(a_segment_of_a_time_that_no_clock_has_is_not_adopted),
		TEST(a_row_that_names_a_file_elsewhere_is_forgotten),
		TEST(nothing_outside_of_the_store_is_removed),
		TEST(a_damaged_index_is_made_anew_of_the_segments),
		TEST(a_new_index_has_the_image_of_each_segments_process),
		TEST(the_log_of_a_damaged_index_is_kept),
		TEST(a_file_that_cannot_be_written_is_counted_and_ends_nothing),
		TEST(a_batch_that_the_index_has_given_up_is_lost_whole),
		TEST(names_that_become_known_later_are_kept),
		TEST(windows_with_one_name_do_not_replace_one_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
