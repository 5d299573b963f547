// SPDX-License-Identifier: Apache-2.0
/* How blocked time is shared among waits; no kernel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sample/sample_regs.h"
#include "wall/wait_claims.h"

#define MS    UINT64_C(1000000)
#define PID   70
#define TID   71
#define CALLS 16
#define WAKER 79

/* What each wait got, by its system call, in microseconds. */
struct shares {
	struct wait_claims claims;
	uint64_t us[CALLS];
	size_t n;
	uint32_t waker_of[CALLS]; /* the first byte of the waker's stack; 0: none */
	uint32_t number, waker;	  /* of a waker's record whose wait has not come */
	const char *comm;	  /* that waits tell; NULL: none, and the stretch's name counts */
};

static void on_waker(struct shares *shares, const struct record *record)
{
	assert_int_equal(shares->number, 0);
	assert_int_equal(record->pid, PID);
	assert_int_equal(record->tid, WAKER);
	assert_int_equal(record->sample.waker.pid, PID);
	assert_int_equal(record->sample.waker.tid, TID);
	assert_int_equal(record->sample.regs[1], 78);
	assert_int_equal(record->sample.stack_len, 2);
	assert_true(record->sample.waker_stack != 0);
	shares->number = record->sample.waker_stack;
	shares->waker = record->sample.stack[0];
}

static void on_record(void *arg, const struct record *record)
{
	struct shares *const shares = arg;
	const struct sample *const sample = &record->sample;

	assert_int_equal(record->kind, RECORD_SAMPLE);
	if (sample->kind == SAMPLE_OF_WAKER) {
		on_waker(shares, record);
		return;
	}
	assert_int_equal(sample->kind, SAMPLE_OF_WALL);
	assert_int_equal(sample->waker_stack, shares->number);
	shares->waker_of[sample_syscall(sample)] = shares->number ? shares->waker : 0;
	shares->number = 0;
	assert_int_equal(sample->state, THREAD_BLOCKED);
	assert_int_equal(record->pid, PID);
	assert_int_equal(record->tid, TID);
	assert_true(sample->weight > 0);
	shares->us[sample_syscall(sample)] += sample->weight;
	shares->n++;
	assert_int_equal(sample->stack_len, 3);
	assert_int_equal(sample->stack[0], sample_syscall(sample));
	assert_int_equal(sample->regs[1], 77);
	assert_int_equal(sample->kernel.addrs[0], 11);
	assert_string_equal(sample->waker.comm, "waker");
	assert_string_equal(sample->comm, shares->comm ? shares->comm : "read");
}

/* A wait that ended at time_ns. */
static void add(struct shares *shares, int call, uint64_t time_ns, uint64_t blocked_ns,
		uint64_t weight_ns)
{
	const uint64_t regs[SAMPLE_REGS_COUNT] = {1, 77}, kernel[1] = {11};
	const uint8_t stack[3] = {(uint8_t)call};
	struct wait_reading wait = {.time_ns = time_ns,
				    .blocked_ns = blocked_ns,
				    .weight_ns = weight_ns,
				    .since_ns = time_ns - blocked_ns,
				    .n_waits = 1,
				    .pid = PID,
				    .tid = TID,
				    .syscall = call,
				    .regs = regs,
				    .kernel = {kernel, 1},
				    .stack = stack,
				    .stack_len = sizeof(stack),
				    .waker = {.kind = WAKER_THREAD, .comm = "waker"}};

	if (shares->comm)
		snprintf(wait.comm, sizeof(wait.comm), "%s", shares->comm);
	assert_true(wait_claims_add(&shares->claims, &wait, SIZE_MAX));
}

/* The stack of who ended the wait that began at since_ns. */
static void add_waker(struct shares *shares, uint64_t since_ns, uint8_t stack_byte)
{
	const uint64_t regs[SAMPLE_REGS_COUNT] = {1, 78};
	const uint8_t stack[2] = {stack_byte};
	const struct wait_reading waker = {.is_waker = true,
					   .waited_tid = TID,
					   .since_ns = since_ns,
					   .pid = PID,
					   .tid = WAKER,
					   .regs = regs,
					   .stack = stack,
					   .stack_len = sizeof(stack)};

	assert_true(wait_claims_add(&shares->claims, &waker, SIZE_MAX));
}

static uint64_t share(struct shares *shares, uint64_t begin_ns, uint64_t end_ns, uint64_t us)
{
	const struct wait_stretch stretch = {.begin_ns = begin_ns,
					     .end_ns = end_ns,
					     .us = us,
					     .quantum_ns = 10 * MS,
					     .pid = PID,
					     .tid = TID,
					     .comm = "read"};

	return wait_claims_share(&shares->claims, &stretch, on_record, shares);
}

static void a_wait_stands_under_the_name_that_its_thread_had(void **state)
{
	struct shares shares = {.comm = "told"};

	(void)state;
	add(&shares, 1, 20 * MS, 10 * MS, 10 * MS);
	share(&shares, 0, 50 * MS, 10000);
	assert_int_equal(shares.n, 1);
	shares.comm = NULL; /* an older source does not tell */
	add(&shares, 1, 70 * MS, 10 * MS, 10 * MS);
	share(&shares, 50 * MS, 100 * MS, 10000);
	assert_int_equal(shares.n, 2);
	wait_claims_fini(&shares.claims);
}

static void without_waits_all_is_left(void **state)
{
	struct shares shares = {0};

	(void)state;
	assert_int_equal(share(&shares, 0, 50 * MS, 50000), 50000);
	assert_int_equal(shares.n, 0);
}

static void what_nobody_claims_is_left(void **state)
{
	struct shares shares = {0};

	(void)state;
	add(&shares, 1, 20 * MS, MS, 10 * MS);
	add(&shares, 2, 30 * MS, MS, 20 * MS);
	assert_int_equal(share(&shares, 0, 50 * MS, 50000), 20000);
	assert_int_equal(shares.us[1], 10000);
	assert_int_equal(shares.us[2], 20000);
	assert_int_equal(shares.claims.bytes, 0);
}

static void claims_of_too_much_are_cut_in_proportion(void **state)
{
	struct shares shares = {0};

	(void)state;
	add(&shares, 1, 10 * MS, MS, 10 * MS);
	add(&shares, 2, 20 * MS, MS, 20 * MS);
	add(&shares, 3, 30 * MS, MS, 30 * MS);
	assert_int_equal(share(&shares, 0, 50 * MS, 20001), 0);
	assert_int_equal(shares.us[1] + shares.us[2] + shares.us[3], 20001);
	assert_in_range(shares.us[1], 3333, 3334);
	assert_in_range(shares.us[2], 6666, 6667);
	wait_claims_fini(&shares.claims);
}

/* Quanta of 10 ms that come early take from what is left later, and not for good. */
static void claims_that_were_cut_are_made_good_later(void **state)
{
	struct shares shares = {0};

	(void)state;
	add(&shares, 1, 10 * MS, MS, 60 * MS);
	assert_int_equal(share(&shares, 0, 50 * MS, 50000), 0);
	add(&shares, 1, 60 * MS, MS, 40 * MS);
	assert_int_equal(share(&shares, 50 * MS, 100 * MS, 50000), 0);
	add(&shares, 1, 110 * MS, MS, 40 * MS);
	assert_int_equal(share(&shares, 100 * MS, 150 * MS, 50000), 10000);
	assert_int_equal(shares.us[1], 140000); /* all that was claimed */
	wait_claims_fini(&shares.claims);
}

static void a_wait_claims_of_a_stretch_what_lies_in_it(void **state)
{
	struct shares shares = {0};

	(void)state;
	/* 40 of 50 ms were before, and went to the stack of the wait that went on. */
	add(&shares, 1, 60 * MS, 50 * MS, 50 * MS);
	add(&shares, 2, 80 * MS, MS, 20 * MS);
	assert_int_equal(share(&shares, 50 * MS, 100 * MS, 50000), 20000);
	assert_int_equal(shares.us[1], 10000);
	assert_int_equal(shares.us[2], 20000);
}

static void a_wait_heard_of_late_is_of_the_stretch_before(void **state)
{
	struct shares shares = {0};

	(void)state;
	assert_int_equal(share(&shares, 50 * MS, 100 * MS, 50000), 50000);
	add(&shares, 1, 90 * MS, MS, 10 * MS);
	add(&shares, 2, 60 * MS, 40 * MS, 40 * MS);
	assert_int_equal(share(&shares, 100 * MS, 150 * MS, 50000), 30000);
	assert_int_equal(shares.us[1], 10000);
	assert_int_equal(shares.us[2], 10000);
}

static void a_wait_behind_the_stretch_stays(void **state)
{
	struct shares shares = {0};

	(void)state;
	add(&shares, 1, 60 * MS, MS, 10 * MS);
	assert_int_equal(share(&shares, 0, 50 * MS, 50000), 50000);
	assert_int_equal(shares.n, 0);
	assert_int_equal(share(&shares, 50 * MS, 100 * MS, 50000), 40000);
	assert_int_equal(shares.us[1], 10000);
}

static void a_rest_of_less_than_a_quantum_is_of_the_waits_and_settled_later(void **state)
{
	struct shares shares = {0};

	(void)state;
	add(&shares, 1, 10 * MS, MS, 10 * MS);
	assert_int_equal(share(&shares, 0, 19 * MS, 19000), 0);
	add(&shares, 2, 30 * MS, MS, 20 * MS);
	assert_int_equal(share(&shares, 20 * MS, 60 * MS, 40000), 29000);
	assert_int_equal(shares.us[1], 19000);
	assert_int_equal(shares.us[2], 11000);
}

static void the_stack_of_a_waker_comes_in_front_of_its_wait(void **state)
{
	struct shares shares = {0};

	(void)state;
	add_waker(&shares, 19 * MS, 5); /* earlier than its wait */
	add(&shares, 1, 20 * MS, MS, 10 * MS);
	add(&shares, 2, 30 * MS, MS, 10 * MS); /* has none */
	add(&shares, 3, 40 * MS, MS, 10 * MS);
	add(&shares, 4, 45 * MS, MS, 10 * MS);
	add_waker(&shares, 39 * MS, 6); /* later than its wait, and than another one */
	assert_int_equal(share(&shares, 0, 50 * MS, 50000), 10000);
	assert_int_equal(shares.n, 4);
	assert_int_equal(shares.waker_of[1], 5);
	assert_int_equal(shares.waker_of[2], 0);
	assert_int_equal(shares.waker_of[3], 6);
	assert_int_equal(shares.waker_of[4], 0);
	assert_int_equal(shares.claims.bytes, 0);
	assert_int_equal(shares.claims.wakers_left_out, 0);
}

static void stacks_of_wakers_whose_wait_does_not_come_are_counted(void **state)
{
	struct shares shares = {0};

	(void)state;
	add_waker(&shares, MS, 5);
	add_waker(&shares, 2 * MS, 6);
	assert_int_equal(shares.claims.wakers_left_out, 1);
	add(&shares, 1, 20 * MS, MS, 10 * MS);
	assert_int_equal(share(&shares, 0, 50 * MS, 50000), 40000);
	assert_int_equal(shares.waker_of[1], 0);
	add_waker(&shares, 19 * MS, 7); /* too late */
	assert_int_equal(shares.claims.wakers_left_out, 2);
	wait_claims_fini(&shares.claims);
	assert_int_equal(shares.claims.wakers_left_out, 3);
	assert_int_equal(shares.claims.bytes, 0);
}

/* A wait of which the stretch has nothing gives no record, and its waker's stack neither. */
static void a_wait_that_gets_nothing_has_no_record_of_its_waker(void **state)
{
	struct shares shares = {0};

	(void)state;
	add(&shares, 1, 20 * MS, MS, 10 * MS);
	add_waker(&shares, 19 * MS, 5);
	assert_int_equal(share(&shares, 0, 50 * MS, 0), 0);
	assert_int_equal(shares.n, 0);
	assert_int_equal(shares.number, 0);
	assert_int_equal(shares.claims.bytes, 0);
}

/* xorshift */
static uint64_t next_random(void)
{
	static uint64_t state = 88172645463325252;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/*
 * Waits of 1 ms and of 50 ms by chance, half of the time each, chosen by quanta of 10 ms and read
 * at every 25 to 75 ms: 20,000 waits, of which 400 are long. A share of a half differs from what it
 * was by less than a point, and what short ones get from readings is little.
 */
static void over_a_long_time_shares_are_those_of_the_waits(void **state)
{
	struct shares shares = {0};
	uint64_t now_ns = 0, owed_ns = 3 * MS, read_ns = 0, next_ns = 40 * MS;
	uint64_t spent[2] = {0}, left[2] = {0}, all;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		const bool is_long = next_random() % 51 == 0;
		const uint64_t ns = is_long ? 50 * MS : MS;

		now_ns += ns;
		spent[is_long] += ns;
		while (next_ns < now_ns) {
			/* Whoever waits at the reading has what is left. */
			left[is_long] +=
				share(&shares, read_ns, next_ns, (next_ns - read_ns) / 1000);
			read_ns = next_ns;
			next_ns += 25 * MS + next_random() % 50000 * 1000;
		}
		owed_ns += ns;
		if (owed_ns >= 10 * MS)
			add(&shares, is_long, now_ns, ns, owed_ns / (10 * MS) * 10 * MS);
		owed_ns %= 10 * MS;
	}
	all = shares.us[0] + shares.us[1] + left[0] + left[1];
	assert_int_equal(all, read_ns / 1000);
	print_message("long waits: %.1f %%, found %.1f %%; short ones met by readings: %.1f %%\n",
		      100.0 * (double)spent[1] / (double)now_ns,
		      100.0 * (double)(shares.us[1] + left[1]) / (double)all,
		      100.0 * (double)left[0] / (double)all);
	assert_in_range((shares.us[1] + left[1]) * 1000 / all + 10 - spent[1] * 1000 / now_ns, 0,
			20);
	assert_in_range(left[0] * 1000 / all, 0, 10);
	wait_claims_fini(&shares.claims);
}

static void what_is_larger_than_the_limit_is_not_taken(void **state)
{
	const uint8_t stack[8] = {0};
	const struct wait_reading wait = {.stack = stack, .stack_len = sizeof(stack)};
	struct wait_claims claims = {0};
	size_t bytes;

	(void)state;
	assert_true(wait_claims_add(&claims, &wait, 1000));
	bytes = claims.bytes;
	assert_false(wait_claims_add(&claims, &wait, bytes - 1));
	assert_true(wait_claims_add(&claims, &wait, bytes));
	assert_int_equal(claims.bytes, 2 * bytes);
	wait_claims_fini(&claims);
	assert_int_equal(claims.bytes, 0);
	assert_null(claims.last);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wait_stands_under_the_name_that_its_thread_had),
		cmocka_unit_test(without_waits_all_is_left),
		cmocka_unit_test(what_nobody_claims_is_left),
		cmocka_unit_test(claims_of_too_much_are_cut_in_proportion),
		cmocka_unit_test(claims_that_were_cut_are_made_good_later),
		cmocka_unit_test(a_wait_claims_of_a_stretch_what_lies_in_it),
		cmocka_unit_test(a_wait_heard_of_late_is_of_the_stretch_before),
		cmocka_unit_test(a_wait_behind_the_stretch_stays),
		cmocka_unit_test(a_rest_of_less_than_a_quantum_is_of_the_waits_and_settled_later),
		cmocka_unit_test(the_stack_of_a_waker_comes_in_front_of_its_wait),
		cmocka_unit_test(stacks_of_wakers_whose_wait_does_not_come_are_counted),
		cmocka_unit_test(a_wait_that_gets_nothing_has_no_record_of_its_waker),
		cmocka_unit_test(over_a_long_time_shares_are_those_of_the_waits),
		cmocka_unit_test(what_is_larger_than_the_limit_is_not_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
