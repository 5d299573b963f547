// SPDX-License-Identifier: Apache-2.0
/* Claims about store/store_schema.h: indexes of earlier and later versions, and what is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/files.h"
#include "common/temp_dir.h"
#include "store/store_database.h"
#include "store/store_list.h"
#include "store/store_schema.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[TEMP_DIR_BYTES], path[TEMP_DIR_BYTES + 16];

static int set_up(void **state)
{
	temp_dir_make(dir);
	snprintf(path, sizeof(path), "%s/" STORE_INDEX_NAME, dir);
	return lazy_sqlite_load() ? -1 : 0;
}

static int tear_down(void **state)
{
	temp_dir_remove(dir);
	return 0;
}

static void run(const char *sql)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static void make_version_1(void)
{
	size_t len;
	char *const sql = files_read(FG_SOURCE_DIR "/tests/unit/store/version_1.sql", &len);
	char *const text = strndup(sql, len);

	run(text);
	free(text);
	free(sql);
}

static void check_version_1(const struct store_index *index)
{
	struct store_list list;
	const struct store_range all = STORE_RANGE_ALL;

	assert_int_equal(store_schema_version(index), STORE_SCHEMA_VERSION);
	assert_int_equal(store_list_read(&list, index, &all), 0);
	assert_int_equal(list.n, 1);
	assert_string_equal(list.rows[0].process.title, "org.example.Main");
	assert_string_equal(list.rows[0].process.labels[0].value, "1.2");
	assert_int_equal(list.rows[0].kinds[0].samples, 190);
	store_list_fini(&list);
}

static void version_1_is_upgraded_by_who_writes(void **state)
{
	struct store_index index;

	make_version_1();
	assert_int_equal(store_database_create(dir, &index), 0);
	check_version_1(&index);
	store_index_close(&index);
}

static void version_1_can_be_read_where_nothing_is_written(void **state)
{
	struct store_index index;

	make_version_1();
	assert_int_equal(store_database_open(dir, &index), 0);
	check_version_1(&index);
	store_index_close(&index);
}

static void steps_are_made_once_and_in_order(void **state)
{
	const char *const steps[] = {
		store_schema_steps[0], store_schema_steps[1],
		"ALTER TABLE processes ADD COLUMN more TEXT NOT NULL DEFAULT 'x'",
		"UPDATE processes SET more = more || 'y'"};
	struct store_index index;

	make_version_1();
	assert_int_equal(store_database_create(dir, &index), 0);
	assert_int_equal(store_schema_upgrade(&index, steps, 4), 0);
	assert_int_equal(store_schema_upgrade(&index, steps, 4), 0);
	assert_int_equal(store_schema_version(&index), 4);
	assert_int_equal(store_index_number(&index, "SELECT more = 'xy' FROM processes", 0), 1);
	store_index_close(&index);
}

static void a_step_that_fails_changes_nothing(void **state)
{
	const char *const steps[] = {store_schema_steps[0], store_schema_steps[1],
				     "DELETE FROM processes; INSERT INTO nowhere VALUES (1)"};
	struct store_index index;

	make_version_1();
	assert_int_equal(store_database_create(dir, &index), 0);
	assert_int_equal(store_schema_upgrade(&index, steps, 3), -EBADMSG);
	check_version_1(&index);
	store_index_close(&index);
}

static void a_later_version_is_told_from_a_damaged_index(void **state)
{
	struct store_index index;

	make_version_1();
	run("PRAGMA user_version = 999");
	assert_int_equal(store_database_create(dir, &index), -EPROTONOSUPPORT);
	assert_int_equal(store_database_open(dir, &index), -EPROTONOSUPPORT);
}

static void another_program_s_database_is_no_index(void **state)
{
	struct store_index index;

	run("CREATE TABLE cookies (a); PRAGMA user_version = 1");
	assert_int_equal(store_database_open(dir, &index), -EBADMSG);
	assert_int_equal(store_database_create(dir, &index), -EBADMSG);
}

static void what_could_run_without_end_is_refused(void **state)
{
	static const char *const hostile[] = {
		("ALTER TABLE processes RENAME TO p; CREATE VIEW processes AS WITH RECURSIVE n(i)"
		 " AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT i FROM n;"),
		"CREATE TRIGGER t AFTER INSERT ON processes BEGIN DELETE FROM segments; END;",
		"CREATE VIRTUAL TABLE v USING fts5(a);",
		("DROP TABLE labels; CREATE TABLE labels (process, key, value AS"
		 " (hex(zeroblob(1000000))));"),
	};

	for (size_t i = 0; i < sizeof(hostile) / sizeof(*hostile); i++) {
		struct store_index index;

		make_version_1();
		run(hostile[i]);
		assert_int_equal(store_database_open(dir, &index), -EBADMSG);
		unlink(path);
	}
}

static void an_index_that_is_no_file_is_refused(void **state)
{
	struct store_index index;

	assert_int_equal(store_database_open(dir, &index), -ENOENT);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(store_database_open(dir, &index), -EINVAL);
	assert_int_equal(store_database_create(dir, &index), -EINVAL);
}

static void an_index_that_is_a_link_is_refused(void **state)
{
	char other[TEMP_DIR_BYTES + 32];
	struct store_index index;

	make_version_1();
	snprintf(other, sizeof(other), "%s/other.db", dir);
	assert_int_equal(rename(path, other), 0);
	assert_int_equal(symlink(other, path), 0);
	assert_int_equal(store_database_open(dir, &index), -EINVAL);
	assert_int_equal(store_database_create(dir, &index), -EINVAL);
}

static void what_is_beside_the_index_and_no_file_is_refused(void **state)
{
	static const char *const beside[] = {"-journal", "-wal", "-shm"};
	char one[TEMP_DIR_BYTES + 32];
	struct store_index index;

	make_version_1();
	for (size_t i = 0; i < sizeof(beside) / sizeof(*beside); i++) {
		snprintf(one, sizeof(one), "%s%s", path, beside[i]);
		assert_int_equal(mkfifo(one, 0600), 0);
		assert_int_equal(store_database_open(dir, &index), -EINVAL);
		assert_int_equal(store_database_create(dir, &index), -EINVAL);
		assert_int_equal(unlink(one), 0);
		assert_int_equal(symlink("/etc/hostname", one), 0);
		assert_int_equal(store_database_open(dir, &index), -EINVAL);
		assert_int_equal(unlink(one), 0);
	}
	assert_int_equal(store_database_create(dir, &index), 0);
	store_index_close(&index);
}

static void a_directory_may_be_a_link(void **state)
{
	char link[TEMP_DIR_BYTES + 16];
	struct store_index index;

	make_version_1();
	snprintf(link, sizeof(link), "%s/link", dir);
	assert_int_equal(symlink(dir, link), 0);
	assert_int_equal(store_database_open(link, &index), 0);
	store_index_close(&index);
	assert_int_equal(store_database_create(link, &index), 0);
	store_index_close(&index);
}

static void a_directory_may_have_any_name(void **state)
{
	char odd[TEMP_DIR_BYTES + 16];
	struct store_index index;

	snprintf(odd, sizeof(odd), "%s/a?b#c%%41", dir);
	assert_int_equal(mkdir(odd, 0700), 0);
	assert_int_equal(store_database_create(odd, &index), 0);
	store_index_close(&index);
	assert_int_equal(store_database_open(odd, &index), 0);
	store_index_close(&index);
}

static void a_directory_may_begin_with_two_slashes(void **state)
{
	char odd[TEMP_DIR_BYTES + 16];
	struct store_index index;

	snprintf(odd, sizeof(odd), "/%s", dir);
	assert_int_equal(store_database_create(odd, &index), 0);
	store_index_close(&index);
	assert_int_equal(store_database_open(odd, &index), 0);
	store_index_close(&index);
}

struct interrupting {
	const char *what;
	bool is_now;
};

static int look_at_statement(unsigned type, void *arg, void *statement, void *text)
{
	struct interrupting *const interrupting = arg;

	interrupting->is_now = strstr(text, interrupting->what);
	return 0;
}

static int interrupt(void *arg)
{
	const struct interrupting *const interrupting = arg;

	return interrupting->is_now;
}

static void a_question_that_fails_is_no_damage(void **state)
{
	static const char *const questions[] = {"sqlite_master", "application_id", "user_version",
						"xinfo"};
	struct store_index index;

	make_version_1();
	assert_int_equal(store_database_create(dir, &index), 0);
	for (size_t i = 0; i < sizeof(questions) / sizeof(*questions); i++) {
		struct interrupting interrupting = {.what = questions[i]};

		sqlite3_trace_v2(index.db, SQLITE_TRACE_STMT, look_at_statement, &interrupting);
		sqlite3_progress_handler(index.db, 1, interrupt, &interrupting);
		assert_int_equal(store_schema_check(&index, STORE_SCHEMA_VERSION), -ECANCELED);
		assert_int_equal(
			store_schema_upgrade(&index, store_schema_steps, STORE_SCHEMA_VERSION),
			-ECANCELED);
	}
	store_index_close(&index);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
		TEST(version_1_is_upgraded_by_who_writes),
		TEST(version_1_can_be_read_where_nothing_is_written),
		TEST(steps_are_made_once_and_in_order),
		TEST(a_step_that_fails_changes_nothing),
		TEST(a_later_version_is_told_from_a_damaged_index),
		TEST(another_program_s_database_is_no_index),
		TEST(what_could_run_without_end_is_refused),
		TEST(an_index_that_is_no_file_is_refused),
		TEST(an_index_that_is_a_link_is_refused),
		TEST(what_is_beside_the_index_and_no_file_is_refused),
		TEST(a_directory_may_have_any_name),
		TEST(a_directory_may_be_a_link),
		TEST(a_directory_may_begin_with_two_slashes),
		TEST(a_question_that_fails_is_no_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
