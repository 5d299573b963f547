// SPDX-License-Identifier: Apache-2.0
/* The loader's thread: in which order it works, and that it can be left. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "common/files.h"
#include "slow_kind.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

static struct table_loader *loader;

static int start(void **state)
{
	slow_kind_close();
	return table_loader_start(&loader);
}

static int stop(void **state)
{
	slow_kind_open();
	table_loader_stop(loader);
	loader = NULL;
	return slow_kind_alive();
}

static struct table_job *new_job_of(const char *text, uint64_t file_bytes)
{
	const int fd = files_open_memory(text, strlen(text));
	struct table_job *job;

	job = table_job_new(&slow_kind, fd, file_bytes);
	assert_non_null(job);
	return job;
}

static struct table_job *new_job(const char *text)
{
	return new_job_of(text, strlen(text));
}

static bool is_readable(int timeout_ms)
{
	struct pollfd polled = {.fd = table_loader_fd(loader), .events = POLLIN};

	return poll(&polled, 1, timeout_ms) == 1;
}

/* The next job that is done is that one. */
static void assert_done(const char *text)
{
	struct table_job *job;

	assert_true(is_readable(20000));
	job = table_loader_take(loader);
	assert_non_null(job);
	assert_int_equal(job->err, 0);
	assert_string_equal(((struct slow_table *)job->content)->text, text);
	table_job_free(job);
}

static void jobs_are_done_in_the_order_in_which_they_came(void **state)
{
	static const char *const texts[] = {"a", "b", "c", "d", "e"};

	for (int i = 0; i < 5; i++)
		table_loader_add(loader, new_job(texts[i]), true);
	slow_kind_open();
	for (int i = 0; i < 5; i++)
		assert_done(texts[i]);
	assert_null(table_loader_take(loader));
}

static void the_smallest_file_comes_first(void **state)
{
	table_loader_add(loader, new_job("begun"), true);
	slow_kind_wait_begun(1);
	table_loader_add(loader, new_job_of("c", 30 << 20), true);
	table_loader_add(loader, new_job_of("a", 10), true);
	table_loader_add(loader, new_job_of("b", 1 << 20), true);
	slow_kind_open();
	assert_done("begun");
	assert_done("a");
	assert_done("b");
	assert_done("c");
}

static void what_is_waited_for_comes_first(void **state)
{
	table_loader_add(loader, new_job("begun"), false);
	slow_kind_wait_begun(1);
	table_loader_add(loader, new_job("like"), false);
	table_loader_add(loader, new_job("urgent"), true);
	slow_kind_open();
	assert_done("begun");
	assert_done("urgent");
	assert_done("like");
}

static void a_job_that_is_hurried_overtakes(void **state)
{
	struct table_job *third = new_job("3rd");

	table_loader_add(loader, new_job("begun"), false);
	slow_kind_wait_begun(1);
	table_loader_add(loader, new_job("2nd"), false);
	table_loader_add(loader, third, false);
	table_loader_hurry(loader, third, third->owner);
	table_loader_hurry(loader, third, third->owner); /* once more changes nothing */
	table_loader_add(loader, new_job("4th"), false);
	slow_kind_open();
	assert_done("begun");
	assert_done("3rd");
	assert_done("2nd");
	assert_done("4th");
}

static void a_large_file_keeps_no_small_one_waiting(void **state)
{
	table_loader_add(loader, new_job_of("large", TABLE_LOADER_LARGE_BYTES), true);
	table_loader_add(loader, new_job("small"), true);
	slow_kind_wait_begun(2); /* both at once */
	table_loader_add(loader, new_job_of("another", TABLE_LOADER_LARGE_BYTES), true);
	table_loader_add(loader, new_job("second"), true);
	slow_kind_let_one();
	slow_kind_wait_begun(3);
	slow_kind_open();
	for (int i = 0; i < 4; i++) {
		assert_true(is_readable(20000));
		table_job_free(table_loader_take(loader));
	}
}

static void it_says_when_something_is_done_and_only_then(void **state)
{
	assert_false(is_readable(0));
	table_loader_add(loader, new_job("a"), true);
	table_loader_add(loader, new_job("b"), true);
	slow_kind_wait_begun(1);
	assert_false(is_readable(20));
	assert_null(table_loader_take(loader));
	slow_kind_open();
	assert_done("a");
	assert_done("b");
	assert_false(is_readable(0));
}

static void a_file_without_a_table_comes_back_with_the_reason(void **state)
{
	struct table_job *job;

	slow_kind_open();
	table_loader_add(loader, new_job(""), true);
	assert_true(is_readable(20000));
	job = table_loader_take(loader);
	assert_int_equal(job->err, -ENOENT);
	assert_null(job->content);
	table_job_free(job);
}

static void nothing_is_left_of_what_was_not_taken_when_it_stops(void **state)
{
	table_loader_add(loader, new_job("begun"), true);
	slow_kind_wait_begun(1);
	for (int i = 0; i < 100; i++)
		table_loader_add(loader, new_job("more"), i % 2);
	slow_kind_open();
	table_loader_stop(loader);
	loader = NULL;
	assert_int_equal(slow_kind_alive(), 0);
}

/*
 * As of a file system that does not answer: who stops must not wait for ever, nor free too early.
 */
static void a_load_that_hangs_is_left_behind(void **state)
{
	table_loader_add(loader, new_job("hangs"), true);
	slow_kind_wait_begun(1);
	table_loader_stop(loader);
	loader = NULL;
	slow_kind_open();
	for (int i = 0; i < 1000 && (i < 10 || slow_kind_alive() > 0); i++)
		poll(NULL, 0, 10); /* its thread cleans up on its own */
	assert_int_equal(slow_kind_alive(), 0);
}

static struct table_job *add_of(const struct table_kind *kind, uint64_t owner)
{
	struct table_job *job = table_job_new(kind, files_open_memory("x", 1), 1);

	assert_non_null(job);
	job->owner = (struct owner){.user = owner};
	table_loader_add(loader, job, true);
	return job;
}

/* Waits until that many jobs of slow_kind have threads that are found to be stuck. */
static void wait_stuck(size_t count)
{
	for (uint64_t s = 1; s < 1000 && table_loader_stuck(loader, NULL) < count; s++) {
		table_loader_tend(loader, clock_now_ns() + s * TABLE_LOADER_PATIENCE_NS);
		poll(NULL, 0, 1);
	}
	assert_int_equal(table_loader_stuck(loader, NULL), count);
	assert_int_equal(table_loader_stuck(loader, &slow_kind), count);
	assert_int_equal(table_loader_stuck(loader, &slow_kind_too), 0);
}

static void take_all(int count)
{
	struct table_job *job;

	while (count > 0) {
		assert_true(is_readable(20000));
		while ((job = table_loader_take(loader))) {
			assert_int_equal(job->err, 0);
			table_job_free(job);
			count--;
		}
	}
	assert_int_equal(count, 0);
}

static void a_thread_that_is_stuck_has_a_replacement(void **state)
{
	add_of(&slow_kind, 1);
	slow_kind_wait_begun(1);
	assert_true(table_loader_gets_on(loader));
	wait_stuck(1);
	assert_false(table_loader_gets_on(loader));
	add_of(&slow_kind, 2);
	slow_kind_wait_begun(2);
	assert_true(table_loader_gets_on(loader));
	slow_kind_open();
	take_all(2);
	assert_int_equal(table_loader_stuck(loader, NULL), 0);
	add_of(&slow_kind, 1);
	take_all(1);
}

static void add_stuck_ones(uint64_t owner)
{
	for (int i = 1; i <= TABLE_LOADER_OWNER_STUCK; i++) {
		add_of(&slow_kind, owner);
		slow_kind_wait_begun(i);
		wait_stuck((size_t)i);
	}
}

static void an_owner_with_threads_that_are_stuck_has_to_wait(void **state)
{
	struct table_job *held;

	add_stuck_ones(1);
	held = add_of(&slow_kind_too, 1);
	add_of(&slow_kind, 2);
	slow_kind_wait_begun(TABLE_LOADER_OWNER_STUCK + 1);
	wait_stuck(TABLE_LOADER_OWNER_STUCK + 1);
	table_loader_hurry(loader, held,
			   (struct owner){.user = 2}); /* somebody else needs the file, too */
	slow_kind_wait_begun(TABLE_LOADER_OWNER_STUCK + 2);
	slow_kind_open();
	take_all(TABLE_LOADER_OWNER_STUCK + 2);
}

typedef void (*ask_fn)(struct table_loader *loader, struct table_job *job, struct owner owner);

/* The job of an owner who has to wait is done for somebody else, whoever asks last. */
static void assert_others_have_it_read(ask_fn ask)
{
	struct table_job *job;

	add_stuck_ones(1);
	job = add_of(&slow_kind_too, 1);
	add_of(&slow_kind, 3); /* no thread is free while the owners ask */
	slow_kind_wait_begun(TABLE_LOADER_OWNER_STUCK + 1);
	ask(loader, job, (struct owner){.user = 2});
	ask(loader, job, (struct owner){.user = 1});
	wait_stuck(TABLE_LOADER_OWNER_STUCK + 1);
	slow_kind_wait_begun(TABLE_LOADER_OWNER_STUCK + 2);
	slow_kind_open();
	take_all(TABLE_LOADER_OWNER_STUCK + 2);
}

static void of_all_who_wait_for_a_file_who_has_nothing_stuck_has_it_read(void **state)
{
	assert_others_have_it_read(table_loader_hurry);
}

static void of_all_who_need_a_file_who_has_nothing_stuck_has_it_read(void **state)
{
	assert_others_have_it_read(table_loader_share);
}

static void add_on(const struct table_kind *kind, uint64_t device, uint64_t file_bytes,
		   uint64_t user)
{
	struct table_job *job = table_job_new(kind, files_open_memory("x", 1), file_bytes);

	assert_non_null(job);
	job->device = device;
	job->owner.user = user;
	table_loader_add(loader, job, true);
}

/* Nobody begins after the second until that is found stuck, too. */
static struct table_job *add_sized(const char *text, uint64_t owner, uint64_t file_bytes)
{
	struct table_job *const job = new_job_of(text, file_bytes);

	job->owner = (struct owner){.user = owner};
	job->group = owner;
	table_loader_add(loader, job, true);
	return job;
}

/* However small its files are. */
static void whose_files_have_taken_long_comes_last(void **state)
{
	const struct owner slow = {.user = 7};

	add_sized("begun", 9, 1);
	slow_kind_wait_begun(1);
	table_loader_spend(loader, slow, 5 * CLOCK_NS_PER_SEC);
	add_sized("slow", 7, 1);
	add_sized("other", 8, 1 << 20);
	slow_kind_open();
	assert_done("begun");
	assert_done("other");
	assert_done("slow");
}

static void who_makes_room_loses_the_youngest_that_has_no_thread(void **state)
{
	struct table_job *dropped;

	add_sized("begun", 9, 1);
	slow_kind_wait_begun(1);
	add_sized("first", 1, 1);
	add_sized("second", 1, 1);
	add_sized("other", 2, 1);
	dropped = table_loader_drop(loader, 1);
	assert_non_null(dropped);
	assert_null(table_loader_drop(loader, 3));
	table_job_free(dropped);
	slow_kind_open();
	assert_done("begun");
	assert_done("first");
	assert_done("other");
	assert_null(table_loader_drop(loader, 1));
}

static void a_device_that_does_not_answer_comes_last(void **state)
{
	add_on(&slow_kind, 1, 1, 1);
	slow_kind_wait_begun(1);
	add_on(&slow_kind, 1, 1, 2);
	add_on(&slow_kind_too, 2, 1000, 3);
	wait_stuck(1);
	slow_kind_wait_begun(2);
	assert_ptr_equal(slow_kind_begun(2), &slow_kind_too);
	slow_kind_open();
	take_all(3);
}

/* Nobody waits until the second file of somebody whose first file is stuck is found stuck, too. */
static void what_may_not_answer_never_has_the_last_thread(void **state)
{
	add_of(&slow_kind, 1);
	slow_kind_wait_begun(1);
	wait_stuck(1);
	for (int i = 2; i <= TABLE_LOADER_OWNER_STUCK; i++) {
		add_of(&slow_kind, 1);
		slow_kind_wait_begun(i);
	}
	add_of(&slow_kind, 1); /* the owner has all threads that it may have */
	add_of(&slow_kind, 2);
	slow_kind_wait_begun(TABLE_LOADER_OWNER_STUCK + 1);
	assert_int_equal(table_loader_stuck(loader, NULL), 1);
	slow_kind_open();
	take_all(TABLE_LOADER_OWNER_STUCK + 2);
}

/* Whoever else needs a file that does not answer has no other thread wait for it. */
static void a_file_that_does_not_answer_has_one_thread(void **state)
{
	struct table_job *same = table_job_new(&slow_kind_too, files_open_memory("x", 1), 1);
	struct table_job *job = table_job_new(&slow_kind, files_open_memory("x", 1), 1);

	job->file = same->file = 7;
	job->owner.user = 1;
	same->owner.user = 2;
	table_loader_add(loader, job, true);
	slow_kind_wait_begun(1);
	wait_stuck(1);
	table_loader_add(loader, same, true);
	add_of(&slow_kind, 2);
	slow_kind_wait_begun(2);
	wait_stuck(2);
	slow_kind_open();
	take_all(3);
}

static void an_owner_whose_threads_return_goes_on(void **state)
{
	add_stuck_ones(1);
	add_of(&slow_kind, 1);
	slow_kind_open();
	take_all(TABLE_LOADER_OWNER_STUCK + 1);
}

static void a_thread_at_work_is_not_stuck(void **state)
{
	add_of(&slow_kind, 1);
	slow_kind_wait_begun(1);
	for (int i = 0; i < 5; i++)
		table_loader_tend(loader, clock_now_ns()); /* less than its patience has passed */
	assert_int_equal(table_loader_stuck(loader, NULL), 0);
	slow_kind_open();
	take_all(1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(jobs_are_done_in_the_order_in_which_they_came,
						start, stop),
		cmocka_unit_test_setup_teardown(the_smallest_file_comes_first, start, stop),
		cmocka_unit_test_setup_teardown(what_is_waited_for_comes_first, start, stop),
		cmocka_unit_test_setup_teardown(a_job_that_is_hurried_overtakes, start, stop),
		cmocka_unit_test_setup_teardown(a_large_file_keeps_no_small_one_waiting, start,
						stop),
		cmocka_unit_test_setup_teardown(it_says_when_something_is_done_and_only_then, start,
						stop),
		cmocka_unit_test_setup_teardown(a_file_without_a_table_comes_back_with_the_reason,
						start, stop),
		cmocka_unit_test_setup_teardown(nothing_is_left_of_what_was_not_taken_when_it_stops,
						start, stop),
		cmocka_unit_test_setup_teardown(a_thread_that_is_stuck_has_a_replacement, start,
						stop),
		cmocka_unit_test_setup_teardown(an_owner_with_threads_that_are_stuck_has_to_wait,
						start, stop),
		cmocka_unit_test_setup_teardown(an_owner_whose_threads_return_goes_on, start, stop),
		cmocka_unit_test_setup_teardown(
			of_all_who_wait_for_a_file_who_has_nothing_stuck_has_it_read, start, stop),
		cmocka_unit_test_setup_teardown(
			of_all_who_need_a_file_who_has_nothing_stuck_has_it_read, start, stop),
		cmocka_unit_test_setup_teardown(what_may_not_answer_never_has_the_last_thread,
						start, stop),
		cmocka_unit_test_setup_teardown(whose_files_have_taken_long_comes_last, start,
						stop),
		cmocka_unit_test_setup_teardown(
			who_makes_room_loses_the_youngest_that_has_no_thread, start, stop),
		cmocka_unit_test_setup_teardown(a_device_that_does_not_answer_comes_last, start,
						stop),
		cmocka_unit_test_setup_teardown(a_file_that_does_not_answer_has_one_thread, start,
						stop),
		cmocka_unit_test_setup_teardown(a_thread_at_work_is_not_stuck, start, stop),
		cmocka_unit_test_setup_teardown(a_load_that_hangs_is_left_behind, start, stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
