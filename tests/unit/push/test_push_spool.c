// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about push/push_spool.h: what is added is sent once, lost and counted, or still there;
 * also when the writer is killed at a random moment.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/files.h"
#include "own_spool.h"
#include "push/spool_files.h"

#define KILLS 15

static void the_oldest_goes_first_and_once(void **state)
{
	own_spool_add("one", 1, SEC);
	own_spool_add("two", 2, 2 * SEC);
	own_spool_settle("one", 3 * SEC, PUSH_SENT);
	own_spool_settle("two", 3 * SEC, PUSH_SENT);
	own_spool_settle(NULL, 3 * SEC, PUSH_SENT);
	assert_int_equal(own_spool_stats().sent.samples, 3);
	assert_int_equal(own_spool_stats().sent_bytes, 6);
	assert_int_equal(
		own_spool_count_files(".push", NULL) + own_spool_count_files(".sending", NULL), 0);
}

static void what_is_to_go_again_stays_the_first(void **state)
{
	own_spool_add("one", 1, SEC);
	own_spool_add("two", 2, SEC);
	own_spool_settle("one", SEC, PUSH_AGAIN);
	own_spool_settle("one", SEC, PUSH_SENT);
	own_spool_settle("two", SEC, PUSH_AGAIN);
	own_spool_add("three", 3, SEC);
	own_spool_settle("two", SEC, PUSH_SENT);
	own_spool_settle("three", SEC, PUSH_SENT);
	assert_int_equal(own_spool_stats().failed_tries, 2);
}

static void several_that_are_out_come_back_in_order(void **state)
{
	struct push_entry *entries[3];

	own_spool_add("one", 1, SEC);
	own_spool_add("two", 2, SEC);
	own_spool_add("three", 4, SEC);
	own_spool_add("four", 8, SEC);
	for (size_t i = 0; i < 3; i++)
		entries[i] = push_spool_take(own_spool, SEC);
	push_spool_settle(own_spool, entries[0], PUSH_AGAIN, NULL);
	push_spool_settle(own_spool, entries[2], PUSH_SENT, NULL);
	push_spool_settle(own_spool, entries[1], PUSH_AGAIN, NULL);
	own_spool_settle("one", SEC, PUSH_SENT);
	own_spool_settle("two", SEC, PUSH_SENT);
	own_spool_settle("four", SEC, PUSH_SENT);
	own_spool_settle(NULL, SEC, PUSH_SENT);
	assert_int_equal(own_spool_stats().sent.samples, 15);
}

static void what_waits_is_found_by_the_next_one(void **state)
{
	own_spool_add("one", 1, SEC);
	own_spool_add("two", 2, SEC);
	own_spool_settle("one", SEC, PUSH_AGAIN);
	own_spool_reopen();
	assert_int_equal(own_spool_stats().found.profiles, 2);
	assert_int_equal(own_spool_stats().found.samples, 3);
	own_spool_settle("one", SEC, PUSH_SENT);
	own_spool_settle("two", SEC, PUSH_SENT);
	own_spool_add("three", 3, SEC);
	own_spool_settle("three", SEC, PUSH_SENT);
}

static void what_was_being_sent_is_in_doubt_afterwards(void **state)
{
	own_spool_add("one", 1, SEC);
	own_spool_add("two", 2, SEC);
	free(push_spool_take(own_spool, SEC));
	own_spool_reopen();
	assert_int_equal(own_spool_stats().in_doubt.samples, 1);
	own_spool_settle("two", SEC, PUSH_SENT);
	own_spool_settle(NULL, SEC, PUSH_SENT);
}

static void the_oldest_make_room(void **state)
{
	char text[4001];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	for (uint64_t i = 0; i < 5; i++) {
		text[0] = (char)('a' + i);
		own_spool_add(text, i, SEC);
	}
	assert_int_equal(own_spool_stats().dropped_full.profiles, 3);
	assert_int_equal(own_spool_stats().dropped_full.samples, 0 + 1 + 2);
	assert_int_equal(own_spool_stats().waiting_bytes, 8000);
	assert_int_equal(own_spool_count_files(".push", NULL), 2);
	text[0] = 'd';
	own_spool_settle(text, SEC, PUSH_SENT);
}

static void what_is_being_sent_is_not_dropped_for_room(void **state)
{
	struct push_entry *entry;
	char text[9001];

	own_spool_add("one", 1, SEC);
	entry = push_spool_take(own_spool, SEC);
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	own_spool_add(text, 2, SEC);
	own_spool_add(text, 4, SEC);
	assert_int_equal(own_spool_stats().dropped_full.samples, 2);
	push_spool_settle(own_spool, entry, PUSH_SENT, NULL);
	assert_int_equal(own_spool_stats().sent.samples, 1);
}

/* Also of those that are being sent. */
static void the_oldest_that_is_not_sent_is_known(void **state)
{
	struct push_entry *one, *two;

	assert_int_equal(own_spool_stats().oldest_unix_ns, 0);
	own_spool_add("one", 1, 5 * SEC);
	own_spool_add("two", 2, 6 * SEC);
	own_spool_add("three", 4, 7 * SEC);
	assert_int_equal(own_spool_stats().oldest_unix_ns, 5 * SEC);
	one = push_spool_take(own_spool, 8 * SEC);
	two = push_spool_take(own_spool, 8 * SEC);
	assert_int_equal(own_spool_stats().oldest_unix_ns, 5 * SEC);
	push_spool_settle(own_spool, one, PUSH_SENT, NULL);
	assert_int_equal(own_spool_stats().oldest_unix_ns, 6 * SEC);
	push_spool_settle(own_spool, two, PUSH_AGAIN, NULL);
	own_spool_settle("two", 8 * SEC, PUSH_SENT);
	assert_int_equal(own_spool_stats().oldest_unix_ns, 7 * SEC);
	own_spool_settle("three", 8 * SEC, PUSH_SENT);
	assert_int_equal(own_spool_stats().oldest_unix_ns, 0);
}

static void what_is_too_old_goes(void **state)
{
	own_spool_add("one", 1, SEC);
	own_spool_add("two", 2, 30 * SEC);
	push_spool_expire(own_spool, 62 * SEC);
	assert_int_equal(own_spool_stats().dropped_old.samples, 1);
	own_spool_settle("two", 62 * SEC, PUSH_SENT);
	assert_int_equal(own_spool_stats().dropped_old.samples, 1);
	assert_int_equal(own_spool_count_files(".push", NULL), 0);
}

static void a_clock_that_was_set_back_drops_nothing(void **state)
{
	own_spool_add("one", 1, 1000 * SEC);
	own_spool_settle("one", SEC, PUSH_SENT);
}

static void what_is_refused_is_kept_with_its_reason(void **state)
{
	char path[256];
	size_t len;
	char *text;

	own_spool_add("one", 1, SEC);
	own_spool_settle("one", SEC, PUSH_REFUSED);
	assert_int_equal(own_spool_stats().refused.samples, 1);
	assert_int_equal(own_spool_count_files(".refused", NULL), 1);
	assert_int_equal(own_spool_count_files(".why", path), 1);
	text = files_read(path, &len);
	assert_memory_equal(text, "answers 400: bad\n", len);
	free(text);
}

static void the_newest_refused_are_kept(void **state)
{
	for (unsigned i = 0; i < SPOOL_FILES_REFUSED + 3; i++) {
		own_spool_add("x", 1, SEC);
		own_spool_settle("x", SEC, PUSH_REFUSED);
	}
	assert_int_equal(own_spool_count_files(".refused", NULL), SPOOL_FILES_REFUSED);
	assert_int_equal(own_spool_count_files(".why", NULL), SPOOL_FILES_REFUSED);
	own_spool_reopen();
	own_spool_add("x", 1, SEC);
	own_spool_settle("x", SEC, PUSH_REFUSED);
	assert_int_equal(own_spool_count_files(".refused", NULL), SPOOL_FILES_REFUSED);
	assert_int_equal(own_spool_stats().found.profiles, 0);
}

static void change_last_byte(const char *path)
{
	FILE *const file = fopen(path, "r+");

	assert_non_null(file);
	assert_int_equal(fseek(file, -1, SEEK_END), 0);
	putc('?', file);
	fclose(file);
}

static void a_damaged_file_is_counted_and_goes(void **state)
{
	char path[256];
	struct push_entry *entry;
	struct bytes body = {0};

	own_spool_add("one", 1, SEC);
	assert_int_equal(own_spool_count_files(".push", path), 1);
	files_append(path, "!");
	entry = push_spool_take(own_spool, SEC);
	assert_int_equal(push_spool_load(own_spool, entry, &body), -EBADMSG);
	assert_int_equal(own_spool_stats().damaged, 1);
	assert_int_equal(own_spool_stats().dropped_failed.samples, 1);
	own_spool_add("one", 1, SEC);
	assert_int_equal(own_spool_count_files(".push", path), 1);
	change_last_byte(path);
	entry = push_spool_take(own_spool, SEC);
	assert_int_equal(push_spool_load(own_spool, entry, &body), -EBADMSG);
	assert_int_equal(own_spool_stats().damaged, 2);
	bytes_fini(&body);
	own_spool_add("two", 2, SEC);
	assert_int_equal(own_spool_count_files(".push", path), 1);
	files_write(path, "fgpush1 1 2 99999999999 0\n");
	own_spool_reopen();
	assert_int_equal(own_spool_stats().damaged, 1); /* counted anew */
	assert_int_equal(own_spool_stats().found.profiles, 0);
	assert_int_equal(own_spool_count_files(".push", NULL), 0);
}

static void what_is_no_file_of_ours_is_not_read(void **state)
{
	char path[256], command[1024];

	own_spool_add("one", 1, SEC);
	own_spool_add("two", 2, SEC);
	own_spool_add("three", 4, SEC);
	assert_int_equal(own_spool_count_files("3.push", path), 1);
	snprintf(command, sizeof(command),
		 "cd $(dirname %s) && rm 0*1.push 0*2.push && "
		 "mkfifo -m 600 0000000000000001.push new && ln -s /etc/passwd "
		 "0000000000000002.push",
		 path);
	assert_int_equal(system(command), 0);
	own_spool_reopen();
	assert_int_equal(own_spool_stats().damaged, 2);
	assert_int_equal(own_spool_stats().found.samples, 4);
	assert_int_equal(own_spool_count_files(".push", NULL), 1);
	/* The pipe "new" has no reader. */
	own_spool_add("four", 8, SEC);
	assert_int_equal(own_spool_stats().memory_bytes, 0);
	own_spool_settle("three", SEC, PUSH_SENT);
	own_spool_settle("four", SEC, PUSH_SENT);
}

static void a_lock_that_is_no_file_is_refused(void **state)
{
	char command[256];
	int fd;

	snprintf(command, sizeof(command), "rm -f %s/lock && mkfifo %s/lock", own_dir, own_dir);
	assert_int_equal(system(command), 0);
	assert_int_equal(spool_files_lock(own_dir, &fd), -EPERM);
}

static void without_a_directory_memory_is_the_limit(void **state)
{
	char text[601];

	push_spool_close(own_spool);
	own_spool_open(NULL, 10000);
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	own_spool_add(text, 1, SEC);
	assert_int_equal(own_spool_stats().memory_bytes, 600);
	text[0] = 'y';
	own_spool_add(text, 2, SEC);
	assert_int_equal(own_spool_stats().dropped_full.samples, 1);
	own_spool_settle(text, SEC, PUSH_AGAIN);
	own_spool_settle(text, SEC, PUSH_SENT);
	assert_int_equal(own_spool_stats().memory_bytes, 0);
}

static void what_the_disk_does_not_take_waits_in_memory(void **state)
{
	char command[128];

	/* The directory is gone, as it is when a disk is. */
	snprintf(command, sizeof(command), "rm -r %s/*", own_dir);
	assert_int_equal(system(command), 0);
	own_spool_add("one", 1, SEC);
	assert_int_equal(own_spool_stats().memory_bytes, 3);
	own_spool_settle("one", SEC, PUSH_SENT);
}

static void a_directory_has_one_daemon(void **state)
{
	int fd, other;

	assert_int_equal(spool_files_lock(own_dir, &fd), 0);
	assert_int_equal(spool_files_lock(own_dir, &other), -EBUSY);
	close(fd);
	assert_int_equal(spool_files_lock(own_dir, &other), 0);
	close(other);
}

/* Adds for ever; tells each number that is there. */
static void write_for_ever(uint64_t first, int fd)
{
	for (uint64_t i = first;; i++) {
		char text[32];

		snprintf(text, sizeof(text), "%" PRIu64, i);
		own_spool_add(text, 1, SEC);
		if (write(fd, "x", 1) != 1)
			_exit(1);
	}
}

static uint64_t run_and_kill(uint64_t first, long us)
{
	const struct timespec wait = {.tv_nsec = us * 1000};
	char bytes[256];
	uint64_t told = 1;
	int fds[2];
	ssize_t n;
	pid_t child;

	assert_int_equal(pipe(fds), 0);
	child = fork();
	if (child == 0) {
		push_spool_close(own_spool);
		own_spool_open(own_dir, 1 << 20);
		write_for_ever(first, fds[1]);
	}
	close(fds[1]);
	assert_int_equal(read(fds[0], bytes, 1), 1);
	nanosleep(&wait, NULL);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	while ((n = read(fds[0], bytes, sizeof(bytes))) > 0)
		told += (uint64_t)n;
	close(fds[0]);
	return told;
}

static void a_killed_writer_costs_at_most_what_it_was_at(void **state)
{
	srandom((unsigned)time(NULL));
	for (int i = 0; i < KILLS; i++) {
		const uint64_t told = run_and_kill(0, random() % 10000);
		char text[32];
		uint64_t there;

		own_spool_reopen();
		there = own_spool_stats().found.profiles;
		assert_in_range(there, told, told + 1);
		assert_int_equal(own_spool_stats().damaged, 0);
		for (uint64_t n = 0; n < there; n++) {
			snprintf(text, sizeof(text), "%" PRIu64, n);
			own_spool_settle(text, SEC, PUSH_SENT);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define SPOOL(name) cmocka_unit_test_setup_teardown(name, own_spool_set_up, own_spool_tear_down)
		SPOOL(the_oldest_goes_first_and_once),
		SPOOL(what_is_to_go_again_stays_the_first),
		SPOOL(several_that_are_out_come_back_in_order),
		SPOOL(what_waits_is_found_by_the_next_one),
		SPOOL(what_was_being_sent_is_in_doubt_afterwards),
		SPOOL(the_oldest_make_room),
		SPOOL(what_is_being_sent_is_not_dropped_for_room),
		SPOOL(the_oldest_that_is_not_sent_is_known),
		SPOOL(what_is_too_old_goes),
		SPOOL(a_clock_that_was_set_back_drops_nothing),
		SPOOL(what_is_refused_is_kept_with_its_reason),
		SPOOL(the_newest_refused_are_kept),
		SPOOL(a_damaged_file_is_counted_and_goes),
		SPOOL(what_is_no_file_of_ours_is_not_read),
		SPOOL(a_lock_that_is_no_file_is_refused),
		SPOOL(without_a_directory_memory_is_the_limit),
		SPOOL(what_the_disk_does_not_take_waits_in_memory),
		SPOOL(a_directory_has_one_daemon),
		SPOOL(a_killed_writer_costs_at_most_what_it_was_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
