// SPDX-License-Identifier: Apache-2.0
/* Claims about sinks/seen_jvms.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "sinks/seen_jvms.h"

static struct jvm jvm;

static struct process process_of(pid_t pid, uint64_t start_ticks)
{
	return (struct process){.pid = pid, .start_ticks = start_ticks, .jvm = &jvm};
}

static void each_jvm_is_counted_once_and_no_other_process(void **state)
{
	struct seen_jvms jvms = {0};
	const struct process first = process_of(7, 100), again = process_of(7, 200);
	struct process other = process_of(8, 100);

	other.jvm = NULL;
	seen_jvms_add(&jvms, NULL);
	seen_jvms_add(&jvms, &other);
	assert_int_equal(jvms.seen.count, 0);
	seen_jvms_add(&jvms, &first);
	seen_jvms_add(&jvms, &first);
	assert_int_equal(jvms.seen.count, 1);
	assert_true(seen_jvms_has(&jvms, &first));
	assert_false(seen_jvms_has(&jvms, &again)); /* the PID was given again */
	seen_jvms_add(&jvms, &again);
	assert_int_equal(jvms.seen.count, 2);
	seen_jvms_fini(&jvms);
}

static void jvms_without_end_take_no_more_than_their_room(void **state)
{
	struct seen_jvms jvms = {0};

	for (uint64_t i = 0; i < SEEN_JVMS_MAX + 10; i++) {
		const struct process process = process_of((pid_t)i + 1, i);

		seen_jvms_add(&jvms, &process);
	}
	assert_int_equal(jvms.seen.count, SEEN_JVMS_MAX);
	seen_jvms_fini(&jvms);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_jvm_is_counted_once_and_no_other_process),
		cmocka_unit_test(jvms_without_end_take_no_more_than_their_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
