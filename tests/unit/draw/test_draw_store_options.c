// SPDX-License-Identifier: Apache-2.0
/* Claims about draw/draw_store_options.h: what the two sides of a comparison are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "draw/draw_store_options.h"

#include <errno.h>

#define SEC UINT64_C(1000000000)
#define NOW (UINT64_C(1764126600) * SEC)

static struct draw_store_options options;

static int set_up(void **state)
{
	options = (struct draw_store_options){0};
	return 0;
}

/* As the option table has it. */
static void give(const char **member, const char *value)
{
	options.given = "--from";
	*member = value;
}

static void give_name(struct selector *select, enum selector_part_number part, const char *value)
{
	options.given_before = select == &options.before.select ? "--before" : options.given_before;
	assert_int_equal(store_request_select(select, part, "--x", value), 0);
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
	give(&options.after.from, "-1h");
	give(&options.after.to, "-50m");
	give(&options.before.from, "-2h");
	options.given_before = "--before-from";
	give_name(&options.after.select, SELECTOR_POD, "shop/api-1");
	assert_int_equal(finish(true), 0);
	assert_int_equal(query_of(false).range.from_ns, NOW - 3600 * SEC);
	assert_int_equal(query_of(true).range.from_ns, NOW - 7200 * SEC);
	assert_int_equal(query_of(true).range.to_ns, NOW - 6600 * SEC);
	assert_string_equal(query_of(true).select.pod, "shop/api-1");
	assert_string_equal(query_of(true).kind, "wall");
}

static void two_versions_are_compared_in_one_range(void **state)
{
	give(&options.after.from, "-1h");
	give_name(&options.after.select, SELECTOR_LABEL, "version=1.2");
	give_name(&options.before.select, SELECTOR_LABEL, "version=1.1");
	assert_int_equal(finish(true), 0);
	assert_string_equal(query_of(false).select.labels[0].value, "1.2");
	assert_string_equal(query_of(true).select.labels[0].value, "1.1");
	assert_int_equal(query_of(true).select.n_labels, 1);
	assert_int_equal(query_of(true).range.from_ns, query_of(false).range.from_ns);
}

static void a_process_before_has_its_own_pid(void **state)
{
	give(&options.after.from, "-1h");
	options.after.pid = 12;
	options.before.pid = 11;
	options.given_before = "--before-process";
	assert_int_equal(finish(true), 0);
	assert_int_equal(query_of(false).pid, 12);
	assert_int_equal(query_of(true).pid, 11);
}

static void a_comparison_needs_what_was_before(void **state)
{
	give(&options.after.from, "-1h");
	assert_int_equal(finish(true), -EINVAL);
	assert_int_equal(finish(false), 0);
}

static void files_and_a_store_do_not_go_together(void **state)
{
	give(&options.after.from, "-1h");
	assert_int_equal(draw_store_options_finish(&options, NULL, 1, false), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(test) cmocka_unit_test_setup(test, set_up)
		TEST(without_such_an_option_files_are_read),
		TEST(a_range_before_is_as_long_as_the_range_after),
		TEST(two_versions_are_compared_in_one_range),
		TEST(a_process_before_has_its_own_pid),
		TEST(a_comparison_needs_what_was_before),
		TEST(files_and_a_store_do_not_go_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
