// SPDX-License-Identifier: Apache-2.0
/* The small things that everything stands on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/file.h"
#include "base/intern.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/log_limit.h"
#include "base/map64.h"
#include "base/process_stat.h"
#include "base/root_file.h"
#include "common/child.h"
#include "common/temp_dir.h"

static int things[1000];

/* Against an array as the model, with removals, so that runs of the probe are broken up. */
static void map_agrees_with_a_plain_array(void **state)
{
	struct map64 map = {0};
	void *model[257] = {0};
	size_t count = 0, pos = 0, walked = 0;
	uint64_t key;
	void *value;

	srand(1);
	for (int i = 0; i < 200000; i++) {
		const uint64_t k = (uint64_t)rand() % 257;

		if (rand() % 3) {
			value = &things[rand() % 1000];
			assert_int_equal(map64_put(&map, k * 64, value), 0);
			count += !model[k];
			model[k] = value;
		} else {
			assert_ptr_equal(map64_remove(&map, k * 64), model[k]);
			count -= model[k] != NULL;
			model[k] = NULL;
		}
		assert_int_equal(map.count, count);
	}
	for (uint64_t k = 0; k < 257; k++)
		assert_ptr_equal(map64_find(&map, k * 64), model[k]);
	while (map64_next(&map, &pos, &key, &value)) {
		assert_ptr_equal(model[key / 64], value);
		walked++;
	}
	assert_int_equal(walked, count);
	map64_fini(&map);
	assert_null(map64_find(&map, 0));
	assert_null(map64_remove(&map, 0));
}

static void free_counted(void *value)
{
	++*(int *)value;
}

static void elements_below_are_counted_where_some_are_equal(void **state)
{
	static const unsigned items[] = {1, 3, 3, 3, 8};

	(void)state;
	assert_int_equal(ARRAY_COUNT_BELOW(0, 5, i, items[i] < 1), 0);
	assert_int_equal(ARRAY_COUNT_BELOW(0, 5, i, items[i] < 3), 1);
	assert_int_equal(ARRAY_COUNT_BELOW(0, 5, i, items[i] <= 3), 4);
	assert_int_equal(ARRAY_COUNT_BELOW(2, 4, i, items[i] < 3), 2);
	assert_int_equal(ARRAY_COUNT_BELOW(0, 5, i, items[i] < 9), 5);
	assert_int_equal(ARRAY_COUNT_BELOW(0, 0, i, items[i] < 9), 0);
}

static void each_value_of_a_map_is_freed_once(void **state)
{
	struct map64 map = {0};

	(void)state;
	memset(things, 0, sizeof(things));
	for (size_t i = 0; i < 1000; i++)
		assert_int_equal(map64_put(&map, i * 64, &things[i]), 0);
	map64_fini_all(&map, free_counted);
	for (size_t i = 0; i < 1000; i++)
		assert_int_equal(things[i], 1);
	assert_int_equal(map.count, 0);
	map64_fini_all(&map, free_counted);
}

static void an_array_has_room_for_what_is_wanted_and_keeps_what_it_has(void **state)
{
	uint64_t *items = NULL;
	size_t size = 0;

	(void)state;
	for (size_t i = 0; i < 1000; i++) {
		assert_int_equal(ARRAY_RESERVE(items, size, i + 1), 0);
		assert_true(size > i);
		items[i] = i;
	}
	assert_int_equal(size, 1024);
	assert_int_equal(ARRAY_RESERVE(items, size, 5000), 0);
	assert_int_equal(size, 8192);
	items = array_trim(items, 1000, sizeof(*items));
	for (size_t i = 0; i < 1000; i++)
		assert_int_equal(items[i], i);
	free(items);
}

static void an_array_past_all_memory_stays_as_it_was(void **state)
{
	uint64_t *items = NULL, *before;
	uint32_t size = 0;
	size_t large = 0;

	(void)state;
	assert_int_equal(ARRAY_RESERVE(items, size, 1), 0);
	before = items;
	assert_int_equal(ARRAY_RESERVE(items, size, (size_t)UINT32_MAX), -ENOMEM);
	assert_int_equal(size, ARRAY_FIRST);
	assert_ptr_equal(items, before);
	free(items);
	items = NULL;
	assert_int_equal(ARRAY_RESERVE(items, large, SIZE_MAX / sizeof(*items) + 1), -ENOMEM);
	assert_int_equal(ARRAY_RESERVE(items, large, SIZE_MAX), -ENOMEM);
	assert_int_equal(large, 0);
	assert_null(items);
}

static void equal_texts_are_one_pointer(void **state)
{
	struct intern intern = {0};
	const char *first[2000];
	char text[32];

	for (int i = 0; i < 2000; i++) {
		snprintf(text, sizeof(text), "name %d", i);
		first[i] = intern_add_str(&intern, text);
		assert_string_equal(first[i], text);
	}
	for (int i = 0; i < 2000; i++) {
		snprintf(text, sizeof(text), "name %d", i);
		assert_ptr_equal(intern_add_str(&intern, text), first[i]);
	}
	assert_int_equal(intern.count, 2000);
	assert_string_equal(intern_add(&intern, "", 0), "");
	assert_ptr_not_equal(intern_add(&intern, "a\0b", 3), intern_add(&intern, "a\0c", 3));
	intern_fini(&intern);
}

static void arena_gives_aligned_memory_of_any_size(void **state)
{
	struct arena arena = {0};

	for (size_t bytes = 1; bytes < 300000; bytes = bytes * 3 + 1) {
		unsigned char *p = arena_alloc(&arena, bytes);

		assert_non_null(p);
		assert_int_equal((uintptr_t)p % _Alignof(max_align_t), 0);
		memset(p, 0xaa, bytes);
		assert_string_equal(arena_copy(&arena, "text", 4), "text");
	}
	arena_fini(&arena);
	assert_int_equal(arena.total_bytes, 0);
}

static void output_appears_whole_or_not_at_all(void **state)
{
	char dir[TEMP_DIR_BYTES], path[TEMP_DIR_BYTES + 8], text[16];
	struct file_atomic file;
	struct stat st;

	temp_dir_make(dir);
	snprintf(path, sizeof(path), "%s/out", dir);
	assert_int_equal(file_atomic_open(&file, path, 0640), 0);
	fputs("half", file.stream);
	assert_int_equal(access(path, F_OK), -1);
	file_atomic_abandon(&file);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(file_atomic_open(&file, path, 0640), 0);
	fputs("whole", file.stream);
	assert_int_equal(file_atomic_commit(&file), 0);
	assert_int_equal(file_read_small(path, text, sizeof(text)), 5);
	assert_string_equal(text, "whole");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
	assert_int_equal(unlink(path), 0);
	temp_dir_remove_empty(dir);
	assert_int_equal(file_atomic_open(&file, path, 0640), -ENOENT);
}

static void write_error_of_a_full_disk_is_seen(void **state)
{
	struct file_atomic file = {0};

	file.stream = fopen("/dev/full", "w");
	file.path = strdup("/tmp/never");
	file.temp_path = strdup("/nonexistent/never");
	fputs("x", file.stream);
	assert_int_equal(file_atomic_commit(&file), -ENOSPC);
}

/* The error is of the stream; errno has been another call's since. */
static void earlier_write_error_is_not_forgotten(void **state)
{
	char dir[TEMP_DIR_BYTES], path[TEMP_DIR_BYTES + 8];
	struct file_atomic file;

	temp_dir_make(dir);
	snprintf(path, sizeof(path), "%s/out", dir);
	assert_int_equal(file_atomic_open(&file, path, 0600), 0);
	assert_int_equal(fgetc(file.stream), EOF); /* a stream that is written only */
	errno = 0;
	assert_int_equal(file_atomic_commit(&file), -EIO);
	assert_int_equal(access(path, F_OK), -1);
	temp_dir_remove_empty(dir);
}

static void whole_files_are_read_up_to_their_limit(void **state)
{
	char path[] = "/tmp/fgcollect-test-XXXXXX", small[4];
	const int fd = mkstemp(path);
	char *text = NULL;

	for (int i = 0; i < 10000; i++)
		assert_int_equal(write(fd, "0123456789", 10), 10);
	close(fd);
	assert_int_equal(file_read_whole(path, 1 << 20, &text), 100000);
	assert_memory_equal(text + 99990, "0123456789", 11);
	free(text);
	assert_int_equal(file_read_whole(path, 12345, &text), 12345);
	free(text);
	assert_int_equal(file_read_small(path, small, sizeof(small)), 3);
	assert_string_equal(small, "012");
	unlink(path);
	assert_int_equal(file_read_small(path, small, sizeof(small)), -ENOENT);
}

static void process_is_told_from_its_successor(void **state)
{
	uint64_t ours = 0, again = 0;
	pid_t child;
	char comm[16];

	assert_int_equal(process_stat_start_ticks(getpid(), &ours), 0);
	assert_int_equal(process_stat_start_ticks(getpid(), &again), 0);
	assert_true(ours > 0 && again == ours);
	assert_int_equal(process_stat_inner_pid(getpid(), getpid()), getpid());
	process_stat_comm(getpid(), getpid(), comm, sizeof(comm));
	assert_string_equal(comm, "test_base");
	child = fork();
	if (child == 0)
		_exit(0);
	while (process_stat_start_ticks(child, &again) == 0)
		usleep(1000); /* a zombie counts as gone */
	waitpid(child, NULL, 0);
	assert_int_equal(process_stat_start_ticks(child, &again), -ESRCH);
	process_stat_comm(child, child, comm, sizeof(comm));
	assert_string_equal(comm, "");
}

static int open_below(int root, const char *path, uint64_t resolve)
{
	struct stat st;
	const int fd = root_file_open_regular(root, path, resolve, &st);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

/* root/file, root/fifo, links to the file by its way from the root and by one that leads out */
static void nothing_but_a_regular_file_below_its_root_is_opened(void **state)
{
	char dir[TEMP_DIR_BYTES], command[256];
	int root;

	temp_dir_make(dir);
	snprintf(command, sizeof(command),
		 "cd %s && mkdir -p root/dir && echo in >root/file && echo out >file && "
		 "mkfifo root/fifo && ln -s /file root/dir/link && ln -s ../file root/out",
		 dir);
	assert_int_equal(system(command), 0);
	strcat(strcpy(command, dir), "/root");
	root = open(command, O_PATH | O_DIRECTORY);
	assert_int_equal(open_below(root, "file", RESOLVE_IN_ROOT), 0);
	assert_int_equal(open_below(root, "/dir/link", RESOLVE_IN_ROOT), 0);
	assert_int_equal(open_below(root, "out", RESOLVE_IN_ROOT), 0); /* the one that is in */
	assert_int_equal(open_below(root, "out", RESOLVE_BENEATH), -EXDEV);
	assert_int_equal(open_below(root, "out", RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS), -ELOOP);
	assert_int_equal(open_below(root, "fifo", RESOLVE_IN_ROOT), -EINVAL);
	assert_int_equal(open_below(root, "dir", RESOLVE_IN_ROOT), -EINVAL);
	assert_int_equal(open_below(root, "none", RESOLVE_IN_ROOT), -ENOENT);
	close(root);
	temp_dir_remove(dir);
}

static void a_process_is_as_old_as_it_has_lived(void **state)
{
	const pid_t child = child_start();

	usleep(150000);
	assert_in_range(process_stat_age_ns(child), 140000000, UINT64_C(60000000000));
	assert_true(process_stat_age_ns(1) > process_stat_age_ns(child));
	child_end(child);
	assert_true(process_stat_age_ns(child) == UINT64_MAX);
}

/* What one line is on stderr, while that is a file and JOURNAL_STREAM has this text. */
static void check_line(const char *journal, bool is_ours, const char *expected)
{
	char path[] = "/tmp/fg-log-XXXXXX", text[256], stream[64];
	const int fd = mkstemp(path), saved = dup(STDERR_FILENO);
	struct stat st;

	assert_true(fd >= 0 && saved >= 0);
	dup2(fd, STDERR_FILENO);
	assert_int_equal(fstat(fd, &st), 0);
	snprintf(stream, sizeof(stream), "%llu:%llu", (unsigned long long)st.st_dev,
		 (unsigned long long)st.st_ino);
	setenv("JOURNAL_STREAM", is_ours ? stream : journal, 1);
	log_detect_journal();
	log_warning("a\nb\xe2\x80\xae\xc3\xa9");
	dup2(saved, STDERR_FILENO);
	unsetenv("JOURNAL_STREAM");
	log_detect_journal();
	assert_true(file_read_small(path, text, sizeof(text)) > 0);
	assert_string_equal(text, expected);
	unlink(path);
	close(saved);
	close(fd);
}

static void lines_have_a_priority_where_the_journal_reads_them(void **state)
{
	check_line(NULL, true, "<4>fgcollect: a?b?\xc3\xa9\n");
	check_line("1:1", false, "fgcollect: a?b?\xc3\xa9\n"); /* another's, that was inherited */
	check_line("x", false, "fgcollect: a?b?\xc3\xa9\n");
}

static unsigned lines_of(int fd)
{
	unsigned n = 0;
	char byte;

	while (read(fd, &byte, 1) == 1)
		n += byte == '\n';
	return n;
}

/* Nobody reads the pipe. A log that waited for a reader would never return. */
static void check_unread_log(uint64_t begin_ns)
{
	char text[256] = "";
	int fds[2];

	assert_int_equal(pipe2(fds, O_NONBLOCK), 0);
	assert_true(fcntl(fds[1], F_SETFL, 0) == 0 && fcntl(fds[1], F_SETPIPE_SZ, 4096) == 4096);
	dup2(fds[1], STDERR_FILENO);
	for (int i = 0; i < 150; i++)
		log_warning("%0100d", i);
	assert_true(log_left_out() > 0 && log_left_out() < 150);
	lines_of(fds[0]);
	clock_pretend(begin_ns + 61 * CLOCK_NS_PER_SEC);
	log_warning("again");
	assert_true(read(fds[0], text, sizeof(text) - 1) > 0);
	assert_true(strstr(text, " lines were left out before this one"));
	assert_true(strstr(text, "\nfgcollect: again\n"));
	close(fds[0]);
	close(fds[1]);
}

/* So many lines of each kind leave room for another kind. */
static void check_long_log(void)
{
	const uint64_t before = log_left_out();
	FILE *const file = tmpfile();

	assert_non_null(file);
	dup2(fileno(file), STDERR_FILENO);
	for (int i = 0; i < LOG_MAX_LINES + 100; i++)
		log_warning("line"); /* one of another kind was written before */
	assert_int_equal(log_left_out() - before, LOG_MAX_LINES / 2 + 100);
	log_set_level(LOG_LEVEL_DEBUG);
	log_warning("line");
	log_set_level(LOG_LEVEL_INFO);
	for (int i = 0; i < LOG_MAX_LINES + 100; i++)
		log_info("line"); /* has room, whatever there was of warnings */
	assert_int_equal(log_left_out() - before, LOG_MAX_LINES + 200);
	assert_int_equal(lseek(fileno(file), 0, SEEK_SET), 0);
	assert_int_equal(lines_of(fileno(file)), LOG_MAX_LINES + 1);
	fclose(file);
}

static void flood(void)
{
	for (int i = 0; i < 10 * LOG_MAX_LINES; i++) {
		log_warning("refused request %d", i);
		log_warning("parser %d ended", i);
		log_error("server %d does not answer", i);
		log_warning("PID %d does not answer", i);
	}
}

/* Others can cause any number of lines of some kinds. */
static void check_storm(uint64_t begin_ns)
{
	FILE *const file = tmpfile();
	char text[64] = "";

	assert_non_null(file);
	dup2(fileno(file), STDERR_FILENO);
	clock_pretend(begin_ns + 200 * CLOCK_NS_PER_SEC);
	for (int i = 0; i < 10 * LOG_MAX_LINES; i++)
		log_info("PID %d: ended", i);
	flood();
	assert_int_equal(ftruncate(fileno(file), 0), 0);
	assert_int_equal(lseek(fileno(file), 0, SEEK_SET), 0);
	log_warning("trouble");
	assert_int_equal(lseek(fileno(file), 0, SEEK_SET), 0);
	assert_true(read(fileno(file), text, sizeof(text) - 1) > 0);
	assert_string_equal(text, "fgcollect: trouble\n");
	fclose(file);
}

static void a_bounded_log_waits_for_nobody_and_ends(void **state)
{
	const uint64_t begin_ns = clock_now_ns();
	const int saved = dup(STDERR_FILENO);

	clock_pretend(begin_ns);
	log_be_bounded();
	check_unread_log(begin_ns);
	check_long_log();
	check_storm(begin_ns);
	dup2(saved, STDERR_FILENO);
	close(saved);
	clock_pretend(0);
}

#define MINUTE (60 * CLOCK_NS_PER_SEC)

static void who_causes_many_lines_leaves_room_for_those_of_others(void **state)
{
	struct log_limit limit = {0};
	struct log_catch caught = {0};
	unsigned allowed = 0;

	log_catch(&caught);
	for (int i = 0; i < 1000; i++)
		allowed += log_limit_allows(&limit, 1, 1);
	assert_int_equal(allowed, LOG_LIMIT_LINES);
	assert_true(log_limit_allows(&limit, 2, 2));
	assert_string_equal(caught.warnings, "");
	assert_true(log_limit_allows(&limit, 2, 1 + MINUTE));
	assert_string_equal(caught.warnings, "990 more lines like the following were left out");
	assert_true(log_limit_allows(&limit, 1, 2 + MINUTE));
	log_catch(NULL);
}

static void past_so_many_groups_all_others_are_one(void **state)
{
	struct log_limit limit = {0};

	for (uint64_t group = 0; group < LOG_LIMIT_GROUPS + LOG_LIMIT_LINES; group++)
		assert_true(log_limit_allows(&limit, group, 1));
	assert_false(log_limit_allows(&limit, 1000, 1));
	assert_true(log_limit_allows(&limit, 5, 1));
}

/* Reads back what a share says when its minute is over. */
static void sum_up(struct log_share *share, uint64_t now_ns, char ret[512])
{
	FILE *const file = tmpfile();
	const int saved = dup(STDERR_FILENO);

	assert_non_null(file);
	memset(ret, 0, 512);
	dup2(fileno(file), STDERR_FILENO);
	log_share_step(share, "ends", now_ns);
	dup2(saved, STDERR_FILENO);
	close(saved);
	assert_int_equal(lseek(fileno(file), 0, SEEK_SET), 0);
	assert_true(read(fileno(file), ret, 511) >= 0);
	fclose(file);
}

static void one_line_sums_up_what_a_share_has_no_room_for(void **state)
{
	struct log_share share = {0};
	char said[512];

	for (int i = 0; i < 500; i++)
		assert_int_equal(log_share_allows(&share, 7, "user 1000", 1), i < LOG_LIMIT_LINES);
	for (int i = 0; i < LOG_LIMIT_LINES; i++)
		assert_true(log_share_allows(&share, 8, "user 1001", 2));
	sum_up(&share, MINUTE, said);
	assert_string_equal(said, "");
	sum_up(&share, MINUTE + 1, said);
	assert_string_equal(said, "fgcollect: user 1000: 490 more ends within a minute\n");
	sum_up(&share, 2 * MINUTE + 2, said);
	assert_string_equal(said, "");
	assert_true(log_share_allows(&share, 7, "user 1000", 2 * MINUTE + 3));
}

static void errors_and_warnings_of_a_thread_are_caught(void **state)
{
	struct log_catch caught = {0};

	log_catch(&caught);
	log_error("first: %d", 1);
	log_warning("a\033b");
	log_error("second");
	assert_string_equal(caught.errors, "first: 1; second");
	assert_string_equal(caught.warnings, "a?b");
	for (unsigned i = 0; i < 100; i++)
		log_error("a line of some length, number %u", i);
	assert_int_equal(strlen(caught.errors), LOG_CATCH_BYTES - 1);
	assert_string_equal(caught.errors + LOG_CATCH_BYTES - 4, "...");
	log_catch(NULL);
	caught.errors[0] = '\0';
	log_error("this line is for stderr");
	assert_string_equal(caught.errors, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_have_a_priority_where_the_journal_reads_them),
		cmocka_unit_test(errors_and_warnings_of_a_thread_are_caught),
		cmocka_unit_test(who_causes_many_lines_leaves_room_for_those_of_others),
		cmocka_unit_test(past_so_many_groups_all_others_are_one),
		cmocka_unit_test(one_line_sums_up_what_a_share_has_no_room_for),
		cmocka_unit_test(a_bounded_log_waits_for_nobody_and_ends),
		cmocka_unit_test(map_agrees_with_a_plain_array),
		cmocka_unit_test(elements_below_are_counted_where_some_are_equal),
		cmocka_unit_test(each_value_of_a_map_is_freed_once),
		cmocka_unit_test(an_array_has_room_for_what_is_wanted_and_keeps_what_it_has),
		cmocka_unit_test(an_array_past_all_memory_stays_as_it_was),
		cmocka_unit_test(equal_texts_are_one_pointer),
		cmocka_unit_test(arena_gives_aligned_memory_of_any_size),
		cmocka_unit_test(output_appears_whole_or_not_at_all),
		cmocka_unit_test(write_error_of_a_full_disk_is_seen),
		cmocka_unit_test(earlier_write_error_is_not_forgotten),
		cmocka_unit_test(whole_files_are_read_up_to_their_limit),
		cmocka_unit_test(process_is_told_from_its_successor),
		cmocka_unit_test(nothing_but_a_regular_file_below_its_root_is_opened),
		cmocka_unit_test(a_process_is_as_old_as_it_has_lived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
