// SPDX-License-Identifier: Apache-2.0
/* Claims about loop/turns.h, with a pretended clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "loop/turns.h"

static struct turns turns;
static uint64_t now_ns;

static int set_up(void **state)
{
	turns = (struct turns){0};
	now_ns = 1000 * CLOCK_NS_PER_SEC;
	clock_pretend(now_ns);
	return 0;
}

static int tear_down(void **state)
{
	clock_pretend(0);
	return 0;
}

static void pass_ms(uint64_t ms)
{
	now_ns += ms * CLOCK_NS_PER_MS;
	clock_pretend(now_ns);
}

static void turn_of(uint64_t agents_ms, uint64_t rings_ms, uint64_t caller_ms)
{
	turns_begin(&turns);
	pass_ms(agents_ms);
	turns_pass(&turns, TURN_AGENTS);
	pass_ms(rings_ms);
	turns_pass(&turns, TURN_RINGS);
	pass_ms(caller_ms);
	turns_end(&turns);
}

static void turns_are_counted_up_to_each_bound(void **state)
{
	turns_end(&turns); /* none has begun */
	assert_int_equal(turns.count, 0);
	turn_of(1, 0, 0);
	turn_of(1, 1, 1);
	turn_of(6000, 0, 0);
	assert_int_equal(turns.count, 3);
	assert_true(turns.sum_ns == 6004 * CLOCK_NS_PER_MS);
	for (size_t i = 0; i < TURN_BUCKETS - 1; i++)
		assert_int_equal(turns.within[i], turn_bucket_ns(i) >= 3 * CLOCK_NS_PER_MS ? 2 : 1);
	assert_int_equal(turns.within[TURN_BUCKETS - 1], 3);
}

static void the_longest_is_known_and_what_took_so_long(void **state)
{
	turn_of(7, 1, 30);
	pass_ms(1000); /* a wait is no part of a turn */
	turn_of(20, 0, 1);
	assert_true(turns.longest_ns == 38 * CLOCK_NS_PER_MS);
	assert_true(turns.longest_stage_ns[TURN_AGENTS] == 20 * CLOCK_NS_PER_MS);
	assert_true(turns.longest_stage_ns[TURN_RINGS] == 1 * CLOCK_NS_PER_MS);
	assert_true(turns.longest_stage_ns[TURN_CALLER] == 30 * CLOCK_NS_PER_MS);
	assert_true(turns.longest_stage_ns[TURN_NAMING] == 0);
}

static void processor_time_is_without_waits(void **state)
{
	volatile uint64_t sum = 0;

	turns_begin(&turns);
	turns_end(&turns);
	for (int i = 0; i < 100000000 && turns.longest_cpu_ns < CLOCK_NS_PER_MS; i++) {
		turns_begin(&turns);
		for (uint64_t k = 0; k < UINT64_C(100000) << (i < 10 ? i : 10); k++)
			sum += k;
		turns_end(&turns);
	}
	assert_true(sum > 0);
	assert_true(turns.longest_cpu_ns >= CLOCK_NS_PER_MS);
	assert_int_equal(turns.longest_ns, 0); /* by the pretended clock */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(turns_are_counted_up_to_each_bound),
		TEST(the_longest_is_known_and_what_took_so_long),
		TEST(processor_time_is_without_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
