// SPDX-License-Identifier: Apache-2.0
/* The record buffer: order, bounds, whole records. */
#include "agent/buffer.h"

#include "shared/wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* Appends a record of that many bytes whose payload is filled with mark. */
static bool put(struct buffer *buffer, size_t bytes, uint8_t mark)
{
	uint8_t *room = buffer_reserve(buffer, bytes);
	const uint32_t payload = (uint32_t)(bytes - WIRE_RECORD_HEADER_BYTES);

	if (!room)
		return false;
	memset(room, 0, WIRE_RECORD_HEADER_BYTES);
	for (int i = 0; i < 4; i++)
		room[4 + i] = (uint8_t)(payload >> (8 * i));
	memset(room + WIRE_RECORD_HEADER_BYTES, mark, payload);
	buffer_commit(buffer, room, bytes);
	return true;
}

/* Takes one record and checks its length and filling. */
static void check_next(struct buffer *buffer, size_t bytes, uint8_t mark)
{
	const uint8_t *record;

	assert_int_equal(buffer_peek(buffer, 1, &record), bytes);
	for (size_t i = WIRE_RECORD_HEADER_BYTES; i < bytes; i++)
		assert_int_equal(record[i], mark);
	buffer_consume(buffer, bytes);
}

static void records_come_out_in_order(void **state)
{
	uint8_t storage[100];
	struct buffer buffer;

	buffer_init(&buffer, storage, sizeof(storage));
	assert_true(put(&buffer, 40, 1));
	assert_true(put(&buffer, 50, 2));
	assert_false(put(&buffer, 20, 3));
	check_next(&buffer, 40, 1);
	assert_true(put(&buffer, 20, 3));
	assert_true(put(&buffer, 20, 4));
	assert_false(put(&buffer, 9, 5));
	check_next(&buffer, 50, 2);
	check_next(&buffer, 20, 3);
	check_next(&buffer, 20, 4);
	assert_int_equal(buffer.n_records, 0);
	assert_int_equal(buffer_used_bytes(&buffer), 0);
}

static void a_smaller_size_keeps_what_lies_behind_it(void **state)
{
	uint8_t storage[200];
	struct buffer buffer;

	(void)state;
	buffer_init(&buffer, storage, 50);
	assert_true(put(&buffer, 40, 1));
	assert_false(put(&buffer, 40, 2));
	buffer_resize(&buffer, sizeof(storage));
	assert_true(put(&buffer, 40, 2));
	assert_true(put(&buffer, 40, 3));
	buffer_resize(&buffer, 50);
	assert_int_equal(buffer_used_end(&buffer), 120);
	assert_false(put(&buffer, 9, 4));
	check_next(&buffer, 40, 1);
	check_next(&buffer, 40, 2);
	assert_false(put(&buffer, 60, 4));
	assert_true(put(&buffer, 45, 4));
	check_next(&buffer, 40, 3);
	assert_int_equal(buffer_used_end(&buffer), 45);
	check_next(&buffer, 45, 4);
}

static void an_empty_buffer_takes_its_whole_size(void **state)
{
	uint8_t storage[100];
	struct buffer buffer;

	buffer_init(&buffer, storage, sizeof(storage));
	assert_true(put(&buffer, 30, 1));
	check_next(&buffer, 30, 1);
	assert_true(put(&buffer, 100, 2));
	assert_false(put(&buffer, 8, 3));
	check_next(&buffer, 100, 2);
	assert_false(put(&buffer, 101, 4));
}

static void peek_gives_whole_records_up_to_max(void **state)
{
	uint8_t storage[100];
	struct buffer buffer;
	const uint8_t *records;

	buffer_init(&buffer, storage, sizeof(storage));
	assert_int_equal(buffer_peek(&buffer, 100, &records), 0);
	put(&buffer, 20, 1);
	put(&buffer, 20, 2);
	put(&buffer, 20, 3);
	assert_int_equal(buffer_peek(&buffer, 59, &records), 40);
	assert_int_equal(buffer_peek(&buffer, 60, &records), 60);
	assert_int_equal(buffer_peek(&buffer, 5, &records), 20);
	buffer_consume(&buffer, 40);
	assert_int_equal(buffer.n_records, 1);
}

static void no_storage_is_no_room(void **state)
{
	struct buffer buffer = {0};
	const uint8_t *records;

	assert_false(put(&buffer, 8, 1));
	assert_int_equal(buffer_peek(&buffer, 100, &records), 0);
	buffer_init(&buffer, NULL, 100);
	assert_false(put(&buffer, 8, 1));
}

/* Against a simple queue of what was put, for many sizes and fillings. */
static void any_sequence_keeps_every_record(void **state)
{
	enum { STEPS = 200000, QUEUE = 4096 };
	static struct {
		size_t bytes;
		uint8_t mark;
	} queue[QUEUE];
	uint8_t *storage = malloc(1000);
	struct buffer buffer;
	size_t head = 0, tail = 0;
	uint32_t random = 1;

	buffer_init(&buffer, storage, 1000);
	for (int step = 0; step < STEPS; step++) {
		const size_t bytes = 8 + (random >> 8) % ((random >> 4) % 5 ? 60 : 600);

		random = random * 1664525u + 1013904223u;
		if ((random >> 16) % 2 && put(&buffer, bytes, (uint8_t)step)) {
			queue[head % QUEUE].bytes = bytes;
			queue[head++ % QUEUE].mark = (uint8_t)step;
		} else if (tail < head && (random >> 17) % 2) {
			check_next(&buffer, queue[tail % QUEUE].bytes, queue[tail % QUEUE].mark);
			tail++;
		}
		assert_int_equal(buffer.n_records, head - tail);
	}
	assert_true(tail > STEPS / 20);
	free(storage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_come_out_in_order),
		cmocka_unit_test(a_smaller_size_keeps_what_lies_behind_it),
		cmocka_unit_test(an_empty_buffer_takes_its_whole_size),
		cmocka_unit_test(peek_gives_whole_records_up_to_max),
		cmocka_unit_test(no_storage_is_no_room),
		cmocka_unit_test(any_sequence_keeps_every_record),
	};

	return cmocka_run_group_tests_name("agent buffer", tests, NULL, NULL);
}
