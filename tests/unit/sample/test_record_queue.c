// SPDX-License-Identifier: Apache-2.0
/* Claims about sample/record_queue.h. */
#include "sample/record_queue.h"
#include "sample/sample_regs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

struct seen {
	uint64_t next_ns;
	size_t n;
};

static void add_of(struct record_queue *queue, uint64_t time_ns, uint64_t group, size_t n_groups,
		   bool expected)
{
	uint64_t regs[SAMPLE_REGS_COUNT] = {time_ns}, kernel[] = {1, 2, time_ns};
	uint8_t stack[24];
	const struct record record = {.kind = RECORD_SAMPLE,
				      .time_ns = time_ns,
				      .sample = {.weight = 1,
						 .regs = regs,
						 .kernel = {kernel, 3},
						 .stack = stack,
						 .stack_len = sizeof(stack)}};

	memset(stack, (int)time_ns, sizeof(stack));
	assert_int_equal(record_queue_add(queue, &record, group, n_groups), expected);
	memset(regs, 0, sizeof(regs)); /* what was added is a copy */
	memset(kernel, 0, sizeof(kernel));
	memset(stack, 0, sizeof(stack));
}

static void add(struct record_queue *queue, uint64_t time_ns, bool expected)
{
	add_of(queue, time_ns, 0, 1, expected);
}

static void on_record(void *arg, const struct record *record)
{
	struct seen *const seen = arg;
	const struct sample *const sample = &record->sample;

	assert_int_equal(record->time_ns, seen->next_ns++);
	assert_int_equal(sample->regs[0], record->time_ns);
	assert_int_equal(sample->kernel.len, 3);
	assert_int_equal(sample->kernel.addrs[2], record->time_ns);
	assert_int_equal(sample->stack[23], (uint8_t)record->time_ns);
	seen->n++;
}

static void copies_come_in_order_and_in_parts(void **state)
{
	struct record_queue queue = {.max_bytes = 1 << 20}, taken;
	struct seen seen = {.next_ns = 1};

	for (uint64_t i = 1; i <= 10; i++)
		add(&queue, i, true);
	record_queue_take(&queue, 3, &taken);
	record_queue_drain(&taken, on_record, &seen);
	assert_int_equal(seen.n, 3);
	add(&queue, 11, true);
	record_queue_take(&queue, 100, &taken);
	assert_null(queue.first);
	assert_int_equal(queue.bytes, 0);
	record_queue_drain(&taken, on_record, &seen);
	assert_int_equal(seen.n, 11);
	add(&queue, 12, true);
	record_queue_take(&queue, 100, &taken);
	record_queue_drain(&taken, on_record, &seen);
	assert_int_equal(seen.n, 12);
	record_queue_take(&queue, 100, &taken);
	assert_null(taken.first);
	record_queue_fini(&queue);
}

static void past_the_limit_there_is_no_room(void **state)
{
	struct record_queue queue = {.max_bytes = 1000}, taken, empty = {0};
	uint64_t n = 1;

	add(&empty, 1, false);
	while (queue.bytes < queue.max_bytes)
		add(&queue, n++, true);
	assert_true(n < 10);
	add(&queue, n, false);
	record_queue_take(&queue, 1, &taken);
	record_queue_fini(&taken);
	add(&queue, n, true);
	record_queue_fini(&queue);
	assert_int_equal(queue.bytes, 0);
}

static void who_adds_without_end_leaves_the_others_their_part(void **state)
{
	struct record_queue queue = {.max_bytes = 40000}, taken;
	uint64_t n = 1, others = 0;
	size_t size;

	add_of(&queue, n++, 7, 2, true);
	size = queue.bytes;
	while (queue.bytes < queue.max_bytes / 2)
		add_of(&queue, n++, 7, 2, true);
	add_of(&queue, n, 7, 2, false); /* has come first, and has its own part so too */
	for (; others * size < queue.max_bytes / 4; n++, others++)
		add_of(&queue, n, 8, 2, true);
	add_of(&queue, n, 8, 2, false);
	assert_true(others > 10);
	assert_int_equal(queue.groups.count, 2);
	record_queue_take(&queue, (size_t)(n - 1 - others), &taken);
	record_queue_fini(&taken);
	assert_int_equal(queue.groups.count, 1);
	add_of(&queue, n, 7, 2, true);
	record_queue_take(&queue, SIZE_MAX, &taken);
	assert_int_equal(queue.groups.count, 0);
	record_queue_fini(&taken);
	record_queue_fini(&queue);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies_come_in_order_and_in_parts),
		cmocka_unit_test(past_the_limit_there_is_no_room),
		cmocka_unit_test(who_adds_without_end_leaves_the_others_their_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
