// SPDX-License-Identifier: Apache-2.0
/* Claims about container/label_set.h: texts of outside are harmless, and labels are bounded. */
#include "container/label_set.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void check_text(const char *text, const char *wanted)
{
	char ret[64];

	assert_true(outside_text(text, strlen(text), ret, sizeof(ret)));
	assert_string_equal(ret, wanted);
}

static void what_steers_a_terminal_or_misleads_a_reader_is_replaced(void **state)
{
	(void)state;
	check_text("web-1", "web-1");
	check_text("\x1b]0;x\a\n\x7f", "?]0;x???");
	check_text("a\xc2\x9b"
		   "31mb",
		   "a?31mb"); /* CSI as a C1 control */
	check_text("a\xe2\x80\xae"
		   "gpj.exe",
		   "a?gpj.exe"); /* right to left */
	check_text("a\xe2\x80\xa8"
		   "b",
		   "a?b"); /* a line's end */
	check_text("caf\xc3\xa9 \xf0\x9f\x8d\x95", "caf\xc3\xa9 \xf0\x9f\x8d\x95");
}

static void what_is_no_utf8_is_replaced_byte_by_byte(void **state)
{
	(void)state;
	check_text("\xff\xfe", "??");
	check_text("\xc0\xaf", "??");	   /* '/' in two bytes */
	check_text("\xed\xa0\x80", "???"); /* half a surrogate pair */
	check_text("\xf4\x90\x80\x80", "????");
	check_text("a\xc3", "a?");
	check_text("\xe2\x82", "??");
}

static void a_text_is_cut_between_characters(void **state)
{
	char ret[4];

	(void)state;
	assert_false(outside_text("ab\xc3\xa9", 4, ret, sizeof(ret)));
	assert_string_equal(ret, "ab");
	assert_true(outside_text("abc", 3, ret, sizeof(ret)));
	assert_string_equal(ret, "abc");
	assert_false(outside_text("a", 1, ret, 1));
	assert_string_equal(ret, "");
}

static void who_says_a_key_first_keeps_it(void **state)
{
	struct label_set set = {0};

	(void)state;
	label_set_add(&set, "app", "shop");
	label_set_add(&set, "app", "other");
	label_set_add(&set, "", "nothing");
	assert_int_equal(set.count, 1);
	assert_string_equal(label_set_find(&set, "app"), "shop");
	assert_null(label_set_find(&set, "ap"));
	assert_int_equal(set.left_out, 0);
	label_set_fini(&set);
}

static void what_has_no_room_is_counted_and_never_cut(void **state)
{
	struct label_set set = {0};
	char text[1024], key[16];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	label_set_add(&set, text, "v");
	label_set_add(&set, "k", text);
	assert_int_equal(set.count, 0);
	assert_int_equal(set.left_out, 2);
	for (int i = 0; i < LABEL_SET_MAX + 10; i++) {
		snprintf(key, sizeof(key), "%d", i);
		label_set_add(&set, key, "");
	}
	assert_int_equal(set.count, LABEL_SET_MAX);
	assert_int_equal(set.left_out, 12);
	label_set_fini(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_steers_a_terminal_or_misleads_a_reader_is_replaced),
		cmocka_unit_test(what_is_no_utf8_is_replaced_byte_by_byte),
		cmocka_unit_test(a_text_is_cut_between_characters),
		cmocka_unit_test(who_says_a_key_first_keeps_it),
		cmocka_unit_test(what_has_no_room_is_counted_and_never_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
