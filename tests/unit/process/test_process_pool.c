// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "process/process_pool.h"

#define MOST 8

static const struct owner eve = {.user = 1001}, bob = {.user = 1002}, tom = {.container = 7};

static struct process_pool pool;
static struct map64 processes;
static struct process all[2 * MOST];
static size_t n_all;
static struct jvm some_jvm;

static int start(void **state)
{
	pool = (struct process_pool){.max = MOST};
	processes = (struct map64){0};
	n_all = 0;
	return 0;
}

static int stop(void **state)
{
	process_pool_fini(&pool);
	map64_fini(&processes);
	return 0;
}

static struct process *add(struct owner owner)
{
	struct process *const process = &all[n_all];

	*process = (struct process){.pid = (pid_t)++n_all};
	assert_int_equal(map64_put(&processes, (uint64_t)process->pid, process), 0);
	process_pool_set(&pool, process, owner);
	return process;
}

static void forget(struct process *process)
{
	process_pool_leave(&pool, process);
	assert_ptr_equal(map64_remove(&processes, (uint64_t)process->pid), process);
}

/* NULL: the newcomer is refused. */
static struct process *payer_for(struct owner newcomer)
{
	struct process *payer;

	const bool has_room = process_pool_has_room(&pool, &processes, newcomer, &payer);

	assert_int_equal(has_room, payer != NULL);
	return payer;
}

static uint64_t count_of(struct owner owner)
{
	return pool_amount(&pool.owners, owner_group(owner));
}

static void a_free_place_costs_nobody_one(void **state)
{
	struct process *payer;

	for (size_t i = 1; i < MOST; i++)
		add(eve);
	assert_true(process_pool_has_room(&pool, &processes, eve, &payer));
	assert_null(payer);
}

static void who_has_filled_the_table_makes_room_for_others(void **state)
{
	for (size_t i = 0; i < MOST; i++)
		add(eve);
	assert_null(payer_for(eve));
	for (uint64_t i = 1; i <= MOST / 2; i++) {
		struct process *const payer = payer_for(bob);

		assert_int_equal(payer->owner.user, eve.user);
		forget(payer);
		add(bob);
		assert_int_equal(count_of(bob), i);
		assert_int_equal(count_of(eve), MOST - i);
	}
	assert_null(payer_for(bob)); /* would have more than eve */
	assert_non_null(payer_for(tom));
	assert_int_equal(pool.refused, 2);
	assert_int_equal(pool.evicted, MOST / 2 + 1);
}

static void what_is_asked_for_goes_last(void **state)
{
	struct process *const jvm = add(eve), *const asked = add(eve), *const other = add(eve);

	jvm->jvm = &some_jvm;
	asked->users = 1;
	pool.max = 3;
	assert_ptr_equal(payer_for(bob), other);
	forget(other);
	pool.max = 2;
	assert_ptr_equal(payer_for(bob), asked);
	forget(asked);
	add(eve)->jvm = &some_jvm;
	assert_ptr_equal(payer_for(bob)->jvm, &some_jvm);
}

static void who_changes_hands_is_counted_once(void **state)
{
	struct process *const process = add(eve);

	process_pool_set(&pool, process, eve);
	assert_int_equal(count_of(eve), 1);
	process_pool_set(&pool, process, bob);
	assert_int_equal(count_of(eve), 0);
	assert_int_equal(count_of(bob), 1);
	forget(process);
	assert_int_equal(pool.owners.sum, 0);
}

static void what_has_ended_stays_whose_it_was(void **state)
{
	struct process *const process = add(eve);

	process->pid = 0; /* nobody has it */
	process_pool_own(&pool, process);
	assert_int_equal(process->owner.user, eve.user);
	assert_int_equal(count_of(eve), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_free_place_costs_nobody_one, start, stop),
		cmocka_unit_test_setup_teardown(who_has_filled_the_table_makes_room_for_others,
						start, stop),
		cmocka_unit_test_setup_teardown(what_is_asked_for_goes_last, start, stop),
		cmocka_unit_test_setup_teardown(who_changes_hands_is_counted_once, start, stop),
		cmocka_unit_test_setup_teardown(what_has_ended_stays_whose_it_was, start, stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
