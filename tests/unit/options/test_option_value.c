// SPDX-License-Identifier: Apache-2.0
/* What stands behind options becomes values within their limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "base/log.h"
#include "options/option_value.h"

static void a_count_is_digits_within_limits(void **state)
{
	static const char *const bad[] = {
		"", "0", "11", "1.0", "+1", "-1", " 1", "1x", "99999999999999999999"};
	const struct option_range range = {.least = 1, .most = 10, .what = "of things"};
	uint64_t value = 77;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(option_count("-x", bad[i], &range, &value), -EINVAL);
	assert_int_equal(value, 77);
	assert_int_equal(option_count("-x", "10", &range, &value), 0);
	assert_int_equal(value, 10);
}

static void a_number_is_digits_with_a_point_or_without(void **state)
{
	static const char *const bad[] = {"",	 "0",	  "10.1", "+1",	 "-1", " 1",  "1x",   "0x3",
					  "1e0", "0x1p1", "inf",  "nan", ".",  "1,5", "1.2.3"};
	double value = 77;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(option_number("-x", bad[i], 0, 10, &value), -EINVAL);
	assert_true(value == 77);
	assert_int_equal(option_number("-x", "2.5", 0, 10, &value), 0);
	assert_true(value == 2.5);
	assert_int_equal(option_number("-x", ".5", 0, 10, &value), 0);
	assert_true(value == 0.5);
	assert_int_equal(option_number("-x", "10", 0, 10, &value), 0);
	assert_true(value == 10);
}

static void times_and_sizes_have_units_and_limits(void **state)
{
	const struct option_range minutes = {60, 120, "the time of a graph", "1m to 2m", "90s"};
	const struct option_range bytes = {1024, UINT64_C(1) << 30, "how much room there is",
					   "1k to 1G", "1M"};
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

/* What is said of a value: the option, the value, what is needed, in which form, and an example. */
static void a_wrong_time_or_size_is_told_with_an_example(void **state)
{
	const struct option_range minutes = {60, 120, "the time of a graph", "1m to 2m", "90s"};
	const struct option_range bytes = {1024, UINT64_C(1) << 30, "how much room there is",
					   "1k to 1G", "1M"};
	struct log_catch caught = {.errors = ""};
	uint64_t value;

	log_catch(&caught);
	assert_int_equal(option_time("--period", "abc", &minutes, &value), -EINVAL);
	assert_int_equal(option_size("--bytes", "xyz", &bytes, &value), -EINVAL);
	log_catch(NULL);
	assert_string_equal(caught.errors,
			    "--period abc: the time of a graph is needed: a time such as 90s, from "
			    "1m to 2m; --bytes xyz: how much room there is is needed: a size such "
			    "as 1M, from 1k to 1G");
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
		cmocka_unit_test(a_number_is_digits_with_a_point_or_without),
		cmocka_unit_test(times_and_sizes_have_units_and_limits),
		cmocka_unit_test(a_wrong_time_or_size_is_told_with_an_example),
		cmocka_unit_test(a_path_is_not_empty),
		cmocka_unit_test(a_choice_is_one_of_the_words),
		cmocka_unit_test(a_list_has_words_with_commas_between),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
