// SPDX-License-Identifier: Apache-2.0
/* Which processes a line of the log has told of. */
#include "guard/announced.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void a_process_that_is_known_anew_is_told_of_once(void **state)
{
	struct announced announced = {0};

	assert_true(announced_add(&announced, 7, 100));
	assert_false(announced_add(&announced, 7, 100));
	assert_true(announced_add(&announced, 8, 0));
	assert_false(announced_add(&announced, 8, 0));
	announced_fini(&announced);
}

static void another_process_with_its_pid_is_told_of(void **state)
{
	struct announced announced = {0};

	assert_true(announced_add(&announced, 7, 100));
	assert_true(announced_add(&announced, 7, 200));
	assert_false(announced_add(&announced, 7, 200));
	announced_remove(&announced, 7);
	assert_true(announced_add(&announced, 7, 200));
	announced_fini(&announced);
}

static void memory_for_pids_has_an_end(void **state)
{
	struct announced announced = {0};

	for (pid_t pid = 1; pid <= 2 * ANNOUNCED_MAX; pid++) {
		assert_true(announced_add(&announced, pid, 1));
		assert_true(announced.starts.count <= ANNOUNCED_MAX);
	}
	announced_fini(&announced);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_that_is_known_anew_is_told_of_once),
		cmocka_unit_test(another_process_with_its_pid_is_told_of),
		cmocka_unit_test(memory_for_pids_has_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
