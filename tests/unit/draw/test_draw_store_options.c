// SPDX-License-Identifier: Apache-2.0
/* Claims about draw/draw_store_options.h: what the two sides of a comparison are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "draw/draw_store_options.h"
#include "options/tables.h"

#include <errno.h>

#define SEC UINT64_C(1000000000)
#define NOW (UINT64_C(1764126600) * SEC)

static struct draw_store_options options;

static int set_up(void **state)
{
	options = (struct draw_store_options){0};
	return 0;
}

static void give(int option, const char *value)
{
	assert_int_equal(draw_store_options_apply(&options, option, value), 0);
}

static struct store_query query_of(bool is_before)
{
	struct store_query query;

	assert_int_equal(draw_store_options_query(&options, is_before, NOW, &query), 0);
	return query;
}

static int finish(bool is_diff)
{
	return draw_store_options_finish(&options, "wall", 0, is_diff);
}

static void without_such_an_option_files_are_read(void **state)
{
	assert_int_equal(draw_store_options_finish(&options, NULL, 2, true), 0);
	assert_null(options.given);
}

static void a_range_before_is_as_long_as_the_range_after(void **state)
{
	give(DRAW_OPTION_FROM, "-1h");
	give(DRAW_OPTION_TO, "-50m");
	give(DRAW_OPTION_BEFORE_FROM, "-2h");
	give(DRAW_OPTION_POD, "shop/api-1");
	assert_int_equal(finish(true), 0);
	assert_int_equal(query_of(false).range.from_ns, NOW - 3600 * SEC);
	assert_int_equal(query_of(true).range.from_ns, NOW - 7200 * SEC);
	assert_int_equal(query_of(true).range.to_ns, NOW - 6600 * SEC);
	assert_string_equal(query_of(true).select.pod, "shop/api-1");
	assert_string_equal(query_of(true).kind, "wall");
}

static void two_versions_are_compared_in_one_range(void **state)
{
	give(DRAW_OPTION_FROM, "-1h");
	give(DRAW_OPTION_LABEL, "version=1.2");
	give(DRAW_OPTION_BEFORE_LABEL, "version=1.1");
	assert_int_equal(finish(true), 0);
	assert_string_equal(query_of(false).select.labels[0].value, "1.2");
	assert_string_equal(query_of(true).select.labels[0].value, "1.1");
	assert_int_equal(query_of(true).select.n_labels, 1);
	assert_int_equal(query_of(true).range.from_ns, query_of(false).range.from_ns);
}

static void a_process_before_has_its_own_pid(void **state)
{
	give(DRAW_OPTION_FROM, "-1h");
	give(DRAW_OPTION_PROCESS, "12");
	give(DRAW_OPTION_BEFORE_PROCESS, "11");
	assert_int_equal(finish(true), 0);
	assert_int_equal(query_of(false).pid, 12);
	assert_int_equal(query_of(true).pid, 11);
}

static void a_range_is_needed(void **state)
{
	give(DRAW_OPTION_POD, "api");
	assert_int_equal(finish(false), -EINVAL);
}

static void a_comparison_needs_what_was_before(void **state)
{
	give(DRAW_OPTION_FROM, "-1h");
	assert_int_equal(finish(true), -EINVAL);
	assert_int_equal(finish(false), 0);
}

static void a_drawing_has_nothing_before(void **state)
{
	give(DRAW_OPTION_FROM, "-1h");
	give(DRAW_OPTION_BEFORE_FROM, "-2h");
	assert_int_equal(finish(false), -EINVAL);
}

static void files_and_a_store_do_not_go_together(void **state)
{
	give(DRAW_OPTION_FROM, "-1h");
	assert_int_equal(draw_store_options_finish(&options, NULL, 1, false), -EINVAL);
}

static void an_end_before_needs_its_begin(void **state)
{
	struct store_query query;

	give(DRAW_OPTION_FROM, "-1h");
	give(DRAW_OPTION_BEFORE_TO, "-2h");
	assert_int_equal(finish(true), 0);
	assert_int_equal(draw_store_options_query(&options, true, NOW, &query), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(test) cmocka_unit_test_setup(test, set_up)
		TEST(without_such_an_option_files_are_read),
		TEST(a_range_before_is_as_long_as_the_range_after),
		TEST(two_versions_are_compared_in_one_range),
		TEST(a_process_before_has_its_own_pid),
		TEST(a_range_is_needed),
		TEST(a_comparison_needs_what_was_before),
		TEST(a_drawing_has_nothing_before),
		TEST(files_and_a_store_do_not_go_together),
		TEST(an_end_before_needs_its_begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
