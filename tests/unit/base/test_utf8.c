// SPDX-License-Identifier: Apache-2.0
/* What is UTF-8, what of it may be shown, and where a text may be cut. */
#include "base/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void check_clean(const char *text, const char *expected)
{
	char ret[64];

	assert_true(utf8_clean(text, strlen(text), ret, sizeof(ret)));
	assert_string_equal(ret, expected);
}

static void good_text_is_kept(void **state)
{
	check_clean("", "");
	check_clean("java/lang/String.<init>", "java/lang/String.<init>");
	check_clean("\xc3\xa4\xe2\x82\xac\xf0\x9f\x94\xa5", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x94\xa5");
	check_clean(
		"\xc2\xa0\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbd",
		"\xc2\xa0\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbd"); /* edges of what is harmful */
}

static void what_is_no_utf8_is_replaced_byte_by_byte(void **state)
{
	check_clean("\xff\xfe", "??");
	check_clean("a\x80"
		    "b",
		    "a?b");
	check_clean("a\xc3", "a?");
	check_clean("\xe2\x82", "??");
	check_clean("\xf0\x9f\x94", "???");
	check_clean("\xc0\xaf", "??");		 /* '/' in two bytes */
	check_clean("\xe0\x80\xaf", "???");	 /* in three */
	check_clean("\xf0\x80\x80\xaf", "????"); /* and in four */
	check_clean("\xed\xa0\x80", "???");	 /* half a surrogate pair */
	check_clean("\xed\xbf\xbf", "???");
	check_clean("\xf4\x90\x80\x80", "????"); /* past U+10FFFF */
	check_clean("\xf8\x88\x80\x80\x80", "?????");
}

struct range {
	uint32_t first, last;
};

/* By the table below and for every code point there is, through the reader. */
static void harmful_characters_are_these_and_no_others(void **state)
{
	static const struct range harmful[] = {
		{0x00, 0x1f},	  {0x7f, 0x9f},	    {0x61c, 0x61c},   {0x200e, 0x200f},
		{0x2028, 0x202e}, {0x2066, 0x2069}, {0xfdd0, 0xfdef}, {0xfeff, 0xfeff},
	};

	for (uint32_t code = 0; code <= 0x10ffff; code++) {
		bool expected = (code & 0xffff) >= 0xfffe;
		char bytes[UTF8_MAX_BYTES];
		const size_t len = utf8_encode(code, bytes);
		uint32_t back;

		assert_int_equal(len == 0, code >= 0xd800 && code <= 0xdfff);
		if (len == 0)
			continue;
		for (size_t i = 0; i < sizeof(harmful) / sizeof(*harmful); i++)
			expected |= code >= harmful[i].first && code <= harmful[i].last;
		assert_int_equal(utf8_is_harmful(code), expected);
		assert_int_equal(utf8_next(bytes, len, &back), len);
		assert_int_equal(back, expected ? UTF8_BAD : code);
	}
	assert_int_equal(utf8_encode(0x110000, (char[UTF8_MAX_BYTES]){0}), 0);
}

static void what_steers_a_terminal_or_misleads_a_reader_is_replaced(void **state)
{
	check_clean("\x1b]0;x\a\n\x7f", "?]0;x???");
	check_clean("a\xc2\x9b"
		    "31mb",
		    "a?31mb"); /* CSI as a C1 control */
	check_clean("a\xe2\x80\xae"
		    "gpj.exe",
		    "a?gpj.exe"); /* right to left */
	check_clean("\xe2\x81\xa6"
		    "a\xe2\x81\xa9",
		    "?a?"); /* isolates */
	check_clean("a\xe2\x80\xa8\xe2\x80\xa9"
		    "b",
		    "a??b");		      /* ends of a line and of a paragraph */
	check_clean("\xef\xbb\xbfx", "?x");   /* the byte order mark */
	check_clean("\xef\xbf\xbe", "?");     /* U+FFFE */
	check_clean("\xf0\x9f\xbf\xbf", "?"); /* U+1FFFF */
}

static void texts_are_cut_between_characters(void **state)
{
	char ret[4];

	assert_false(utf8_clean("ab\xc3\xa9", 4, ret, sizeof(ret)));
	assert_string_equal(ret, "ab");
	assert_true(utf8_clean("abc", 3, ret, sizeof(ret)));
	assert_string_equal(ret, "abc");
	assert_false(utf8_clean("a", 1, ret, 1));
	assert_string_equal(ret, "");
	assert_int_equal(utf8_cut("ab\xc3\xa9", 4, 3), 2);
	assert_int_equal(utf8_cut("ab\xc3\xa9", 4, 4), 4);
	assert_int_equal(utf8_cut("\x80\x80\x80\x80\x80\x80", 6, 5), 5); /* no text at all */
	assert_int_equal(utf8_cut("a\x80\x80\x80\x80\x80", 6, 5), 5);
	assert_int_equal(utf8_cut("abc", 3, 0), 0);
}

static void a_text_is_cleaned_where_it_stands(void **state)
{
	char text[] = "  \xc2\x85\xc3\xa9\xff";

	assert_true(utf8_clean(text + 2, strlen(text + 2), text, sizeof(text)));
	assert_string_equal(text, "?\xc3\xa9?");
	assert_true(utf8_clean(text, strlen(text), text, strlen(text) + 1));
	assert_string_equal(text, "?\xc3\xa9?");
}

#define DIGITS	"0123456789"
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

static const char lower_digits[] = "0123456789abcdef", upper_digits[] = "0123456789ABCDEF";

/* Of all characters, those above 127 too. */
static void a_character_is_what_it_is_in_ascii(void **state)
{
	for (int i = 1; i < 256; i++) {
		const char c = (char)i;
		const char *const lower = strchr(lower_digits, c);
		const char *const upper = strchr(upper_digits, c);

		assert_int_equal(ascii_is_digit(c), strchr(DIGITS, c) != NULL);
		assert_int_equal(ascii_is_letter(c), strchr(LETTERS, c) != NULL);
		assert_int_equal(ascii_hex_lower(c), lower ? lower - lower_digits : -1);
		assert_int_equal(ascii_hex(c), lower   ? ascii_hex_lower(c)
					       : upper ? upper - upper_digits
						       : -1);
	}
	assert_false(ascii_is_digit('\0') || ascii_is_letter('\0'));
	assert_int_equal(ascii_hex('\0'), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_character_is_what_it_is_in_ascii),
		cmocka_unit_test(good_text_is_kept),
		cmocka_unit_test(what_is_no_utf8_is_replaced_byte_by_byte),
		cmocka_unit_test(harmful_characters_are_these_and_no_others),
		cmocka_unit_test(what_steers_a_terminal_or_misleads_a_reader_is_replaced),
		cmocka_unit_test(texts_are_cut_between_characters),
		cmocka_unit_test(a_text_is_cleaned_where_it_stands),
	};

	return cmocka_run_group_tests_name("utf8", tests, NULL, NULL);
}
