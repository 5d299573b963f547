// SPDX-License-Identifier: Apache-2.0
/* What stands behind options becomes values within their limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "options/option_value.h"

static void a_count_is_digits_within_limits(void **state)
{
	static const char *const bad[] = {
		"", "0", "11", "1.0", "+1", "-1", " 1", "1x", "99999999999999999999"};
	const struct option_range range = {1, 10, "of things"};
	uint64_t value = 77;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(option_count("-x", bad[i], &range, &value), -EINVAL);
	assert_int_equal(value, 77);
	assert_int_equal(option_count("-x", "10", &range, &value), 0);
	assert_int_equal(value, 10);
}

static void times_and_sizes_have_units_and_limits(void **state)
{
	const struct option_range minutes = {60, 120, "1m to 2m"};
	const struct option_range bytes = {1024, UINT64_C(1) << 30, "1k to 1G"};
	uint64_t value = 77;

	assert_int_equal(option_time("-x", "59s", &minutes, &value), -EINVAL);
	assert_int_equal(option_time("-x", "3m", &minutes, &value), -EINVAL);
	assert_int_equal(option_time("-x", "2m", &minutes, &value), 0);
	assert_int_equal(value, 120);
	assert_int_equal(option_size("-x", "1023", &bytes, &value), -EINVAL);
	assert_int_equal(option_size("-x", "1T", &bytes, &value), -EINVAL);
	assert_int_equal(option_size("-x", "1G", &bytes, &value), 0);
	assert_int_equal(value, 1 << 30);
	assert_int_equal(option_size("-x", "2m", &bytes, &value), 0);
	assert_int_equal(value, 2 << 20);
}

static void a_path_is_not_empty(void **state)
{
	const char *path = NULL;

	assert_int_equal(option_path("-x", "", &path), -EINVAL);
	assert_null(path);
	assert_int_equal(option_path("-x", "d", &path), 0);
	assert_string_equal(path, "d");
}

static void a_choice_is_one_of_the_words(void **state)
{
	static const struct option_choice choices[] = {{"a", 3}, {"b", 5}, {0}};
	uint64_t value = 77;

	assert_int_equal(option_choice("-x", "c", choices, &value), -EINVAL);
	assert_int_equal(option_choice("-x", "", choices, &value), -EINVAL);
	assert_int_equal(value, 77);
	assert_int_equal(option_choice("-x", "b", choices, &value), 0);
	assert_int_equal(value, 5);
}

static void a_list_has_words_with_commas_between(void **state)
{
	static const struct option_choice choices[] = {{"a", 1}, {"b", 4}, {0}};
	static const char *const bad[] = {"", ",", "a,", ",b", "a,c", "ab", "a b"};
	uint64_t value = 77;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(option_list("-x", bad[i], choices, &value), -EINVAL);
	assert_int_equal(value, 77);
	assert_int_equal(option_list("-x", "b,a,b", choices, &value), 0);
	assert_int_equal(value, 5);
	assert_int_equal(option_list("-x", "b", choices, &value), 0);
	assert_int_equal(value, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_count_is_digits_within_limits),
		cmocka_unit_test(times_and_sizes_have_units_and_limits),
		cmocka_unit_test(a_path_is_not_empty),
		cmocka_unit_test(a_choice_is_one_of_the_words),
		cmocka_unit_test(a_list_has_words_with_commas_between),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
