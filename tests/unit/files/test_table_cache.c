// SPDX-License-Identifier: Apache-2.0
/*
 * The cache with a loader: nobody waits for a file, files are held, bounds hold. How files are
 * found and that tables are shared is module_cache's and cfi_cache's test.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "common/child.h"
#include "common/files.h"
#include "files/cfi_cache.h"
#include "mapped_file.h"
#include "slow_kind.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define PLENTY	  (64u << 20)
#define MAX_FILES 64

struct file {
	char path[32];
	struct mapping mapping;
};

static struct table_cache *cache;
static struct file files[MAX_FILES];
static size_t n_files;

static void open_cache(size_t max_bytes)
{
	assert_int_equal(table_cache_new(max_bytes, true, &cache), 0);
	table_cache_set_kind(cache, TABLE_UNWIND, &slow_kind);
	table_cache_set_kind(cache, TABLE_SYMBOLS, &slow_kind_too);
}

static int tear_down(void **state)
{
	slow_kind_open();
	table_cache_free(cache);
	cache = NULL;
	while (n_files > 0)
		unlink(files[--n_files].path);
	return slow_kind_alive();
}

/* A file, and a mapping of it at a place of its own, which map_files does not know. */
static const struct mapping *new_file(const char *text)
{
	struct file *file = &files[n_files++];
	int fd;

	strcpy(file->path, "/tmp/fg-table-XXXXXX");
	fd = mkstemp(file->path);
	assert_true(fd >= 0);
	close(fd);
	files_write(file->path, text);
	file->mapping = mapping_made_up(file->path, 0x600000000000 + n_files * 0x10000);
	return &file->mapping;
}

static const char *find(enum table_of of, const struct mapping *mapping, const char **ret_reason)
{
	const struct slow_table *table = table_cache_find(cache, of, getpid(), mapping, ret_reason);

	return table ? table->text : NULL;
}

static void assert_reason(const struct mapping *mapping, const char *expected)
{
	const char *reason = NULL;

	assert_null(find(TABLE_UNWIND, mapping, &reason));
	assert_non_null(reason);
	assert_string_equal(reason, expected);
}

static void wait_loaded(void)
{
	struct pollfd polled = {.fd = table_cache_fd(cache), .events = POLLIN};

	assert_int_equal(poll(&polled, 1, 20000), 1);
	assert_true(table_cache_step(cache));
}

static void assert_found(enum table_of of, const struct mapping *mapping, const char *text)
{
	const char *reason = NULL, *found;

	for (int i = 0; i < 10 && !(found = find(of, mapping, &reason)); i++)
		wait_loaded();
	assert_non_null(found);
	assert_string_equal(found, text);
}

static struct table_stats stats_of(enum table_of of)
{
	struct table_stats stats;

	table_cache_table_stats(cache, of, &stats);
	return stats;
}

static struct table_cache_stats cache_stats(void)
{
	struct table_cache_stats stats;

	table_cache_stats(cache, &stats);
	return stats;
}

static void who_asks_does_not_wait_for_a_slow_file(void **state)
{
	const struct mapping *mapping = new_file("slow");

	slow_kind_close();
	open_cache(PLENTY);
	for (int i = 0; i < 100; i++)
		assert_reason(mapping, "still loading");
	assert_int_equal(table_cache_missing(cache), 100);
	assert_true(table_cache_answer_passes(cache));
	slow_kind_wait_begun(1);
	assert_true(table_cache_gets_on(cache));
	assert_int_equal(stats_of(TABLE_UNWIND).loading, 1);
	assert_int_equal(stats_of(TABLE_UNWIND).put_off, 0);
	slow_kind_open();
	assert_found(TABLE_UNWIND, mapping, "slow");
	assert_false(table_cache_answer_passes(cache));
	assert_int_equal(stats_of(TABLE_UNWIND).loads, 1); /* however often it was asked for */
	assert_int_equal(stats_of(TABLE_UNWIND).loading, 0);
}

static void who_has_no_patience_is_put_off_and_that_is_counted(void **state)
{
	const struct mapping *mapping = new_file("slow");

	slow_kind_close();
	open_cache(PLENTY);
	table_cache_be_patient(cache, false);
	assert_reason(mapping, "still loading");
	assert_reason(mapping, "still loading");
	assert_int_equal(table_cache_missing(cache), 0);
	assert_int_equal(stats_of(TABLE_UNWIND).put_off, 2);
	assert_int_equal(table_cache_put_off(cache), 2);
	slow_kind_open();
	assert_found(TABLE_UNWIND, mapping, "slow"); /* it was begun all the same */
}

static void what_is_asked_for_overtakes_what_is_expected(void **state)
{
	const struct mapping *first = new_file("first"), *second = new_file("second");

	slow_kind_close();
	open_cache(PLENTY);
	table_cache_expect(cache, getpid(), first); /* two tables, of which one has begun */
	table_cache_expect(cache, getpid(), second);
	slow_kind_wait_begun(1);
	assert_reason(second, "still loading");
	slow_kind_let_one();
	slow_kind_let_one();
	wait_loaded();
	while (table_cache_loads(cache) < 2)
		wait_loaded();
	assert_found(TABLE_UNWIND, second, "second");
	assert_int_equal(table_cache_loads(cache), 2);
}

static void a_file_without_a_table_is_not_read_again(void **state)
{
	const struct mapping *empty = new_file(""), *large = new_file("large");

	open_cache(PLENTY);
	assert_reason(empty, "still loading");
	assert_reason(large, "still loading");
	while (table_cache_loads(cache) < 2)
		wait_loaded();
	for (int i = 0; i < 10; i++) {
		assert_reason(empty, "nothing in it");
		assert_false(table_cache_answer_passes(cache));
		assert_reason(large, "too large");
	}
	assert_int_equal(stats_of(TABLE_UNWIND).loads, 2);
	assert_int_equal(stats_of(TABLE_UNWIND).failed, 2);
}

static void both_kinds_share_one_bound(void **state)
{
	const struct mapping *a = new_file("a"), *b = new_file("b");

	open_cache(2 * SLOW_KIND_BYTES);
	assert_found(TABLE_UNWIND, a, "a");
	assert_found(TABLE_SYMBOLS, a, "a");
	assert_found(TABLE_UNWIND, a, "a"); /* the later used */
	assert_found(TABLE_UNWIND, b, "b");
	assert_int_equal(stats_of(TABLE_SYMBOLS).evicted, 1);
	assert_int_equal(stats_of(TABLE_UNWIND).evicted, 0);
	assert_int_equal(stats_of(TABLE_UNWIND).bytes, 2 * SLOW_KIND_BYTES);
	assert_int_equal(slow_kind_alive(), 2);
}

/*
 * What is borrowed stays until the caller says that it uses nothing: loads that end do not evict.
 */
static void nothing_is_evicted_while_it_is_used(void **state)
{
	const struct mapping *a = new_file("a"), *b = new_file("b");
	const char *reason, *text;

	open_cache(1);
	assert_found(TABLE_UNWIND, a, "a");
	text = find(TABLE_UNWIND, a, &reason);
	assert_reason(b, "still loading");
	while (slow_kind_alive() < 2)
		poll(NULL, 0, 1);
	assert_string_equal(text, "a");
	assert_ptr_equal(find(TABLE_UNWIND, a, &reason), text);
	wait_loaded();
	assert_int_equal(slow_kind_alive(), 1);
	assert_int_equal(stats_of(TABLE_UNWIND).evicted, 1);
}

/* Two files that do not fit together, as by turns on one stack. */
static void what_was_evicted_is_not_loaded_again_at_once(void **state)
{
	const struct mapping *a = new_file("a"), *b = new_file("b");

	open_cache(1);
	assert_found(TABLE_UNWIND, a, "a");
	assert_found(TABLE_UNWIND, b, "b");
	for (int i = 0; i < 100; i++)
		assert_reason(a, "put off");
	assert_int_equal(stats_of(TABLE_UNWIND).loads, 2);
	assert_int_equal(stats_of(TABLE_UNWIND).put_off, 100);
	poll(NULL, 0, 1100);
	assert_found(TABLE_UNWIND, a, "a");
}

static void loads_are_begun_no_more_often_than_is_allowed(void **state)
{
	const struct mapping *a = new_file("a"), *b = new_file("b"), *c = new_file("c");

	open_cache(PLENTY);
	table_cache_allow(cache, 2);
	assert_reason(a, "still loading");
	assert_reason(b, "still loading");
	assert_reason(c, "put off");
	table_cache_allow(cache, 1);
	assert_reason(c, "still loading");
}

/* Who has the most that waits makes room for others, and asks again. */
static void who_asks_for_many_tables_keeps_nobody_from_theirs(void **state)
{
	const struct mapping *const own[] = {new_file("a"), new_file("b"), new_file("c"),
					     new_file("d")};
	const struct mapping *const other = new_file("e");
	const char *reason = NULL;

	slow_kind_close();
	open_cache(PLENTY);
	table_cache_set_max_jobs(cache, 3);
	assert_reason(own[0], "still loading");
	slow_kind_wait_begun(1);
	assert_reason(own[1], "still loading");
	assert_reason(own[2], "still loading");
	assert_reason(own[3], "put off");
	assert_null(table_cache_find(cache, TABLE_UNWIND, getppid(), other, &reason));
	assert_string_equal(reason, "still loading");
	assert_int_equal(stats_of(TABLE_UNWIND).put_off, 2);
	assert_int_equal(stats_of(TABLE_UNWIND).loading, 3);
	assert_reason(own[1], "still loading");
	assert_reason(own[2], "put off");
	slow_kind_open();
	for (int i = 0; i < 4; i++)
		assert_found(TABLE_UNWIND, own[i], (const char[]){(char)('a' + i), '\0'});
	assert_int_equal(stats_of(TABLE_UNWIND).loading, 0);
}

/* ---- files are held ---- */

static void a_file_that_was_seen_outlives_its_name_and_its_process(void **state)
{
	const struct mapping *mapping = new_file("held"), *unseen = new_file("not held");
	const pid_t child = child_start();
	const char *reason = NULL;

	open_cache(PLENTY);
	table_cache_see(cache, child, mapping);
	assert_int_equal(cache_stats().descriptors, 1);
	unlink(mapping->path);
	child_end(child);
	assert_null(table_cache_find(cache, TABLE_UNWIND, child, mapping, &reason));
	assert_string_equal(reason, "still loading");
	wait_loaded();
	assert_non_null(table_cache_find(cache, TABLE_UNWIND, child, mapping, &reason));
	assert_null(table_cache_find(cache, TABLE_UNWIND, child, unseen, &reason));
	assert_string_equal(reason, "file is gone");
	table_cache_forget(cache, child);
	assert_int_equal(cache_stats().descriptors, 0);
}

static void a_process_forgotten_while_its_file_is_loaded_does_no_harm(void **state)
{
	const struct mapping *mapping = new_file("slow");

	slow_kind_close();
	open_cache(PLENTY);
	assert_reason(mapping, "still loading");
	slow_kind_wait_begun(1);
	table_cache_forget(cache, getpid());
	assert_int_equal(cache_stats().descriptors, 0);
	slow_kind_open();
	wait_loaded();
	assert_found(TABLE_UNWIND, mapping, "slow");
	assert_int_equal(stats_of(TABLE_UNWIND).loads, 1);
}

static void the_same_file_of_another_process_takes_no_load_and_no_descriptor(void **state)
{
	const struct mapping *mapping = new_file("shared");
	const pid_t child = child_start();
	const char *reason;

	open_cache(PLENTY);
	assert_found(TABLE_UNWIND, mapping, "shared");
	table_cache_expect(cache, child, mapping);
	assert_non_null(table_cache_find(cache, TABLE_UNWIND, child, mapping, &reason));
	assert_int_equal(stats_of(TABLE_UNWIND).loads, 1);
	assert_int_equal(cache_stats().opened, 1);
	assert_int_equal(cache_stats().descriptors, 1);
	child_end(child);
}

static void no_more_descriptors_are_held_than_there_may_be(void **state)
{
	struct rlimit before, few;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = (struct rlimit){.rlim_cur = 80, .rlim_max = before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	open_cache(PLENTY);
	assert_int_equal(cache_stats().max_descriptors, 20);
	for (int i = 0; i < 30; i++)
		table_cache_see(cache, getpid(), new_file("a file"));
	assert_int_equal(cache_stats().descriptors, 20);
	assert_int_equal(cache_stats().descriptors_closed, 10);
	assert_found(TABLE_UNWIND, &files[0].mapping, "a file"); /* found anew: it is still there */
	assert_int_equal(cache_stats().descriptors, 20);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

/* ---- files that change ---- */

static atomic_bool is_over;

struct change {
	int fd;
	off_t whole;
};

/* By turns as long as it was, cut at ever other places, and longer. */
static void *change_file(void *arg)
{
	const struct change *change = arg;
	unsigned round = 0;

	while (!atomic_load(&is_over)) {
		const off_t cut = (off_t)(round++ * 7919u) % change->whole;

		if (ftruncate(change->fd, cut) < 0 ||
		    ftruncate(change->fd, 2 * change->whole) < 0 ||
		    pwrite(change->fd,
			   "\x7f"
			   "ELF",
			   4, 0) != 4)
			break;
	}
	return NULL;
}

static void a_file_that_changes_while_it_is_read_costs_its_rules_at_most(void **state)
{
	const struct mapping *mapping = new_file("x");
	struct change change = {.fd = open(mapping->path, O_RDWR | O_CLOEXEC)};
	const int from = open(FG_UNWIND_FIXTURE, O_RDONLY | O_CLOEXEC);
	const char *reason;
	char buf[65536];
	pthread_t thread;
	ssize_t len;

	assert_true(from >= 0 && change.fd >= 0);
	open_cache(PLENTY);
	cfi_cache_attach(cache);
	while ((len = read(from, buf, sizeof(buf))) > 0)
		change.whole += pwrite(change.fd, buf, (size_t)len, change.whole);
	atomic_store(&is_over, false);
	assert_int_equal(pthread_create(&thread, NULL, change_file, &change), 0);
	for (int i = 0; i < 200; i++) {
		if (!cfi_cache_find(cache, getpid(), mapping, &reason) &&
		    strcmp(reason, "still loading") == 0)
			wait_loaded();
		table_cache_forget(cache, getpid());
		assert_int_equal(pwrite(change.fd, "\x7f", 1, 0), 1);
	}
	atomic_store(&is_over, true);
	pthread_join(thread, NULL);
	assert_true(stats_of(TABLE_UNWIND).loads > 10);
	close(from);
	close(change.fd);
}

/* A file system of the target's own may choose its numbers. */
static void files_whose_numbers_hash_alike_are_told_apart(void **state)
{
	const struct stat st = {.st_dev = 3, .st_ino = 7};
	const uint64_t mix = UINT64_C(0x9e3779b97f4a7c15);
	const struct stat alike = {.st_dev = 5, .st_ino = 7 ^ 3 * mix ^ 5 * mix};
	const struct file_scope scope = {.mounts = 1};
	const struct mapping mapping = {.path = ""};
	struct table_store store = {.max_fds = 4};
	struct module *module, *other;

	module = table_store_add(&store, open("/", O_PATH), &st, &mapping, &scope);
	other = table_store_add(&store, open("/", O_PATH), &alike, &mapping, &scope);
	assert_ptr_not_equal(module, other);
	assert_ptr_equal(table_store_add(&store, open("/", O_PATH), &st, &mapping, &scope), module);
	assert_int_equal(module->st.st_dev, 3);
	assert_int_equal(other->st.st_dev, 5);
	assert_int_equal(store.fds, 2);
	table_store_fini(&store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_whose_numbers_hash_alike_are_told_apart),
		cmocka_unit_test_teardown(who_asks_does_not_wait_for_a_slow_file, tear_down),
		cmocka_unit_test_teardown(who_has_no_patience_is_put_off_and_that_is_counted,
					  tear_down),
		cmocka_unit_test_teardown(what_is_asked_for_overtakes_what_is_expected, tear_down),
		cmocka_unit_test_teardown(a_file_without_a_table_is_not_read_again, tear_down),
		cmocka_unit_test_teardown(both_kinds_share_one_bound, tear_down),
		cmocka_unit_test_teardown(nothing_is_evicted_while_it_is_used, tear_down),
		cmocka_unit_test_teardown(what_was_evicted_is_not_loaded_again_at_once, tear_down),
		cmocka_unit_test_teardown(who_asks_for_many_tables_keeps_nobody_from_theirs,
					  tear_down),
		cmocka_unit_test_teardown(loads_are_begun_no_more_often_than_is_allowed, tear_down),
		cmocka_unit_test_teardown(a_file_that_was_seen_outlives_its_name_and_its_process,
					  tear_down),
		cmocka_unit_test_teardown(a_process_forgotten_while_its_file_is_loaded_does_no_harm,
					  tear_down),
		cmocka_unit_test_teardown(
			the_same_file_of_another_process_takes_no_load_and_no_descriptor,
			tear_down),
		cmocka_unit_test_teardown(no_more_descriptors_are_held_than_there_may_be,
					  tear_down),
		cmocka_unit_test_teardown(
			a_file_that_changes_while_it_is_read_costs_its_rules_at_most, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
