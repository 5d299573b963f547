// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "guard/pool.h"

#define TOTAL 100

enum { EVE = 1, BOB, TOM, ANN };

static int start(void **state)
{
	static struct pool pool;

	pool = (struct pool){0};
	*state = &pool;
	return 0;
}

static int stop(void **state)
{
	pool_fini(*state);
	return 0;
}

/* The group that makes room for one more of the newcomer's; 0: there is none. */
static uint64_t chosen(const struct pool *pool, uint64_t newcomer)
{
	uint64_t group = 0;

	return pool_choose(pool, newcomer, 1, &group) ? group : 0;
}

/* How much the group gets, one after the other, until it has its share. */
static unsigned take_all(struct pool *pool, uint64_t group)
{
	unsigned n = 0;

	while (pool_has_share(pool, group, TOTAL)) {
		assert_int_equal(pool_charge(pool, group, 1), 0);
		n++;
	}
	return n;
}

static void what_is_given_back_is_nobodys(void **state)
{
	struct pool *const pool = *state;

	assert_int_equal(pool_charge(pool, EVE, 7), 0);
	assert_int_equal(pool_charge(pool, BOB, 2), 0);
	assert_int_equal(pool_charge(pool, TOM, 0), 0);
	pool_release(pool, EVE, 3);
	assert_int_equal(pool_amount(pool, EVE), 4);
	assert_int_equal(pool->sum, 6);
	pool_release(pool, EVE, 5); /* more than there is */
	assert_int_equal(pool_amount(pool, EVE), 0);
	assert_int_equal(pool->sum, 2);
	assert_int_equal(pool->amounts.count, 1);
}

static void who_has_the_most_makes_room(void **state)
{
	struct pool *const pool = *state;

	pool_charge(pool, EVE, 90);
	pool_charge(pool, BOB, 10);
	assert_int_equal(chosen(pool, BOB), EVE);
	assert_int_equal(chosen(pool, ANN), EVE);
	assert_int_equal(chosen(pool, EVE), 0);
}

static void of_two_that_have_as_much_one_is_always_chosen(void **state)
{
	struct pool *const pool = *state;
	uint64_t most = 1;

	assert_int_equal(pool_greediest(pool, &most), 0);
	assert_int_equal(most, 0);
	for (uint64_t group = ANN; group >= EVE; group--)
		pool_charge(pool, group, group == EVE ? 3 : 4);
	assert_int_equal(pool_greediest(pool, &most), BOB);
	assert_int_equal(most, 4);
	assert_int_equal(chosen(pool, EVE), 0);
	pool_charge(pool, TOM, 1);
	assert_int_equal(chosen(pool, EVE), TOM);
}

static void who_would_have_as_much_is_refused(void **state)
{
	struct pool *const pool = *state;

	pool_charge(pool, EVE, 50);
	pool_charge(pool, BOB, 49);
	assert_int_equal(chosen(pool, BOB), 0);
	pool_release(pool, BOB, 1);
	assert_int_equal(chosen(pool, BOB), EVE);
}

static void a_late_one_has_half_of_what_is_left(void **state)
{
	struct pool *const pool = *state;

	assert_int_equal(take_all(pool, EVE), 50);
	assert_int_equal(take_all(pool, BOB), 25);
	assert_int_equal(take_all(pool, TOM), 13);
	assert_int_equal(take_all(pool, EVE), 0);
	assert_int_equal(take_all(pool, ANN), 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_is_given_back_is_nobodys, start, stop),
		cmocka_unit_test_setup_teardown(who_has_the_most_makes_room, start, stop),
		cmocka_unit_test_setup_teardown(of_two_that_have_as_much_one_is_always_chosen,
						start, stop),
		cmocka_unit_test_setup_teardown(who_would_have_as_much_is_refused, start, stop),
		cmocka_unit_test_setup_teardown(a_late_one_has_half_of_what_is_left, start, stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
