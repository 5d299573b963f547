// SPDX-License-Identifier: Apache-2.0
/* Claims about inspect/jvm_share.h: whose JVMs a short list shows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "inspect/jvm_share.h"

#define COUNT 300

static struct process all[COUNT];
static const struct process *jvms[COUNT];

/* Of the first ones of all, so many of each container. */
static void set(const size_t *of_container, size_t containers)
{
	size_t n = 0;

	for (size_t i = 0; i < containers; i++) {
		for (size_t j = 0; j < of_container[i]; j++, n++) {
			all[n] = (struct process){.pid = (pid_t)n + 1,
						  .owner = {.container = i + 1, .user = j}};
			jvms[n] = &all[n];
		}
	}
}

static size_t count_of(size_t kept, uint64_t container)
{
	size_t count = 0;

	for (size_t i = 0; i < kept; i++) {
		count += jvms[i]->owner.container == container;
		assert_true(i == 0 || jvms[i - 1]->pid < jvms[i]->pid);
	}
	return count;
}

static void all_are_kept_that_have_places(void **state)
{
	set((const size_t[]){5, 3}, 2);
	assert_int_equal(jvm_share_keep(jvms, 8, 8), 8);
	assert_int_equal(jvm_share_keep(jvms, 0, 8), 0);
}

static void many_of_one_keep_nobody_out(void **state)
{
	set((const size_t[]){200, 4, 1}, 3);
	assert_int_equal(jvm_share_keep(jvms, 205, 20), 20);
	assert_int_equal(count_of(20, 1), 15);
	assert_int_equal(count_of(20, 2), 4);
	assert_int_equal(count_of(20, 3), 1);
	assert_int_equal(jvms[0]->pid, 1);
}

/* What does not come out even stays free. */
static void no_more_are_kept_than_there_are_places(void **state)
{
	set((const size_t[]){100, 100, 100}, 3);
	assert_int_equal(jvm_share_keep(jvms, 300, 50), 48);
}

static void without_a_place_for_each_the_first_have_one(void **state)
{
	set((const size_t[]){2, 2, 2}, 3);
	assert_int_equal(jvm_share_keep(jvms, 6, 2), 2);
	assert_int_equal(count_of(2, 1), 1);
	assert_int_equal(count_of(2, 2), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_are_kept_that_have_places),
		cmocka_unit_test(many_of_one_keep_nobody_out),
		cmocka_unit_test(no_more_are_kept_than_there_are_places),
		cmocka_unit_test(without_a_place_for_each_the_first_have_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
