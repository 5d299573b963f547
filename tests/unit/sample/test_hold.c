// SPDX-License-Identifier: Apache-2.0
/* Records come out in order of time, not before their time, with what they lent copied. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "sample/hold.h"
#include "sample/sample_regs.h"

static void records_come_out_in_order_of_time(void **state)
{
	struct hold hold = {0};
	uint64_t last = 0;
	int n = 0;

	srand(7);
	for (int i = 0; i < 5000; i++) {
		const uint64_t chain[] = {(uint64_t)i, 2, 3};
		const struct record record = {
			.kind = RECORD_SAMPLE,
			.time_ns = (uint64_t)(rand() % 1000),
			.sample = {.kernel = {chain, (uint32_t)(i % 4)}},
		};

		hold_add(&hold, &record);
	}
	for (const struct record *r; (r = hold_next(&hold, 499)); n++) {
		assert_true(r->time_ns >= last && r->time_ns <= 499);
		last = r->time_ns;
		if (r->sample.kernel.len == 3)
			assert_int_equal(r->sample.kernel.addrs[2], 3);
	}
	assert_true(n > 2000 && n < 3000);
	for (; hold_next(&hold, UINT64_MAX); n++)
		;
	assert_int_equal(n, 5000);
	assert_int_equal(hold.bytes, 0);
	hold_fini(&hold);
}

static void equal_times_keep_their_order(void **state)
{
	struct hold hold = {0};

	for (pid_t i = 0; i < 100; i++)
		hold_add(&hold, &(struct record){.kind = RECORD_EXIT, .time_ns = 5, .pid = i});
	for (pid_t i = 0; i < 100; i++)
		assert_int_equal(hold_next(&hold, 5)->pid, i);
	assert_null(hold_next(&hold, 5));
	hold_fini(&hold);
}

static void what_is_put_back_comes_first_again(void **state)
{
	struct hold hold = {0};
	size_t bytes;

	for (pid_t i = 0; i < 10; i++)
		hold_add(&hold, &(struct record){.kind = RECORD_EXIT, .time_ns = 5, .pid = i});
	assert_int_equal(hold_oldest_ns(&hold), 5);
	bytes = hold.bytes;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(hold_next(&hold, 5)->pid, 0);
		hold_put_back(&hold);
		assert_int_equal(hold.bytes, bytes);
	}
	for (pid_t i = 0; i < 10; i++)
		assert_int_equal(hold_next(&hold, 5)->pid, i);
	assert_null(hold_next(&hold, 5));
	assert_int_equal(hold_oldest_ns(&hold), UINT64_MAX);
	hold_put_back(&hold); /* nothing was lent */
	assert_int_equal(hold.count, 0);
	hold_fini(&hold);
}

static void texts_are_copied(void **state)
{
	struct hold hold = {0};
	char path[] = "/lib/libc.so.6", name[] = "worker";
	const struct record *r;

	hold_add(&hold, &(struct record){.kind = RECORD_MMAP, .mmap.path = path, .time_ns = 1});
	hold_add(&hold,
		 &(struct record){.kind = RECORD_KSYMBOL, .ksymbol.name = name, .time_ns = 2});
	memset(path, 'x', sizeof(path) - 1);
	memset(name, 'x', sizeof(name) - 1);
	r = hold_next(&hold, 9);
	assert_string_equal(r->mmap.path, "/lib/libc.so.6");
	r = hold_next(&hold, 9);
	assert_string_equal(r->ksymbol.name, "worker");
	hold_fini(&hold);
}

/* A sample with n frames, registers and stack_len bytes of a stack, all of them made of seed. */
static struct record sample_of(uint64_t seed, uint32_t n, uint32_t stack_len)
{
	static uint64_t chain[4], regs[SAMPLE_REGS_COUNT];
	static uint8_t stack[256];

	for (size_t i = 0; i < 4; i++)
		chain[i] = seed + i;
	for (size_t i = 0; i < SAMPLE_REGS_COUNT; i++)
		regs[i] = ~seed - i;
	for (size_t i = 0; i < sizeof(stack); i++)
		stack[i] = (uint8_t)(seed * 7 + i);
	return (struct record){
		.kind = RECORD_SAMPLE,
		.time_ns = seed,
		.sample = {.kernel = {chain, n},
			   .user = {chain + n / 2, n - n / 2},
			   .regs = regs,
			   .stack = stack_len ? stack : NULL,
			   .stack_len = stack_len},
	};
}

static void assert_same_chain(const struct sample_chain *held, const struct sample_chain *sent)
{
	assert_int_equal(held->len, sent->len);
	if (sent->len == 0)
		return;
	assert_ptr_not_equal(held->addrs, sent->addrs);
	assert_memory_equal(held->addrs, sent->addrs, sent->len * sizeof(uint64_t));
}

static void registers_and_stacks_are_copied(void **state)
{
	struct hold hold = {0};

	for (uint32_t i = 0; i < 200; i++) {
		const struct record record = sample_of(i, i % 5, i);

		hold_add(&hold, &record);
	}
	for (uint32_t i = 0; i < 200; i++) {
		const struct sample *held = &hold_next(&hold, UINT64_MAX)->sample;
		const struct sample sent = sample_of(i, i % 5, i).sample;

		assert_same_chain(&held->kernel, &sent.kernel);
		assert_same_chain(&held->user, &sent.user);
		assert_ptr_not_equal(held->regs, sent.regs);
		assert_memory_equal(held->regs, sent.regs, SAMPLE_REGS_COUNT * sizeof(uint64_t));
		assert_int_equal(held->stack_len, i);
		if (i == 0)
			assert_null(held->stack);
		else
			assert_memory_equal(held->stack, sent.stack, i);
	}
	assert_int_equal(hold.bytes, 0);
	hold_fini(&hold);
}

static void sample_without_registers_has_none_when_it_comes_out(void **state)
{
	const uint64_t chain[] = {1, 2};
	struct hold hold = {0};
	const struct record *r;

	hold_add(&hold, &(struct record){.kind = RECORD_SAMPLE, .sample = {.user = {chain, 2}}});
	r = hold_next(&hold, UINT64_MAX);
	assert_null(r->sample.regs);
	assert_null(r->sample.stack);
	assert_int_equal(r->sample.user.addrs[1], 2);
	hold_fini(&hold);
}

static void stacks_count_as_far_as_they_are_real(void **state)
{
	const size_t around =
		48; /* a record that is held: its place in order, its chunk's header */
	static uint8_t stack[32768];
	const struct record record = {.kind = RECORD_SAMPLE,
				      .sample = {.stack = stack, .stack_len = 100}};
	struct hold hold = {0};
	const size_t n = HOLD_MAX_BYTES / sizeof(stack);

	for (size_t i = 0; i < n; i++)
		hold_add(&hold, &record);
	assert_int_equal(hold.stacks_left_out, 0);
	assert_true(hold.bytes >= n * (sizeof(record) + 100));
	assert_true(hold.bytes < n * (sizeof(record) + 100 + around));
	hold_fini(&hold);
}

static void less_room_leaves_out_more(void **state)
{
	static uint8_t stack[32768];
	const struct record record = {.kind = RECORD_SAMPLE,
				      .sample = {.stack = stack, .stack_len = sizeof(stack)}};
	struct hold hold = {.max_bytes = 1 << 20};

	for (size_t i = 0; i < 100; i++)
		hold_add(&hold, &record);
	assert_true(hold.stacks_left_out > 70 && hold.stacks_left_out < 80);
	assert_true(hold.bytes <= hold.max_bytes);
	hold_fini(&hold);
}

static void too_many_stacks_are_left_out_and_counted_but_their_samples_stay(void **state)
{
	static uint8_t stack[32768];
	struct record record = sample_of(7, 3, 0);
	struct hold hold = {0};
	const size_t n = 2 * (HOLD_MAX_BYTES / sizeof(stack));
	size_t without = 0;

	record.sample.stack = stack;
	record.sample.stack_len = sizeof(stack);
	for (size_t i = 0; i < n; i++)
		hold_add(&hold, &record);
	assert_int_equal(hold.dropped, 0);
	assert_int_equal(hold.count, n);
	assert_true(hold.bytes <= HOLD_MAX_BYTES);
	for (const struct record *r; (r = hold_next(&hold, UINT64_MAX));) {
		assert_int_equal(r->sample.kernel.len, 3);
		assert_int_equal(r->sample.user.len, 2);
		assert_non_null(r->sample.regs);
		assert_true((r->sample.stack == NULL) == (r->sample.stack_len == 0));
		without += r->sample.stack == NULL;
	}
	assert_true(without > n / 2 && without < n);
	assert_int_equal(without, hold.stacks_left_out);
	hold_add(&hold, &record); /* there is room again */
	assert_non_null(hold_next(&hold, UINT64_MAX)->sample.stack);
	hold_fini(&hold);
}

static void past_the_limit_records_are_counted(void **state)
{
	static uint64_t chain[4096];
	const struct record record = {.kind = RECORD_SAMPLE, .sample = {.kernel = {chain, 4096}}};
	struct hold hold = {0};
	const int n = HOLD_MAX_BYTES / sizeof(chain) + 10;

	for (int i = 0; i < n; i++)
		hold_add(&hold, &record);
	assert_true(hold.dropped >= 10);
	assert_int_equal(hold.count + hold.dropped, n);
	assert_int_equal(hold.samples, hold.count);
	assert_int_equal(hold.dropped_samples, hold.dropped);
	assert_true(hold.bytes <= HOLD_MAX_BYTES);
	hold_fini(&hold);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_come_out_in_order_of_time),
		cmocka_unit_test(equal_times_keep_their_order),
		cmocka_unit_test(what_is_put_back_comes_first_again),
		cmocka_unit_test(texts_are_copied),
		cmocka_unit_test(registers_and_stacks_are_copied),
		cmocka_unit_test(sample_without_registers_has_none_when_it_comes_out),
		cmocka_unit_test(stacks_count_as_far_as_they_are_real),
		cmocka_unit_test(less_room_leaves_out_more),
		cmocka_unit_test(too_many_stacks_are_left_out_and_counted_but_their_samples_stay),
		cmocka_unit_test(past_the_limit_records_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
