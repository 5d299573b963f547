// SPDX-License-Identifier: Apache-2.0
/* Claims about recording/running_time.h: whose samples get the time that a thread has run. */
#include "recording/running_time.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MS    UINT64_C(1000000)
#define START (UINT64_C(1000) * MS)
#define PID   7
#define TID   8

static struct running_time running;

static int tear_down(void **state)
{
	running_time_fini(&running);
	running = (struct running_time){0};
	return 0;
}

static void hear(uint64_t at_ms)
{
	running_time_note_sample(&running, PID, TID, START + at_ms * MS);
}

static bool add_for(pid_t pid, pid_t tid, uint64_t from_ms, uint64_t to_ms, uint64_t us)
{
	const struct running_stretch stretch = {.begin_ns = START + from_ms * MS,
						.end_ns = START + to_ms * MS,
						.us = us,
						.pid = pid,
						.tid = tid};

	return running_time_add(&running, &stretch);
}

static void add(uint64_t from_ms, uint64_t to_ms, uint64_t us)
{
	assert_true(add_for(PID, TID, from_ms, to_ms, us));
}

static uint64_t take(uint64_t at_ms)
{
	return running_time_take(&running, PID, TID, START + at_ms * MS);
}

static void samples_of_a_stretch_have_equal_parts(void **state)
{
	hear(10);
	hear(20);
	hear(30);
	hear(60); /* of the next stretch */
	add(0, 50, 30000);
	assert_int_equal(take(10), 10000);
	assert_int_equal(take(20), 10000);
	assert_int_equal(take(30), 10000);
	add(50, 100, 4000);
	assert_int_equal(take(60), 4000);
}

static void a_stretch_without_samples_goes_to_the_next_one(void **state)
{
	add(0, 50, 500);
	add(50, 100, 700);
	hear(120);
	add(100, 150, 1000);
	assert_int_equal(take(120), 2200);
}

static void no_microsecond_is_lost_in_division(void **state)
{
	uint64_t sum = 0;

	for (uint64_t at = 1; at <= 7; at++)
		hear(at);
	add(0, 10, 1000);
	for (uint64_t at = 1; at <= 7; at++)
		sum += take(at);
	assert_int_equal(sum, 1000);
}

static void time_of_a_sample_that_was_dropped_is_others(void **state)
{
	hear(10);
	hear(20);
	add(0, 50, 2000);
	assert_int_equal(take(20), 1000); /* that of 10 never came */
	hear(60);
	add(50, 100, 500);
	assert_int_equal(take(60), 1500);
}

static void a_sample_before_its_stretch_has_what_was_left(void **state)
{
	hear(10);
	assert_int_equal(take(10), 0);
	add(0, 50, 900); /* late: nothing to come */
	hear(60);
	assert_int_equal(take(60), 900);
}

static void what_waits_too_long_is_rest(void **state)
{
	struct running_stretch rest;

	add(0, 50, 900);
	assert_false(running_time_next_unsampled(&running, START + 10049 * MS, false, &rest));
	assert_true(running_time_next_unsampled(&running, START + 12000 * MS, false, &rest));
	assert_int_equal(rest.us, 900);
	assert_int_equal(rest.tid, TID);
	assert_int_equal(rest.begin_ns, START);
	assert_int_equal(rest.end_ns, START + 50 * MS);
	assert_false(running_time_next_unsampled(&running, START + 12000 * MS, false, &rest));
	assert_int_equal(running.threads.count, 0);
}

static void the_search_comes_once_a_second(void **state)
{
	struct running_stretch rest;

	assert_false(running_time_next_unsampled(&running, START + 20000 * MS, false, &rest));
	add(0, 50, 900);
	assert_false(running_time_next_unsampled(&running, START + 20999 * MS, false, &rest));
	assert_true(running_time_next_unsampled(&running, START + 21000 * MS, false, &rest));
}

static void at_the_end_all_is_rest(void **state)
{
	struct running_stretch rest;
	uint64_t sum = 0, count = 0;

	for (pid_t tid = 1; tid <= 500; tid++)
		assert_true(add_for(PID, tid, 0, 50, 10));
	running_time_note_sample(&running, PID, 501, START); /* a thread without time is no rest */
	while (running_time_next_unsampled(&running, START, true, &rest)) {
		sum += rest.us;
		count++;
	}
	assert_int_equal(count, 500);
	assert_int_equal(sum, 5000);
	assert_int_equal(running.threads.count, 0);
}

static void another_process_with_the_tid_is_another_thread(void **state)
{
	add(0, 50, 900);
	assert_false(add_for(PID + 1, TID, 100, 150, 5)); /* there is rest to be kept first */
	assert_int_equal(running_time_take(&running, PID + 1, TID, START + 60 * MS), 0);
	hear(60);
	assert_int_equal(take(60), 900);
	assert_true(add_for(PID + 1, TID, 100, 150, 5));
}

static void more_samples_than_are_kept_cost_no_time(void **state)
{
	uint64_t sum = 0;

	for (uint64_t at = 0; at < 3 * RUNNING_TIME_NOTED; at++)
		hear(100 + at);
	add(0, 1000, 77777);
	for (uint64_t at = 0; at < 3 * RUNNING_TIME_NOTED; at++)
		sum += take(100 + at);
	assert_int_equal(sum, 77777);
}

static void threads_have_a_limit(void **state)
{
	for (pid_t tid = 1; tid <= (pid_t)RUNNING_TIME_THREADS; tid++)
		assert_true(add_for(PID, tid, 0, 50, 1));
	assert_false(add_for(PID, (pid_t)RUNNING_TIME_THREADS + 1, 0, 50, 1));
	assert_true(running_time_bytes(&running) < (64u << 20));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(samples_of_a_stretch_have_equal_parts),
		TEST(a_stretch_without_samples_goes_to_the_next_one),
		TEST(no_microsecond_is_lost_in_division),
		TEST(time_of_a_sample_that_was_dropped_is_others),
		TEST(a_sample_before_its_stretch_has_what_was_left),
		TEST(what_waits_too_long_is_rest),
		TEST(the_search_comes_once_a_second),
		TEST(at_the_end_all_is_rest),
		TEST(another_process_with_the_tid_is_another_thread),
		TEST(more_samples_than_are_kept_cost_no_time),
		TEST(threads_have_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
