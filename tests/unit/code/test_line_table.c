// SPDX-License-Identifier: Apache-2.0
/* HotSpot's packed line number tables, in both ways of writing numbers, whole and broken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "code/line_table.h"

#define TABLE(array, biased)                                                                       \
	&(const struct line_table)                                                                 \
	{                                                                                          \
		.bytes = (array), .len = sizeof(array), .is_biased = (biased)                      \
	}

/* Bytecode 0: line 7; 5: line 10; 9: line 9, which takes numbers; 300: line 409. */
static const uint8_t plain[] = {0x07, 0x2b, 0xff, 8, 1, 0xff, 198, 6, 224, 9, 0x00, 99, 99};
static const uint8_t biased[] = {0x07, 0x2b, 0xff, 9, 2, 0xff, 199, 7, 225, 10, 0x00, 99, 99};

static void check_lines(const struct line_table *table)
{
	assert_int_equal(line_table_find(table, 0), 7);
	assert_int_equal(line_table_find(table, 4), 7);
	assert_int_equal(line_table_find(table, 5), 10);
	assert_int_equal(line_table_find(table, 9), 9);
	assert_int_equal(line_table_find(table, 299), 9);
	assert_int_equal(line_table_find(table, 300), 409);
	assert_int_equal(line_table_find(table, 65535), 409);
	assert_int_equal(line_table_find(table, -1), 0);
}

static void lines_are_found_in_both_ways_of_writing(void **state)
{
	check_lines(TABLE(plain, false));
	check_lines(TABLE(biased, true));
}

static void a_table_ends_at_its_mark(void **state)
{
	assert_int_equal(line_table_bytes(TABLE(plain, false)), sizeof(plain) - 2);
	assert_int_equal(line_table_bytes(TABLE(biased, true)), sizeof(biased) - 2);
}

static void a_broken_table_ends_where_it_breaks(void **state)
{
	static const uint8_t endless[] = {0x07, 0x0a, 0x0a}, cut[] = {0x0a, 0xff, 200, 200},
			     wild[] = {0x0a, 0xff, 255, 255, 255, 255, 255, 2, 0},
			     unbiased[] = {0x0a, 0xff, 225, 0, 9, 0};

	assert_int_equal(line_table_bytes(TABLE(endless, false)), 0);
	assert_int_equal(line_table_find(TABLE(endless, false), 3), 11);
	assert_int_equal(line_table_bytes(TABLE(cut, false)), 0);
	assert_int_equal(line_table_find(TABLE(cut, false), 9), 2);
	assert_int_equal(line_table_bytes(TABLE(wild, false)), 0);
	assert_int_equal(line_table_find(TABLE(wild, false), 9), 2);
	assert_int_equal(line_table_find(TABLE(unbiased, true), 99), 2);
	assert_int_equal(line_table_bytes(&(const struct line_table){0}), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_found_in_both_ways_of_writing),
		cmocka_unit_test(a_table_ends_at_its_mark),
		cmocka_unit_test(a_broken_table_ends_where_it_breaks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
