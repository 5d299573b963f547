// SPDX-License-Identifier: Apache-2.0
/* What a writer puts into a record a reader gets; what a writer never puts, a reader refuses. */
#include "capture/capture_codec.h"

#include "capture/capture_format.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct bytes bytes;

static int clear(void **state)
{
	bytes_fini(&bytes);
	bytes = (struct bytes){0};
	return 0;
}

static struct capture_cursor cursor_at(const void *data, size_t len)
{
	return (struct capture_cursor){.at = data, .end = (const uint8_t *)data + len};
}

static struct capture_cursor written(void)
{
	assert_false(bytes.failed);
	return cursor_at(bytes.data, bytes.len);
}

static void check_at_end(const struct capture_cursor *cursor)
{
	assert_false(cursor->failed);
	assert_ptr_equal(cursor->at, cursor->end);
}

/* ---- numbers ---- */

static void numbers_come_back(void **state)
{
	static const uint64_t numbers[] = {0,	  1,	      127,	  128,	     16383,
					   16384, UINT32_MAX, 1ull << 63, UINT64_MAX};
	const size_t n = sizeof(numbers) / sizeof(numbers[0]);
	struct capture_cursor cursor;

	for (size_t i = 0; i < n; i++)
		bytes_add_varint(&bytes, numbers[i]);
	cursor = written();
	for (size_t i = 0; i < n; i++)
		assert_int_equal(capture_get(&cursor), numbers[i]);
	check_at_end(&cursor);
}

static void signed_numbers_come_back(void **state)
{
	static const int64_t numbers[] = {0,	     1,		-1,	   63,	      -64, 64,
					  INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, -14};
	const size_t n = sizeof(numbers) / sizeof(numbers[0]);
	struct capture_cursor cursor;

	for (size_t i = 0; i < n; i++)
		capture_put_signed(&bytes, numbers[i]);
	cursor = written();
	for (size_t i = 0; i < n; i++)
		assert_true(capture_get_signed(&cursor) == numbers[i]);
	check_at_end(&cursor);
}

static void signed_numbers_near_0_are_short(void **state)
{
	for (int64_t value = -64; value < 64; value++)
		capture_put_signed(&bytes, value);
	assert_int_equal(bytes.len, 128);
}

static void a_number_without_an_end_fails(void **state)
{
	static const uint8_t cut[] = {0x80, 0x80}, endless[] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
								0x80, 0x80, 0x80, 0x80, 0x01};
	struct capture_cursor cursor = cursor_at(cut, sizeof(cut));

	assert_int_equal(capture_get(&cursor), 0);
	assert_true(cursor.failed);
	cursor = cursor_at(endless, sizeof(endless));
	assert_int_equal(capture_get(&cursor), 0);
	assert_true(cursor.failed);
}

static void a_number_past_its_limit_fails(void **state)
{
	struct capture_cursor cursor;

	bytes_add_varint(&bytes, 7);
	bytes_add_varint(&bytes, 8);
	bytes_add_varint(&bytes, 1);
	cursor = written();
	assert_int_equal(capture_get_up_to(&cursor, 7), 7);
	assert_false(cursor.failed);
	assert_int_equal(capture_get_up_to(&cursor, 7), 0);
	assert_true(cursor.failed);
	assert_int_equal(capture_get(&cursor), 0); /* what follows a failure is not read */
}

static void a_truth_is_0_or_1(void **state)
{
	static const uint8_t said[] = {0, 1, 2};
	struct capture_cursor cursor = cursor_at(said, sizeof(said));

	assert_false(capture_get_bool(&cursor));
	assert_true(capture_get_bool(&cursor));
	assert_false(cursor.failed);
	assert_false(capture_get_bool(&cursor));
	assert_true(cursor.failed);
}

/* ---- texts and bytes ---- */

static void texts_come_back(void **state)
{
	static const char *const texts[] = {"", "a", "Gr\xc3\xbc\xc3\x9f"};
	char text[CAPTURE_MAX_TEXT] = "before";
	struct capture_cursor cursor;

	for (size_t i = 0; i < 3; i++)
		capture_put_text(&bytes, texts[i]);
	capture_put_text(&bytes, NULL);
	cursor = written();
	for (size_t i = 0; i < 3; i++) {
		capture_get_text(&cursor, text, sizeof(text));
		assert_string_equal(text, texts[i]);
	}
	capture_get_text(&cursor, text, sizeof(text));
	assert_string_equal(text, "");
	check_at_end(&cursor);
}

/* The text has len letters, and then one of two bytes. */
static size_t length_of_cut(size_t len)
{
	static char text[2 * CAPTURE_MAX_TEXT], got[CAPTURE_MAX_TEXT];
	struct capture_cursor cursor;

	clear(NULL);
	memset(text, 'x', sizeof(text));
	memcpy(text + len, "\xc3\xbc", 3);
	capture_put_text(&bytes, text);
	cursor = written();
	capture_get_text(&cursor, got, sizeof(got));
	check_at_end(&cursor);
	assert_memory_equal(got, text, strlen(got));
	return strlen(got);
}

static void a_text_that_is_too_long_is_cut_between_letters(void **state)
{
	assert_int_equal(length_of_cut(CAPTURE_MAX_TEXT - 3), CAPTURE_MAX_TEXT - 1);
	assert_int_equal(length_of_cut(CAPTURE_MAX_TEXT - 2), CAPTURE_MAX_TEXT - 2);
	assert_int_equal(length_of_cut(CAPTURE_MAX_TEXT - 1), CAPTURE_MAX_TEXT - 1);
	assert_int_equal(length_of_cut(CAPTURE_MAX_TEXT + 9), CAPTURE_MAX_TEXT - 1);
}

static void a_text_without_room_fails_and_is_empty(void **state)
{
	char small[4] = "old";
	struct capture_cursor cursor;

	capture_put_text(&bytes, "abc");
	capture_put_text(&bytes, "abcd");
	cursor = written();
	capture_get_text(&cursor, small, sizeof(small));
	assert_string_equal(small, "abc");
	assert_false(cursor.failed);
	capture_get_text(&cursor, small, sizeof(small));
	assert_string_equal(small, "");
	assert_true(cursor.failed);
}

static void a_text_with_a_nul_fails(void **state)
{
	char text[8] = "old";
	struct capture_cursor cursor;

	capture_put_data(&bytes, "a\0b", 3);
	cursor = written();
	capture_get_text(&cursor, text, sizeof(text));
	assert_string_equal(text, "");
	assert_true(cursor.failed);
}

static void bytes_are_borrowed_and_bounded(void **state)
{
	struct capture_cursor cursor;
	const uint8_t *data;
	size_t len = 99;

	capture_put_data(&bytes, "\0\1\2", 3);
	capture_put_data(&bytes, NULL, 0);
	capture_put_data(&bytes, "four", 4);
	cursor = written();
	data = capture_get_data(&cursor, 3, &len);
	assert_int_equal(len, 3);
	assert_memory_equal(data, "\0\1\2", 3);
	assert_ptr_equal(data, bytes.data + 1);
	capture_get_data(&cursor, 3, &len);
	assert_int_equal(len, 0);
	assert_false(cursor.failed);
	capture_get_data(&cursor, 3, &len);
	assert_int_equal(len, 0);
	assert_true(cursor.failed);
}

/* ---- cursors that run out ---- */

/* Exactly as many bytes as there are, so that a sanitizer sees a read behind them. */
static void every_cut_of_a_record_fails_and_reads_nothing_behind(void **state)
{
	bytes_add_varint(&bytes, 300);
	capture_put_signed(&bytes, -300);
	capture_put_text(&bytes, "text");
	capture_put_data(&bytes, "data", 4);
	bytes_add_varint(&bytes, 1);
	for (size_t len = 0; len <= bytes.len; len++) {
		uint8_t *const copy = malloc(len + 1);
		struct capture_cursor cursor = cursor_at(copy, len);
		char text[8];
		size_t n;

		assert_non_null(copy);
		memcpy(copy, bytes.data, len);
		copy[len] = 0x55; /* behind the end */
		capture_get(&cursor);
		capture_get_signed(&cursor);
		capture_get_text(&cursor, text, sizeof(text));
		capture_get_data(&cursor, 4, &n);
		capture_get_bool(&cursor);
		assert_int_equal(cursor.failed, len < bytes.len);
		assert_ptr_equal(cursor.at, cursor.end);
		free(copy);
	}
}

static void a_failed_cursor_gives_0_and_empty_texts(void **state)
{
	static const uint8_t five[] = {5, 'a', 'b'};
	struct capture_cursor cursor = cursor_at(five, sizeof(five));
	char text[8] = "old";
	size_t len = 99;

	capture_get_data(&cursor, 8, &len); /* says 5 bytes, has 2 */
	assert_true(cursor.failed);
	assert_int_equal(len, 0);
	assert_int_equal(capture_get(&cursor), 0);
	assert_true(capture_get_signed(&cursor) == 0);
	assert_false(capture_get_bool(&cursor));
	capture_get_text(&cursor, text, sizeof(text));
	assert_string_equal(text, "");
	assert_true(cursor.failed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(numbers_come_back, clear),
		cmocka_unit_test_teardown(signed_numbers_come_back, clear),
		cmocka_unit_test_teardown(signed_numbers_near_0_are_short, clear),
		cmocka_unit_test(a_number_without_an_end_fails),
		cmocka_unit_test_teardown(a_number_past_its_limit_fails, clear),
		cmocka_unit_test(a_truth_is_0_or_1),
		cmocka_unit_test_teardown(texts_come_back, clear),
		cmocka_unit_test_teardown(a_text_that_is_too_long_is_cut_between_letters, clear),
		cmocka_unit_test_teardown(a_text_without_room_fails_and_is_empty, clear),
		cmocka_unit_test_teardown(a_text_with_a_nul_fails, clear),
		cmocka_unit_test_teardown(bytes_are_borrowed_and_bounded, clear),
		cmocka_unit_test_teardown(every_cut_of_a_record_fails_and_reads_nothing_behind,
					  clear),
		cmocka_unit_test(a_failed_cursor_gives_0_and_empty_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
