// SPDX-License-Identifier: Apache-2.0
/* Members of objects that somebody else wrote. */
#include "base/json_value.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void members_are_read_by_their_type(void **state)
{
	json_t *const object =
		json_pack("{s:s, s:i, s:b, s:b}", "text", "web", "count", 7, "yes", 1, "no", 0);

	assert_string_equal(json_value_text(object, "text"), "web");
	assert_int_equal(json_value_int(object, "count"), 7);
	assert_int_equal(json_value_count(object, "count"), 7);
	assert_true(json_value_bool(object, "yes"));
	assert_false(json_value_bool(object, "no"));
	json_decref(object);
}

static void what_is_missing_or_of_another_type_is_nothing(void **state)
{
	json_t *const object =
		json_pack("{s:i, s:s, s:f, s:i, s:n}", "a", 1, "b", "1", "c", 1.5, "d", -1, "e");
	static const char *const keys[] = {"a", "b", "c", "d", "e", "f"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		assert_string_equal(json_value_text(object, keys[i]), i == 1 ? "1" : "");
		assert_int_equal(json_value_int(object, keys[i]), i == 0 ? 1 : i == 3 ? -1 : 0);
		assert_int_equal(json_value_count(object, keys[i]), i == 0);
		assert_false(json_value_bool(object, keys[i]));
	}
	assert_string_equal(json_value_text(NULL, "a"), "");
	assert_int_equal(json_value_count(NULL, "a"), 0);
	json_decref(object);
}

static void counts_are_put(void **state)
{
	json_t *const object = json_object();

	json_value_put_count(object, "n", UINT64_C(1) << 40);
	assert_int_equal(json_value_count(object, "n"), UINT64_C(1) << 40);
	json_decref(object);
}

static void strings_are_clean(void **state)
{
	json_t *const text = json_value_new_text("a\x1b\xff\xc3\xa9\xef\xbb\xbf");
	json_t *const none = json_value_new_text(NULL);

	assert_string_equal(json_string_value(text), "a??\xc3\xa9?");
	assert_string_equal(json_string_value(none), "");
	json_decref(text);
	json_decref(none);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_are_read_by_their_type),
		cmocka_unit_test(what_is_missing_or_of_another_type_is_nothing),
		cmocka_unit_test(counts_are_put),
		cmocka_unit_test(strings_are_clean),
	};

	return cmocka_run_group_tests_name("json_value", tests, NULL, NULL);
}
