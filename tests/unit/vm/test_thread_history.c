// SPDX-License-Identifier: Apache-2.0
/* What a thread was called, by time, from what the kernel and the JVM have said. */
#include "vm/thread_history.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct thread_comms comms;
static struct thread_full_names names;

static int setup(void **state)
{
	comms = (struct thread_comms){0};
	names = (struct thread_full_names){0};
	return 0;
}

static void check(uint64_t time_ns, const char *comm, const char *expected)
{
	const char *called;
	const char *const full = thread_history_at(&comms, &names, time_ns, comm, &called);

	assert_string_equal(full ? full : called, expected);
}

static void a_name_counts_from_when_it_was_seen(void **state)
{
	thread_comms_note(&comms, "job-1", 10);
	thread_comms_note(&comms, "job-2", 20);
	thread_comms_note(&comms, "job-3", 30);
	check(5, NULL, "job-1"); /* none is known to be older */
	check(19, NULL, "job-1");
	check(20, NULL, "job-2");
	check(29, "", "job-2");
	check(99, NULL, "job-3");
}

/* Samples of several CPUs do not come in order of time. */
static void an_older_name_comes_late_in_vain(void **state)
{
	thread_comms_note(&comms, "job-2", 20);
	thread_comms_note(&comms, "job-1", 10);
	assert_string_equal(thread_comms_last(&comms), "job-2");
	assert_int_equal(comms.count, 1);
}

static void what_the_sample_says_goes_before_what_was_noted(void **state)
{
	thread_comms_note(&comms, "job-2", 20);
	check(20, "job-1", "job-1");
	thread_full_names_note(&names, "given", 15);
	check(20, "job-1", "job-1"); /* newer than what was noted before */
}

/* By another thread, or to a thread that has attached itself by JNI. */
static void a_name_that_the_kernel_is_not_told_counts_since_it_was_seen(void **state)
{
	thread_comms_note(&comms, "java", 10);
	thread_full_names_note(&names, "given", 20);
	thread_full_names_note(&names, "given again", 40);
	check(19, "java", "java");
	check(20, "java", "given");
	check(39, NULL, "given");
	check(40, "java", "given again");
}

static void a_name_that_the_thread_takes_afterwards_is_newer(void **state)
{
	thread_comms_note(&comms, "java", 10);
	thread_full_names_note(&names, "given", 20);
	thread_comms_note(&comms, "own", 30);
	check(29, NULL, "given");
	check(30, "own", "own");
	thread_full_names_note(&names, "given", 40); /* once more, by another thread */
	check(39, "own", "own");
	check(40, "own", "given");
}

static void a_name_that_is_seen_often_is_noted_twice(void **state)
{
	for (uint64_t time_ns = 1; time_ns < 100; time_ns++)
		thread_full_names_note(&names, "given", time_ns);
	assert_int_equal(names.count, 2);
	assert_int_equal(names.names[0].since_ns, 99);
	assert_int_equal(names.names[1].since_ns, 1);
}

/* It was read after the thread was first sampled, but the thread was called so all the time. */
static void a_full_name_counts_before_it_was_seen_if_the_kernels_was_cut_from_it(void **state)
{
	thread_comms_note(&comms, "http-nio-8080-e", 10);
	thread_full_names_note(&names, "http-nio-8080-exec-1", 20);
	thread_full_names_note(&names, "http-nio-8080-exec-2", 30);
	check(10, NULL, "http-nio-8080-exec-1");
	check(29, "http-nio-8080-e", "http-nio-8080-exec-1");
	check(30, "http-nio-8080-e", "http-nio-8080-exec-2");
	check(30, "http-nio-8443-e", "http-nio-8443-e");
}

static void older_names_are_forgotten(void **state)
{
	static const char *const texts[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};

	for (uint64_t i = 0; i < 10; i++) {
		thread_comms_note(&comms, texts[i], i);
		thread_full_names_note(&names, texts[i], i);
	}
	assert_int_equal(comms.count, THREAD_COMMS);
	assert_int_equal(names.count, THREAD_FULL_NAMES);
	check(9, NULL, "j");
	check(7, NULL, "h");
}

#define CASE(test) cmocka_unit_test_setup(test, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_name_counts_from_when_it_was_seen),
		CASE(an_older_name_comes_late_in_vain),
		CASE(what_the_sample_says_goes_before_what_was_noted),
		CASE(a_name_that_the_kernel_is_not_told_counts_since_it_was_seen),
		CASE(a_name_that_the_thread_takes_afterwards_is_newer),
		CASE(a_name_that_is_seen_often_is_noted_twice),
		CASE(a_full_name_counts_before_it_was_seen_if_the_kernels_was_cut_from_it),
		CASE(older_names_are_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
