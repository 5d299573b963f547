// SPDX-License-Identifier: Apache-2.0
/* What wakes the agent's thread: nothing is missed, whenever it comes. */
#include "agent/wake.h"

#include "agent/clock.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define LONG_NS (3600 * CLOCK_NS_PER_S) /* longer than a test may take */

static struct wake wake;

static uint64_t after(uint64_t ns)
{
	return clock_monotonic_ns() + ns;
}

static void a_wake_up_before_the_sleep_ends_it(void **state)
{
	(void)state;
	wake_post(&wake);
	wake_post(&wake);
	assert_true(wake_sleep(&wake, after(LONG_NS)));
	assert_true(wake_sleep(&wake, after(LONG_NS)));
	wake_forget(&wake);
	assert_false(wake_sleep(&wake, after(CLOCK_NS_PER_MS)));
}

static void *post_when_asleep(void *arg)
{
	(void)arg;
	while (!atomic_load(&wake.sleepers))
		;
	wake_post(&wake);
	return NULL;
}

static void a_wake_up_during_the_sleep_ends_it(void **state)
{
	pthread_t poster;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		wake_forget(&wake);
		assert_int_equal(pthread_create(&poster, NULL, post_when_asleep, NULL), 0);
		assert_true(wake_sleep(&wake, after(LONG_NS)));
		assert_int_equal(pthread_join(poster, NULL), 0);
	}
	wake_forget(&wake);
}

static void a_sleep_until_the_past_is_none(void **state)
{
	(void)state;
	assert_false(wake_sleep(&wake, 1));
	wake_post(&wake);
	assert_true(wake_sleep(&wake, 1));
	wake_forget(&wake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wake_up_before_the_sleep_ends_it),
		cmocka_unit_test(a_wake_up_during_the_sleep_ends_it),
		cmocka_unit_test(a_sleep_until_the_past_is_none),
	};

	return cmocka_run_group_tests_name("agent wake", tests, NULL, NULL);
}
