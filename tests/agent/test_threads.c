// SPDX-License-Identifier: Apache-2.0
/* What the JVM makes of a thread's name for the kernel, and back. */
#include "agent/threads.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void a_cut_end_and_a_cut_middle_are_recognised(void **state)
{
	assert_true(threads_is_cut_from("http-nio-8080-e", "http-nio-8080-exec-12"));
	assert_true(threads_is_cut_from("http-ni..xec-12", "http-nio-8080-exec-12"));
	assert_true(threads_is_cut_from("0123456789abcde", "0123456789abcdef"));
	assert_true(threads_is_cut_from("0123456..abcdef", "0123456789abcdef"));
}

static void another_threads_name_is_not_taken(void **state)
{
	assert_false(threads_is_cut_from("http-nio-8080-e", "http-nio-8443-exec-12"));
	assert_false(threads_is_cut_from("http-ni..xec-13", "http-nio-8080-exec-12"));
	assert_false(threads_is_cut_from("http-ni--xec-12", "http-nio-8080-exec-12"));
	assert_false(threads_is_cut_from("0123456789abcde", "0123456789abcde"));
	assert_false(threads_is_cut_from("main", "main-and-more-than-fifteen"));
	assert_false(threads_is_cut_from("", ""));
}

static void without_offsets_it_is_off(void **state)
{
	static struct threads threads;
	const struct vmstructs none = {0};

	threads_init(&threads, true, &none);
	assert_false(threads.on);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cut_end_and_a_cut_middle_are_recognised),
		cmocka_unit_test(another_threads_name_is_not_taken),
		cmocka_unit_test(without_offsets_it_is_off),
	};

	return cmocka_run_group_tests_name("agent threads", tests, NULL, NULL);
}
