// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about push/push_spool.h on a disk that fails: the calls that change or read files of the
 * spool fail while the test says so.
 */
#include "own_spool.h"

#include "base/log.h"
#include "push/spool_files.h"
#include "push/spool_leftovers.h"

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
#include <unistd.h>

static int change_err;		 /* of calls that change a directory; 0: they work */
static int read_err;		 /* of opening to read */
static int pread_err;		 /* of reading what is open */
static const char *unread_begin; /* of the names that cannot be opened; NULL: none */
static const char *stuck_to;	 /* names up to this cannot be removed; NULL: none */

int __real_renameat(int old_dir, const char *old, int new_dir, const char *new);
int __wrap_renameat(int old_dir, const char *old, int new_dir, const char *new);
int __real_unlinkat(int dir, const char *name, int flags);
int __wrap_unlinkat(int dir, const char *name, int flags);
int __real_openat(int dir, const char *name, int flags, ...);
int __wrap_openat(int dir, const char *name, int flags, ...);
ssize_t __real_pread(int fd, void *to, size_t len, off_t at);
ssize_t __wrap_pread(int fd, void *to, size_t len, off_t at);

static bool fails(int err)
{
	errno = err ? err : errno;
	return err != 0;
}

int __wrap_renameat(int old_dir, const char *old, int new_dir, const char *new)
{
	return fails(change_err) ? -1 : __real_renameat(old_dir, old, new_dir, new);
}

int __wrap_unlinkat(int dir, const char *name, int flags)
{
	const bool is_stuck = stuck_to && strcmp(name, stuck_to) < 0;

	return fails(is_stuck ? EPERM : change_err) ? -1 : __real_unlinkat(dir, name, flags);
}

int __wrap_openat(int dir, const char *name, int flags, ...)
{
	const bool is_unread = unread_begin && strncmp(name, unread_begin, 16) == 0;
	mode_t mode = 0;
	va_list args;

	va_start(args, flags);
	if (flags & O_CREAT)
		mode = va_arg(args, mode_t);
	va_end(args);
	if (fails(flags & O_CREAT ? change_err : is_unread ? read_err : 0))
		return -1;
	return __real_openat(dir, name, flags, mode);
}

ssize_t __wrap_pread(int fd, void *to, size_t len, off_t at)
{
	return fails(pread_err) ? -1 : __real_pread(fd, to, len, at);
}

static int set_up(void **state)
{
	change_err = read_err = pread_err = 0;
	unread_begin = stuck_to = NULL;
	return own_spool_set_up(state);
}

static int tear_down(void **state)
{
	change_err = read_err = 0;
	return own_spool_tear_down(state);
}

static unsigned count_all(void)
{
	return own_spool_count_files(".push", NULL) + own_spool_count_files(".sending", NULL);
}

static void check_that_nothing_is_held_up(int err)
{
	own_spool_add("one", 1, SEC);
	own_spool_add("two", 2, SEC);
	change_err = err;
	own_spool_add("three", 4, SEC);
	own_spool_settle("one", SEC, PUSH_AGAIN);
	own_spool_settle("one", SEC, PUSH_SENT);
	own_spool_settle("two", SEC, PUSH_IN_DOUBT);
	own_spool_settle("three", SEC, PUSH_SENT);
	own_spool_settle(NULL, SEC, PUSH_SENT);
	assert_int_equal(own_spool_stats().sent.samples, 5);
	assert_int_equal(own_spool_stats().undeleted, 2);
	assert_int_equal(count_all(), 2);
	push_spool_retry(own_spool);
	assert_int_equal(own_spool_stats().undeleted, 2);
	own_spool_settle(NULL, SEC, PUSH_SENT);
	change_err = 0;
	push_spool_retry(own_spool);
	assert_int_equal(own_spool_stats().undeleted, 0);
	assert_int_equal(count_all(), 0);
}

static void a_disk_that_becomes_read_only_holds_up_nothing(void **state)
{
	check_that_nothing_is_held_up(EROFS);
}

static void a_directory_that_nobody_may_write_holds_up_nothing(void **state)
{
	check_that_nothing_is_held_up(EACCES);
}

static void what_was_sent_meanwhile_is_not_there_for_the_next_one(void **state)
{
	own_spool_add("one", 1, SEC);
	own_spool_add("two", 2, SEC);
	change_err = EROFS;
	own_spool_settle("one", SEC, PUSH_SENT);
	change_err = 0; /* at the end it is tried once more */
	own_spool_reopen();
	assert_int_equal(own_spool_stats().found.samples, 2);
	own_spool_settle("two", SEC, PUSH_SENT);
}

/* The file of one that was marked before is in doubt for the next daemon, and not sent. */
static void what_was_marked_before_stays_marked(void **state)
{
	struct push_entry *entry;

	own_spool_add("one", 1, SEC);
	entry = push_spool_take(own_spool, SEC);
	change_err = EROFS;
	push_spool_settle(own_spool, entry, PUSH_AGAIN, NULL);
	assert_int_equal(own_spool_count_files(".sending", NULL), 1);
	own_spool_settle("one", SEC, PUSH_AGAIN);
	change_err = 0;
	own_spool_settle("one", SEC, PUSH_AGAIN);
	assert_int_equal(own_spool_count_files(".push", NULL), 1);
	own_spool_settle("one", SEC, PUSH_SENT);
	assert_int_equal(count_all(), 0);
}

static void what_is_refused_or_too_old_is_removed_later(void **state)
{
	own_spool_add("one", 1, SEC);
	own_spool_add("two", 2, SEC);
	own_spool_add("three", 4, SEC);
	change_err = EROFS;
	own_spool_settle("one", SEC, PUSH_REFUSED);
	push_spool_expire(own_spool, 62 * SEC);
	assert_int_equal(own_spool_stats().refused.samples, 1);
	assert_int_equal(own_spool_stats().dropped_old.samples, 6);
	assert_int_equal(own_spool_stats().undeleted, 3);
	change_err = 0;
	push_spool_retry(own_spool);
	assert_int_equal(count_all(), 0);
}

static void what_cannot_be_removed_is_said_once(void **state)
{
	struct log_catch caught = {0};
	const char *said;

	log_set_level(LOG_LEVEL_ERROR);
	log_catch(&caught);
	for (int i = 0; i < 5; i++)
		own_spool_add("x", 1, SEC);
	change_err = EROFS;
	for (int i = 0; i < 5; i++) {
		own_spool_settle("x", SEC, PUSH_SENT);
		push_spool_retry(own_spool);
	}
	log_catch(NULL);
	said = strstr(caught.errors, "cannot be removed");
	assert_non_null(said);
	assert_null(strstr(said + 1, "cannot be removed"));
}

static void what_somebody_has_removed_is_not_left_over(void **state)
{
	struct bytes body = {0};
	struct push_entry *entry;
	char path[256];

	own_spool_add("one", 1, SEC);
	entry = push_spool_take(own_spool, SEC);
	assert_int_equal(push_spool_load(own_spool, entry, &body), 0);
	bytes_fini(&body);
	assert_int_equal(own_spool_count_files(".sending", path), 1);
	assert_int_equal(unlink(path), 0);
	push_spool_settle(own_spool, entry, PUSH_SENT, NULL);
	assert_int_equal(own_spool_stats().undeleted, 0);
}

/* What cannot be remembered is not sent, and what waits in memory goes on. */
static void what_is_remembered_has_a_limit(void **state)
{
	struct push_entry *entry;
	struct bytes body = {0};

	push_spool_close(own_spool);
	own_spool_open(own_dir, 1 << 20);
	for (unsigned i = 0; i < SPOOL_LEFTOVERS_MOST + 10; i++)
		own_spool_add("x", 1, SEC);
	own_spool_add("young", 1, 50 * SEC);
	change_err = EROFS;
	push_spool_expire(own_spool, 62 * SEC);
	assert_int_equal(own_spool_stats().undeleted, SPOOL_LEFTOVERS_MOST + 10);
	own_spool_add("newer", 1, 55 * SEC);
	entry = push_spool_take(own_spool, 62 * SEC);
	assert_int_equal(push_spool_load(own_spool, entry, &body), -ENOSPC);
	own_spool_settle("newer", 62 * SEC, PUSH_SENT);
	own_spool_settle(NULL, 62 * SEC, PUSH_SENT);
	assert_int_equal(own_spool_stats().waiting.samples, 1);
	change_err = 0;
	push_spool_retry(own_spool);
	assert_int_equal(own_spool_stats().undeleted, 10); /* of these only the number is known */
	own_spool_settle("young", 62 * SEC, PUSH_SENT);
}

/* A turn has its bound, and the next one goes on behind those that are stuck. */
static void what_is_stuck_keeps_nothing_else(void **state)
{
	const unsigned stuck = SPOOL_LEFTOVERS_FAILURES + 4;

	for (unsigned i = 0; i < stuck + 4; i++)
		own_spool_add("x", 1, SEC);
	stuck_to = "1";
	push_spool_expire(own_spool, 62 * SEC);
	assert_int_equal(own_spool_stats().undeleted, stuck + 4);
	stuck_to = "0000000000000021"; /* of which the oldest is tried first */
	push_spool_retry(own_spool);
	assert_int_equal(own_spool_stats().undeleted, stuck + 4);
	push_spool_retry(own_spool);
	assert_int_equal(own_spool_stats().undeleted, stuck);
	stuck_to = NULL;
	push_spool_retry(own_spool);
	assert_int_equal(own_spool_stats().undeleted, 0);
	assert_int_equal(count_all(), 0);
}

static void take_unread(int err)
{
	struct push_entry *const entry = push_spool_take(own_spool, 2 * SEC);
	struct bytes body = {0};

	assert_non_null(entry);
	assert_int_equal(push_spool_load(own_spool, entry, &body), err);
	bytes_fini(&body);
}

static void what_cannot_be_read_lets_newer_ones_go_on(void **state)
{
	own_spool_add("one", 1, SEC);
	own_spool_add("two", 2, SEC);
	own_spool_add("three", 4, 2 * SEC);
	own_spool_add("four", 8, 2 * SEC);
	unread_begin = "0000000000000002";
	read_err = EIO;
	own_spool_settle("one", SEC, PUSH_AGAIN);
	own_spool_settle("one", SEC, PUSH_SENT);
	take_unread(-EIO);
	own_spool_settle("three", SEC, PUSH_SENT);
	assert_int_equal(own_spool_stats().waiting.samples, 10);
	assert_int_equal(own_spool_stats().oldest_unix_ns, SEC);
	read_err = 0;
	push_spool_retry(own_spool);
	own_spool_settle("two", SEC, PUSH_SENT);
	own_spool_settle("four", SEC, PUSH_SENT);
	assert_int_equal(own_spool_stats().damaged, 0);
}

static void what_cannot_be_read_ages_and_makes_room(void **state)
{
	char text[6001];

	own_spool_add("one", 1, SEC);
	own_spool_add("two", 2, 2 * SEC);
	unread_begin = "0000000000000001";
	read_err = EIO;
	take_unread(-EIO);
	push_spool_expire(own_spool, 61 * SEC + 1);
	assert_int_equal(own_spool_stats().dropped_old.samples, 1);
	unread_begin = "0000000000000002";
	take_unread(-EIO);
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	own_spool_add(text, 4, SEC);
	own_spool_add(text, 8, SEC);
	assert_int_equal(own_spool_stats().dropped_full.samples, 6);
	own_spool_settle(text, SEC, PUSH_SENT);
	assert_int_equal(own_spool_stats().sent.samples, 8);
}

static void what_cannot_be_read_any_more_keeps_its_place(void **state)
{
	struct push_entry *first;
	struct bytes body = {0};

	own_spool_add("one", 1, SEC);
	own_spool_add("two", 2, 2 * SEC);
	own_spool_add("three", 4, 3 * SEC);
	first = push_spool_take(own_spool, SEC);
	read_err = EIO;
	unread_begin = "0000000000000002";
	take_unread(-EIO);
	unread_begin = "0000000000000001";
	assert_int_equal(push_spool_load(own_spool, first, &body), -EIO);
	push_spool_expire(own_spool, 61 * SEC + 1);
	assert_int_equal(own_spool_stats().dropped_old.samples, 1);
	read_err = 0;
	push_spool_retry(own_spool);
	own_spool_settle("two", SEC, PUSH_SENT);
	own_spool_settle("three", SEC, PUSH_SENT);
}

/* A disk without room: files that wait are no reason to drop, and none is dropped for memory. */
static void memory_makes_room_of_memory_alone(void **state)
{
	char first[401], second[401], third[401];

	memset(first, 'a', sizeof(first));
	memset(second, 'b', sizeof(second));
	memset(third, 'c', sizeof(third));
	first[400] = second[400] = third[400] = '\0';
	own_spool_add("in a file", 1, SEC);
	change_err = ENOSPC;
	own_spool_add(first, 2, SEC);
	own_spool_add(second, 4, SEC);
	assert_int_equal(own_spool_stats().memory_bytes, 800);
	own_spool_add(third, 8, SEC);
	assert_int_equal(own_spool_stats().memory_bytes, 800);
	assert_int_equal(own_spool_stats().dropped_full.samples, 2);
	change_err = 0;
	own_spool_add("in a file too", 16, SEC);
	own_spool_settle("in a file", SEC, PUSH_SENT);
	own_spool_settle(second, SEC, PUSH_SENT);
	own_spool_settle(third, SEC, PUSH_SENT);
	own_spool_settle("in a file too", SEC, PUSH_SENT);
	assert_int_equal(own_spool_stats().memory_bytes, 0);
}

static void without_descriptors_the_oldest_stays_the_first(void **state)
{
	own_spool_add("one", 1, SEC);
	own_spool_add("two", 2, SEC);
	unread_begin = "0000000000000001";
	read_err = EMFILE;
	take_unread(-EAGAIN);
	take_unread(-EAGAIN);
	read_err = 0;
	own_spool_settle("one", SEC, PUSH_SENT);
	own_spool_settle("two", SEC, PUSH_SENT);
	assert_int_equal(own_spool_stats().failed_tries, 2);
}

/* A disk may let files be opened, and fail at their bytes. */
static void what_opens_and_cannot_be_read_is_not_damaged(void **state)
{
	own_spool_add("one", 1, SEC);
	pread_err = EIO;
	own_spool_reopen();
	assert_int_equal(own_spool_count_files(".push", NULL), 1);
	pread_err = 0;
	own_spool_reopen();
	pread_err = EIO;
	take_unread(-EIO);
	pread_err = 0;
	push_spool_retry(own_spool);
	own_spool_settle("one", SEC, PUSH_SENT);
	assert_int_equal(own_spool_stats().damaged, 0);
}

static void what_cannot_be_read_at_the_start_stays(void **state)
{
	own_spool_add("one", 1, SEC);
	own_spool_add("two", 2, SEC);
	unread_begin = "0000000000000001";
	read_err = EIO;
	own_spool_reopen();
	assert_int_equal(own_spool_stats().found.samples, 2);
	assert_int_equal(own_spool_stats().damaged, 1);
	own_spool_add("three", 4, SEC);
	own_spool_settle("two", SEC, PUSH_SENT);
	own_spool_settle("three", SEC, PUSH_SENT);
	assert_int_equal(own_spool_count_files(".push", NULL), 1);
	read_err = 0;
	own_spool_reopen();
	assert_int_equal(own_spool_stats().found.samples, 1);
	own_spool_settle("one", SEC, PUSH_SENT);
}

static void give_away(const char *path)
{
	assert_int_equal(chown(path, 65534, 65534), 0);
}

static void a_file_of_another_user_is_not_sent(void **state)
{
	char path[256];

	if (geteuid() != 0) {
		print_message("not root: cannot give a file away\n");
		skip();
	}
	own_spool_add("one", 1, SEC);
	assert_int_equal(own_spool_count_files(".push", path), 1);
	give_away(path);
	take_unread(-EBADMSG);
	own_spool_add("two", 2, SEC);
	assert_int_equal(own_spool_count_files(".push", path), 1);
	give_away(path);
	own_spool_reopen();
	assert_int_equal(own_spool_stats().found.samples, 0);
	assert_int_equal(own_spool_stats().damaged, 1);
	assert_int_equal(count_all(), 0);
}

static void a_lock_of_another_user_is_refused(void **state)
{
	char path[TEMP_DIR_BYTES + 16];
	int fd;

	if (geteuid() != 0) {
		print_message("not root: cannot give a file away\n");
		skip();
	}
	assert_int_equal(spool_files_lock(own_dir, &fd), 0);
	close(fd);
	snprintf(path, sizeof(path), "%s/lock", own_dir);
	give_away(path);
	assert_int_equal(spool_files_lock(own_dir, &fd), -EPERM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define FAULT(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		FAULT(a_disk_that_becomes_read_only_holds_up_nothing),
		FAULT(a_directory_that_nobody_may_write_holds_up_nothing),
		FAULT(what_was_sent_meanwhile_is_not_there_for_the_next_one),
		FAULT(what_was_marked_before_stays_marked),
		FAULT(what_is_refused_or_too_old_is_removed_later),
		FAULT(what_cannot_be_removed_is_said_once),
		FAULT(what_somebody_has_removed_is_not_left_over),
		FAULT(what_is_remembered_has_a_limit),
		FAULT(what_is_stuck_keeps_nothing_else),
		FAULT(what_cannot_be_read_lets_newer_ones_go_on),
		FAULT(what_cannot_be_read_any_more_keeps_its_place),
		FAULT(what_cannot_be_read_ages_and_makes_room),
		FAULT(memory_makes_room_of_memory_alone),
		FAULT(without_descriptors_the_oldest_stays_the_first),
		FAULT(what_opens_and_cannot_be_read_is_not_damaged),
		FAULT(what_cannot_be_read_at_the_start_stays),
		FAULT(a_file_of_another_user_is_not_sent),
		FAULT(a_lock_of_another_user_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
