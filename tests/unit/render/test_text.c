// SPDX-License-Identifier: Apache-2.0
/* Names from outside as UTF-8, XML and in colour; numbers as digits. */
#include "encode/decimal.h"
#include "encode/text.h"
#include "render/kinds.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void check_clean(const char *text, const char *expected)
{
	struct bytes out = {0};

	text_clean(&out, text, "?");
	assert_string_equal(bytes_text(&out), expected);
	bytes_fini(&out);
}

static void check_xml(const char *text, const char *expected)
{
	struct bytes added = {0};
	char *out = NULL;
	size_t len = 0;
	FILE *const stream = open_memstream(&out, &len);

	assert_non_null(stream);
	text_write_xml(stream, text);
	fclose(stream);
	assert_string_equal(out, expected);
	free(out);
	text_add_xml(&added, text);
	assert_string_equal(bytes_text(&added), expected);
	bytes_fini(&added);
}

static void what_is_bad_becomes_the_mark(void **state)
{
	check_clean("", "");
	check_clean("caf\xc3\xa9.<init>", "caf\xc3\xa9.<init>");
	check_clean("a\tb\xef\xbb\xbf\xff\xc3", "a?b???");
}

/* What is bad is decided byte by byte up to the end, however short the rest. */
static void code_points_come_one_by_one(void **state)
{
	const char *text = "a\xf0\x9f\x94\xa5\xe2\x82";

	assert_int_equal(text_next(&text), 'a');
	assert_int_equal(text_next(&text), 0x1f525);
	assert_int_equal(text_next(&text), TEXT_BAD);
	assert_int_equal(text_next(&text), TEXT_BAD);
	assert_int_equal(text_next(&text), TEXT_END);
	assert_int_equal(text_next(&text), TEXT_END);
}

static void markup_is_escaped(void **state)
{
	check_xml("<a href=\"x\">'&'</a>]]>",
		  "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;]]&gt;");
	check_xml("\x01\xff", "\xef\xbf\xbd\xef\xbf\xbd");
}

static double channel_light(uint32_t channel)
{
	const double c = channel / 255.0;

	return c <= 0.03928 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

static void check_decimal(double value)
{
	struct bytes out = {0};
	char expected[400];

	for (unsigned places = 0; places <= DECIMAL_MAX_PLACES; places++) {
		out.len = 0;
		decimal_add(&out, value, places);
		snprintf(expected, sizeof(expected), "%.*f", (int)places, value);
		assert_string_equal(bytes_text(&out), expected);
	}
	bytes_fini(&out);
}

static void decimals_are_those_of_printf(void **state)
{
	static const double values[] = {
		0,     0.0,    -0.0,   0.5,   1.5,    2.5,     0.05,	 0.125,	  0.375, 1.005,
		2.675, 0.045,  0.995,  9.995, 99.995, 999.999, 1e15 - 1, 1e15,	  1e17,	 1e300,
		-1,    -0.001, 1e-300, 0.285, 1.115,  4.35,    1024.125, INFINITY};
	uint64_t random = 1;

	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
		check_decimal(values[i]);
	check_decimal(NAN);
	for (int i = 0; i < 100000; i++) {
		random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
		check_decimal((double)(random >> 40) / 8000);
		check_decimal((double)(random >> 30) / 128);
	}
}

static void whole_numbers_have_all_digits(void **state)
{
	struct bytes out = {0};

	decimal_add_whole(&out, 0);
	bytes_add_char(&out, ' ');
	decimal_add_whole(&out, 1090);
	bytes_add_char(&out, ' ');
	decimal_add_whole(&out, UINT64_MAX);
	assert_string_equal(bytes_text(&out), "0 1090 18446744073709551615");
	bytes_fini(&out);
}

/* WCAG 2.1: (L1 + 0.05) / (L2 + 0.05), black being 0. */
static void black_is_legible_on_every_colour(void **state)
{
	for (int kind = 0; kind < KINDS; kind++)
		for (unsigned shade = 0; shade < KIND_SHADES; shade++) {
			const uint32_t rgb = kind_rgb((enum kind)kind, shade);
			const double light = 0.2126 * channel_light(rgb >> 16) +
					     0.7152 * channel_light(rgb >> 8 & 255) +
					     0.0722 * channel_light(rgb & 255);

			assert_true((light + 0.05) / 0.05 >= 4.5);
		}
}

static void colours_follow_the_kind_not_the_name(void **state)
{
	assert_int_equal(kind_of(FRAME_JIT, "a::b"), KIND_JIT);
	assert_int_equal(kind_of(FRAME_NATIVE_WRAPPER, "a/B.c"), KIND_JIT);
	assert_int_equal(kind_of(FRAME_JVM, "JVM_Sleep"), KIND_CPP);
	assert_int_equal(kind_of(FRAME_NATIVE, "std::sort"), KIND_CPP);
	assert_int_equal(kind_of(FRAME_NATIVE, "deflate"), KIND_NATIVE);
	assert_int_equal(kind_of(FRAME_NATIVE_INLINED, "deflate"), KIND_NATIVE);
	assert_int_equal(kind_of(FRAME_KERNEL, "a::b"), KIND_KERNEL);
	assert_int_equal(kind_of(FRAME_WAIT, "[runnable]"), KIND_WAIT);
	for (int kind = 0; kind < KINDS; kind++)
		assert_non_null(kind_title((enum kind)kind));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_bad_becomes_the_mark),
		cmocka_unit_test(code_points_come_one_by_one),
		cmocka_unit_test(markup_is_escaped),
		cmocka_unit_test(decimals_are_those_of_printf),
		cmocka_unit_test(whole_numbers_have_all_digits),
		cmocka_unit_test(black_is_legible_on_every_colour),
		cmocka_unit_test(colours_follow_the_kind_not_the_name),
	};

	return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
