// SPDX-License-Identifier: Apache-2.0
/* Names of graphs, and which files go: only those that were written here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/temp_dir.h"
#include "draw/graph_dir.h"

static char path[TEMP_DIR_BYTES];
static struct graph_dir dir;
static char name[GRAPH_DIR_NAME_BYTES];

static struct wall_clock now;

/* Lets time pass for both clocks. */
static void pass(int64_t sec)
{
	now.boot_sec += sec;
	now.unix_sec += sec;
}

/* At that time; the clocks then go on from where they were. */
static int expire_after(int64_t sec, uint64_t keep_sec, uint64_t keep_bytes)
{
	struct wall_clock then = now;

	then.boot_sec += sec;
	then.unix_sec += sec;
	return graph_dir_expire(&dir, &then, keep_sec, keep_bytes);
}

static int set_up(void **state)
{
	now = (struct wall_clock){.boot = "first", .boot_sec = 1000, .unix_sec = 1795305600};
	temp_dir_make(path);
	if (graph_dir_open(&dir, path, &now) < 0)
		return -1;
	pass(GRAPH_DIR_SETTLE_SEC);
	return 0;
}

static int tear_down(void **state)
{
	graph_dir_close(&dir);
	temp_dir_remove(path);
	return 0;
}

static int write_bytes(void *arg, FILE *stream)
{
	for (size_t i = 0; i < *(const size_t *)arg; i++)
		putc('x', stream);
	return ferror(stream) ? -EIO : 0;
}

static int write_and_fail(void *arg, FILE *stream)
{
	(void)arg;
	fputs("half", stream);
	return -ENOSPC;
}

static struct graph_name name_of(const char *title, pid_t pid)
{
	return (struct graph_name){.unix_sec = 1795305600,
				   .container = "",
				   .comm = "java",
				   .payer = "user-0",
				   .title = title,
				   .pid = pid,
				   .format = RENDER_HTML};
}

static int put_of(const char *payer, const char *title, size_t bytes)
{
	struct graph_name of = name_of(title, 17);

	of.payer = payer;
	return graph_dir_write(&dir, &now, &of, write_bytes, &bytes, name);
}

/* A graph of so many bytes; its name is in name. */
static int put(const char *title, size_t bytes)
{
	return put_of("user-0", title, bytes);
}

static bool is_there(const char *file)
{
	struct stat st;

	return fstatat(dir.fd, file, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static void plant(const char *file)
{
	const int fd = openat(dir.fd, file, O_CREAT | O_WRONLY | O_TRUNC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "user's", 6), 6);
	close(fd);
}

static void start_again(void)
{
	graph_dir_close(&dir);
	assert_int_equal(graph_dir_open(&dir, path, &now), 0);
}

static void check_name(const struct graph_name *of, unsigned n, const char *expected)
{
	graph_name_write(of, n, name);
	assert_string_equal(name, expected);
	assert_true(graph_name_is_one(name));
}

static void names_say_when_where_what_and_who(void **state)
{
	struct graph_name of = name_of("org.example.Main", 4711);

	check_name(&of, 1, "20261122T000000Z-java-org.example.Main-4711.html");
	check_name(&of, 2, "20261122T000000Z-java-org.example.Main-4711.2.html");
	of.container = "3f2a4b5c6d7e8f901234";
	of.format = RENDER_PPROF;
	check_name(&of, 1, "20261122T000000Z-3f2a4b5c6d7e-org.example.Main-4711.pb.gz");
	of.place = "shop-1";
	check_name(&of, 1, "20261122T000000Z-3f2a4b5c6d7e-shop-1-org.example.Main-4711.pb.gz");
}

static void names_from_outside_cannot_leave_the_directory(void **state)
{
	struct graph_name of = name_of("../../etc/pass wd\n\x1b[1m", 1);
	char longest[400];

	of.comm = "a/b";
	check_name(&of, 1, "20261122T000000Z-a_b-.._.._etc_pass_wd___1m-1.html");
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	memcpy(longest + sizeof(longest) - 6, ".Main", 5);
	of.title = longest;
	graph_name_write(&of, 1, name);
	assert_true(strlen(name) < GRAPH_DIR_NAME_BYTES - 1);
	assert_non_null(strstr(name, ".Main-1.html"));
	of.title = of.comm = "";
	check_name(&of, 1, "20261122T000000Z-_-_-1.html");
}

static void the_oldest_go_when_all_are_too_large(void **state)
{
	char first[GRAPH_DIR_NAME_BYTES];

	assert_int_equal(put("A", 600), 0);
	strcpy(first, name);
	assert_int_equal(put("B", 600), 0);
	assert_int_equal(expire_after(0, 1000, 1200), 0);
	assert_int_equal(dir.count, 2);
	assert_int_equal(put("C", 1), 0);
	assert_int_equal(expire_after(0, 1000, 1200), 0);
	assert_int_equal(dir.count, 2);
	assert_int_equal(dir.bytes, 601);
	assert_int_equal(dir.removed, 1);
	assert_false(is_there(first));
	assert_true(is_there(name));
}

/* Files of the payer that are there; what the list says of them is true. */
static size_t count_of(const char *payer)
{
	size_t count = 0;

	for (size_t i = 0; i < dir.count; i++) {
		assert_true(is_there(dir.files[i].name));
		count += strcmp(graph_payer_id(dir.files[i].payer), payer) == 0;
	}
	return count;
}

static void many_graphs_of_one_leave_the_others_theirs(void **state)
{
	for (int i = 0; i < 3; i++)
		assert_int_equal(put_of("victim", "V", 100), 0);
	for (int i = 0; i < 456; i++) {
		assert_int_equal(put_of("flood", "F", 10), 0);
		if (i % 50 == 0)
			assert_int_equal(expire_after(0, 1000, 1000), 0);
	}
	start_again();
	assert_int_equal(expire_after(0, 1000, 1000), 0);
	assert_int_equal(count_of("victim"), 3);
	assert_int_equal(count_of("flood"), 70);
	assert_int_equal(dir.bytes, 1000);
	assert_true(is_there(name)); /* the newest */
}

static void many_files_of_one_leave_the_others_theirs(void **state)
{
	dir.max_files = 10;
	for (int i = 0; i < 5; i++) {
		assert_int_equal(put_of("victim", "V", 100), 0);
		for (int j = 0; j < 20; j++)
			assert_int_equal(put_of("flood", "F", 1), 0);
		assert_int_equal(expire_after(0, 1000, 100000), 0);
	}
	assert_int_equal(count_of("victim"), 4);
	assert_int_equal(count_of("flood"), 4);
}

static void payers_that_have_nothing_are_forgotten(void **state)
{
	char payer[32];

	assert_int_equal(put_of("stays", "S", 1), 0);
	for (int i = 0; i < 500; i++) {
		snprintf(payer, sizeof(payer), "container-%d", i);
		assert_int_equal(put_of(payer, "F", 10), 0);
		assert_int_equal(expire_after(0, 1000, 30), 0);
		assert_true(dir.payers.count < 100);
	}
	assert_int_equal(count_of("stays"), 1);
}

static void a_list_without_payers_is_read(void **state)
{
	struct stat st;
	int fd;

	plant("20261122T000000Z-java-A-17.html");
	assert_int_equal(fstatat(dir.fd, "20261122T000000Z-java-A-17.html", &st, 0), 0);
	fd = openat(dir.fd, ".fgcollect-graphs", O_WRONLY | O_TRUNC);
	assert_true(fd >= 0);
	assert_true(dprintf(fd,
			    "fgcollect graphs 1\n"
			    "1795305600 %llu 6 20261122T000000Z-java-A-17.html\n",
			    (unsigned long long)st.st_ino) > 0);
	close(fd);
	start_again();
	assert_int_equal(dir.count, 1);
	assert_int_equal(put_of("new", "B", 10), 0);
	start_again();
	assert_int_equal(count_of("nobody"), 1);
	assert_int_equal(count_of("new"), 1);
}

static void what_is_too_old_goes_also_after_a_restart(void **state)
{
	assert_int_equal(put("A", 10), 0);
	start_again();
	assert_int_equal(dir.count, 1);
	assert_int_equal(dir.bytes, 10);
	assert_int_equal(expire_after(50, 100, 1000), 0);
	assert_true(is_there(name));
	assert_int_equal(expire_after(200, 100, 1000), 0);
	assert_false(is_there(name));
	start_again();
	assert_int_equal(dir.count, 0);
}

/* To the future and back, and the files that were written then, too. */
static void a_jump_of_the_clock_makes_no_file_older(void **state)
{
	static const int64_t jumps[] = {30 * 86400, -60 * 86400, 1800, 100000 * INT64_C(86400),
					-100000 * INT64_C(86400)};

	assert_int_equal(put("A", 10), 0);
	for (size_t i = 0; i < sizeof(jumps) / sizeof(jumps[0]); i++) {
		now.unix_sec += jumps[i];
		pass(10);
		if (i % 2 == 0)
			start_again();
		assert_int_equal(put("B", 10), 0);
		assert_int_equal(expire_after(0, 100, 1000), 0);
		assert_int_equal(dir.count, i + 2);
	}
	pass(60);
	assert_int_equal(expire_after(0, 100, 1000), 0);
	assert_int_equal(dir.count, 5); /* the first is 110 s old */
	pass(100);
	assert_int_equal(expire_after(0, 100, 1000), 0);
	assert_int_equal(dir.count, 0);
}

static void a_jump_is_seen_by_the_next_daemon(void **state)
{
	assert_int_equal(put("A", 10), 0);
	graph_dir_close(&dir);
	now.unix_sec += 30 * 86400;
	pass(50);
	assert_int_equal(graph_dir_open(&dir, path, &now), 0);
	assert_int_equal(expire_after(0, 100, 1000), 0);
	assert_int_equal(dir.count, 1);
	assert_int_equal(expire_after(60, 100, 1000), 0);
	assert_int_equal(dir.count, 0);
}

static void after_a_boot_files_wait_until_the_clock_is_set(void **state)
{
	assert_int_equal(put("A", 10), 0);
	strcpy(now.boot, "second");
	now.boot_sec = 5;
	now.unix_sec += 30 * 86400;
	start_again();
	assert_int_equal(expire_after(GRAPH_DIR_SETTLE_SEC - 1, 100, 1000), 0);
	assert_int_equal(dir.count, 1);
	assert_int_equal(expire_after(GRAPH_DIR_SETTLE_SEC, 100, 1000), 0);
	assert_int_equal(dir.count, 0);
}

static void a_list_with_a_senseless_clock_is_read(void **state)
{
	int fd;

	assert_int_equal(put("A", 10), 0);
	fd = openat(dir.fd, ".fgcollect-graphs", O_WRONLY | O_APPEND);
	assert_true(fd >= 0);
	assert_true(dprintf(fd,
			    "clock first -9223372036854775808 9223372036854775807\n"
			    "clock first 9223372036854775807 -9223372036854775808\nclock\n") > 0);
	close(fd);
	start_again();
	assert_int_equal(dir.count, 1);
	assert_int_equal(expire_after(0, 100, 1000), 0);
	assert_int_equal(dir.count, 1);
}

static void files_of_others_stay(void **state)
{
	static const char alike[] = "20200101T000000Z-java-Main-1.html";

	plant(alike);
	plant("notes.txt");
	start_again();
	assert_int_equal(dir.count, 0);
	assert_int_equal(put("A", 10), 0);
	unlinkat(dir.fd, name, 0);
	plant("other"); /* so that the inode is not given again at once */
	plant(name);	/* a user's, in the place of ours */
	assert_int_equal(expire_after(200, 100, 1000), 0);
	assert_true(is_there(name));
	assert_true(is_there(alike));
	assert_true(is_there("notes.txt"));
	assert_int_equal(dir.removed, 0);
}

static void a_file_that_is_there_is_not_replaced(void **state)
{
	const char *expected = "20261122T000000Z-java-A-17.2.html";
	struct stat st;

	plant("20261122T000000Z-java-A-17.html");
	assert_int_equal(symlinkat("/etc/passwd", dir.fd, ".fgcollect-part"), 0);
	assert_int_equal(put("A", 10), 0);
	assert_string_equal(name, expected);
	assert_int_equal(fstatat(dir.fd, name, &st, AT_SYMLINK_NOFOLLOW), 0);
	assert_true(S_ISREG(st.st_mode));
	assert_int_equal(fstatat(dir.fd, "20261122T000000Z-java-A-17.html", &st, 0), 0);
	assert_int_equal(st.st_size, 6);
}

static void half_a_graph_is_none(void **state)
{
	const struct graph_name of = name_of("A", 17);

	assert_int_equal(graph_dir_write(&dir, &now, &of, write_and_fail, NULL, name), -ENOSPC);
	assert_false(is_there(name));
	assert_false(is_there(".fgcollect-part"));
	assert_int_equal(dir.count, 0);
	plant(".fgcollect-part"); /* of one that was killed while it wrote */
	start_again();
	assert_false(is_there(".fgcollect-part"));
}

/* The list is a file in a directory that others may write to. */
static void a_list_that_lies_removes_nothing(void **state)
{
	struct stat st;
	int fd;

	plant("notes.txt");
	assert_int_equal(fstatat(dir.fd, "notes.txt", &st, 0), 0);
	fd = openat(dir.fd, ".fgcollect-graphs", O_WRONLY | O_APPEND);
	assert_true(fd >= 0);
	assert_true(dprintf(fd,
			    "1 %llu 1 notes.txt\n1 1 1 ../../etc/passwd\nx\n1 2\n"
			    "1 1 1 20200101T000000Z-/../../../etc/passwd\n%0500d\n",
			    (unsigned long long)st.st_ino, 7) > 0);
	close(fd);
	start_again();
	assert_int_equal(dir.count, 0);
	assert_int_equal(expire_after(2000, 100, 1000), 0);
	assert_true(is_there("notes.txt"));
}

static void a_second_program_is_refused(void **state)
{
	struct graph_dir second;

	plant(".fgcollect-part"); /* what the first is writing */
	assert_int_equal(graph_dir_open(&second, path, &now), -EBUSY);
	assert_true(is_there(".fgcollect-part"));
	assert_int_equal(graph_dir_open(&second, "/nonexistent/x", &now), -ENOENT);
}

#define CLAIM(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM(names_say_when_where_what_and_who),
		CLAIM(names_from_outside_cannot_leave_the_directory),
		CLAIM(the_oldest_go_when_all_are_too_large),
		CLAIM(many_graphs_of_one_leave_the_others_theirs),
		CLAIM(many_files_of_one_leave_the_others_theirs),
		CLAIM(payers_that_have_nothing_are_forgotten),
		CLAIM(a_list_without_payers_is_read),
		CLAIM(what_is_too_old_goes_also_after_a_restart),
		CLAIM(a_jump_of_the_clock_makes_no_file_older),
		CLAIM(a_jump_is_seen_by_the_next_daemon),
		CLAIM(after_a_boot_files_wait_until_the_clock_is_set),
		CLAIM(a_list_with_a_senseless_clock_is_read),
		CLAIM(files_of_others_stay),
		CLAIM(a_file_that_is_there_is_not_replaced),
		CLAIM(half_a_graph_is_none),
		CLAIM(a_list_that_lies_removes_nothing),
		CLAIM(a_second_program_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
