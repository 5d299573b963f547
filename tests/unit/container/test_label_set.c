// SPDX-License-Identifier: Apache-2.0
/* Claims about container/label_set.h: labels are clean and bounded. */
#include "container/label_set.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void keys_and_texts_are_clean(void **state)
{
	struct label_set set = {0};

	label_set_add(&set, "a\x1b[0m", "x\xe2\x80\xaey");
	assert_string_equal(set.labels[0].key, "a?[0m");
	assert_string_equal(set.labels[0].value, "x?y");
	label_set_fini(&set);
}

static void who_says_a_key_first_keeps_it(void **state)
{
	struct label_set set = {0};

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
		cmocka_unit_test(keys_and_texts_are_clean),
		cmocka_unit_test(who_says_a_key_first_keeps_it),
		cmocka_unit_test(what_has_no_room_is_counted_and_never_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
