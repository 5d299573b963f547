// SPDX-License-Identifier: Apache-2.0
/* A claim about guard/turn.h: short slices are asked for, and a thread's share stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <linux/sched/types.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/child.h"
#include "guard/turn.h"

static struct sched_attr scheduling(void)
{
	struct sched_attr attr = {.size = sizeof(attr)};

	assert_int_equal(syscall(SYS_sched_getattr, 0, &attr, sizeof(attr), 0), 0);
	return attr;
}

/* Kernels that do not know of turns say that they are 0 long. */
static void short_turns_are_asked_for_and_nothing_else_is_changed(void **state)
{
	const pid_t child = fork(); /* whoever is a little nicer cannot take it back */

	if (child == 0) {
		struct sched_attr before, after;

		setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + 1);
		before = scheduling();
		turn_ask_short();
		after = scheduling();
		_exit(after.sched_nice != before.sched_nice ||
		      after.sched_policy != before.sched_policy ||
		      (before.sched_runtime > 0 && after.sched_runtime != 100000));
	}
	child_check(child);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(short_turns_are_asked_for_and_nothing_else_is_changed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
