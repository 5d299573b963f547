// SPDX-License-Identifier: Apache-2.0
/* Claims about store/store_adopt.h: an error of the machine costs no segment. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "samples.h"

#include "common/files.h"
#include "common/temp_dir.h"
#include "store/store_adopt.h"
#include "store/store_database.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOW 1700000000

static char dir[TEMP_DIR_BYTES];
static struct store_index store_index;
static struct store_stats stats;
static int segments_fd;

static bool is_disk_broken;

/* Stands in for the C library's. */
ssize_t read(int fd, void *buf, size_t size)
{
	if (is_disk_broken) {
		errno = EIO;
		return -1;
	}
	return syscall(SYS_read, fd, buf, size);
}

static int set_up(void **state)
{
	temp_dir_make(dir);
	stats = (struct store_stats){0};
	return 0;
}

static int tear_down(void **state)
{
	store_index_close(&store_index);
	close(segments_fd);
	temp_dir_remove(dir);
	return 0;
}

/* Makes a store of n segments, and opens it; has_index: with the index that names them. */
static void make_store(unsigned n, bool has_index)
{
	const struct store_process process = samples_process(4711, 5, "org.example.Main");
	struct store *const store = samples_open(dir, NOW);
	char path[TEMP_DIR_BYTES + 16];

	for (unsigned i = 0; i < n; i++)
		assert_int_equal(
			samples_write(store, NOW + 10 * i, &process, "A.a", NOW + 10 * i, 19), 0);
	store_close(store);
	snprintf(path, sizeof(path), "%s/index.db", dir);
	if (!has_index)
		assert_int_equal(unlink(path), 0);
	assert_int_equal(store_database_create(dir, &store_index), 0);
	snprintf(path, sizeof(path), "%s/segments", dir);
	segments_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(segments_fd >= 0);
}

static int adopt(void)
{
	return store_adopt(&store_index, segments_fd, NOW + 100000, &stats);
}

static bool has_file(const char *name)
{
	return faccessat(segments_fd, name, F_OK, 0) == 0;
}

/* Files can be opened until so many more are open. */
static void allow_files(rlim_t more, struct rlimit *ret_old)
{
	struct rlimit limit;
	const int first = dup(segments_fd);

	assert_int_equal(close(first), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, ret_old), 0);
	limit = *ret_old;
	limit.rlim_cur = (rlim_t)first + more;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static void a_segment_that_cannot_be_opened_stays(void **state)
{
	struct rlimit old;
	int err;

	make_store(1, false);
	allow_files(1, &old); /* the directory can be opened, and no file in it */
	err = adopt();
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	assert_int_equal(err, -EMFILE);
	assert_true(has_file("20231114T221320Z-4711-5.fgrec"));
	assert_int_equal(adopt(), 0);
	assert_int_equal(stats.adopted, 1);
	assert_int_equal(stats.damaged, 0);
}

static void a_segment_that_cannot_be_read_stays(void **state)
{
	make_store(1, false);
	is_disk_broken = true;
	assert_int_equal(adopt(), -EIO);
	is_disk_broken = false;
	assert_true(has_file("20231114T221320Z-4711-5.fgrec"));
	assert_int_equal(adopt(), 0);
	assert_int_equal(stats.adopted, 1);
	assert_int_equal(stats.damaged, 0);
}

static bool is_question;

static int look_at_statement(unsigned type, void *arg, void *statement, void *text)
{
	is_question = strstr(text, "WHERE name = ?1");
	return 0;
}

static int interrupt_question(void *arg)
{
	return is_question;
}

static void an_index_that_does_not_answer_costs_no_segment(void **state)
{
	make_store(1, true);
	sqlite3_trace_v2(store_index.db, SQLITE_TRACE_STMT, look_at_statement, NULL);
	sqlite3_progress_handler(store_index.db, 1, interrupt_question, NULL);
	assert_int_equal(adopt(), -ECANCELED);
	sqlite3_progress_handler(store_index.db, 0, NULL, NULL);
	assert_true(has_file("20231114T221320Z-4711-5.fgrec"));
	assert_int_equal(adopt(), 0);
	assert_int_equal(stats.swept, 0);
	assert_int_equal(stats.missing, 0);
}

static void a_file_that_is_no_recording_goes(void **state)
{
	char path[TEMP_DIR_BYTES + 64];

	make_store(1, false);
	snprintf(path, sizeof(path), "%s/segments/20231114T221320Z-4711-5.fgrec", dir);
	files_write(path, "fgrec 1\nnothing");
	assert_int_equal(adopt(), 0);
	assert_int_equal(stats.damaged, 1);
	assert_false(has_file("20231114T221320Z-4711-5.fgrec"));
}

static int refuse_second_commit(void *arg)
{
	unsigned *const commits = arg;

	return ++*commits > 1;
}

static void whoever_is_interrupted_goes_on_the_next_time(void **state)
{
	unsigned commits = 0;

	make_store(300, false);
	sqlite3_commit_hook(store_index.db, refuse_second_commit, &commits);
	assert_int_not_equal(adopt(), 0);
	assert_int_equal(commits, 2);
	sqlite3_commit_hook(store_index.db, NULL, NULL);
	assert_int_equal(store_index_number(&store_index, "SELECT count(*) FROM segments", 0), 256);
	stats = (struct store_stats){0};
	assert_int_equal(adopt(), 0);
	assert_int_equal(stats.adopted, 44);
	assert_int_equal(stats.swept, 0);
	assert_int_equal(store_index_number(&store_index, "SELECT count(*) FROM segments", 0), 300);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
		TEST(a_segment_that_cannot_be_opened_stays),
		TEST(a_segment_that_cannot_be_read_stays),
		TEST(an_index_that_does_not_answer_costs_no_segment),
		TEST(a_file_that_is_no_recording_goes),
		TEST(whoever_is_interrupted_goes_on_the_next_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
