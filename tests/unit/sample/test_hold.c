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

static void records_come_out_in_order_of_time(void **state)
{
	struct hold hold = {0};
	uint64_t last = 0;
	int n = 0;

	(void)state;
	srand(7);
	for (int i = 0; i < 5000; i++) {
		const uint64_t chain[] = {(uint64_t)i, 2, 3};
		const struct perf_record record = {
			.kind = PERF_SAMPLE,
			.time_ns = (uint64_t)(rand() % 1000),
			.sample = {.chain = chain, .chain_len = (uint32_t)(i % 4)},
		};

		hold_add(&hold, &record);
	}
	for (const struct perf_record *r; (r = hold_next(&hold, 499)); n++) {
		assert_true(r->time_ns >= last && r->time_ns <= 499);
		last = r->time_ns;
		if (r->sample.chain_len == 3)
			assert_int_equal(r->sample.chain[2], 3);
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

	(void)state;
	for (pid_t i = 0; i < 100; i++)
		hold_add(&hold, &(struct perf_record){.kind = PERF_EXIT, .time_ns = 5, .pid = i});
	for (pid_t i = 0; i < 100; i++)
		assert_int_equal(hold_next(&hold, 5)->pid, i);
	assert_null(hold_next(&hold, 5));
	hold_fini(&hold);
}

static void texts_are_copied(void **state)
{
	struct hold hold = {0};
	char path[] = "/lib/libc.so.6", name[] = "worker";
	const struct perf_record *r;

	(void)state;
	hold_add(&hold, &(struct perf_record){.kind = PERF_MMAP, .mmap.path = path, .time_ns = 1});
	hold_add(&hold, &(struct perf_record){.kind = PERF_COMM, .comm.name = name, .time_ns = 2});
	memset(path, 'x', sizeof(path) - 1);
	memset(name, 'x', sizeof(name) - 1);
	r = hold_next(&hold, 9);
	assert_string_equal(r->mmap.path, "/lib/libc.so.6");
	r = hold_next(&hold, 9);
	assert_string_equal(r->comm.name, "worker");
	hold_fini(&hold);
}

static void past_the_limit_records_are_counted(void **state)
{
	static uint64_t chain[4096];
	const struct perf_record record = {.kind = PERF_SAMPLE,
					   .sample = {.chain = chain, .chain_len = 4096}};
	struct hold hold = {0};
	const int n = HOLD_MAX_BYTES / sizeof(chain) + 10;

	(void)state;
	for (int i = 0; i < n; i++)
		hold_add(&hold, &record);
	assert_true(hold.dropped >= 10);
	assert_int_equal(hold.count + hold.dropped, n);
	assert_true(hold.bytes <= HOLD_MAX_BYTES);
	hold_fini(&hold);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_come_out_in_order_of_time),
		cmocka_unit_test(equal_times_keep_their_order),
		cmocka_unit_test(texts_are_copied),
		cmocka_unit_test(past_the_limit_records_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
