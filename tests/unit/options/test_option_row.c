// SPDX-License-Identifier: Apache-2.0
/* Which options go together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "options/option_row.h"

enum { RED = 1, BLUE = 2 };
enum { KIND = 1, HOW, SPEED, ALONE };

static const struct option_other is_slow[] = {{HOW, "slow"}, {0}};
static const struct option_other of_time[] = {{KIND, "wall offcpu"}, {HOW, NULL}, {0}};
static const struct option_other any[] = {{KIND, NULL}, {HOW, NULL}, {0}};

static const struct option_rule kind_rules[] = {
	{.commands = RED | BLUE, .own = "alloc lock", .why = "why", .list = is_slow},
};
static const struct option_rule speed_rules[] = {
	{.is_needed = true, .commands = RED, .others = "--kind wall or offcpu", .list = of_time},
};
static const struct option_rule alone_rules[] = {{.commands = RED, .list = any}};

static const struct option_row rows[] = {
	{KIND, RED | BLUE, "--kind", "red and blue", kind_rules, 1, 0},
	{HOW, RED | BLUE, "--how", "red and blue", NULL, 0, 2},
	{SPEED, RED, "--speed", "red", speed_rules, 1, 5},
	{ALONE, RED, "--alone", "red and blue", alone_rules, 1, 0},
	{ALONE, BLUE, "--alone", "red and blue", NULL, 0, 2},
	{0},
};

static struct option_given list[8];
static struct options_given given;
static char why[OPTION_WHY_BYTES];

static void begin(unsigned command)
{
	given = (struct options_given){.rows = rows, .command = command, .list = list};
}

static void give(int number, const char *text)
{
	options_given_add(&given, number, text);
	assert_non_null(options_given_take(&given, given.count - 1));
}

static void a_row_is_the_commands(void **state)
{
	begin(BLUE);
	options_given_add(&given, ALONE, "");
	assert_ptr_equal(options_given_take(&given, 0), &rows[4]);
	options_given_add(&given, SPEED, "1");
	assert_null(options_given_take(&given, 1));
	assert_null(options_given_text(&given, KIND));
}

static void an_option_needs_one_of_others(void **state)
{
	begin(RED);
	give(SPEED, "1");
	assert_int_equal(options_given_check(&given, why), -EINVAL);
	assert_string_equal(why, "--speed goes with --kind wall or offcpu");
	give(KIND, "cpu");
	assert_int_equal(options_given_check(&given, why), -EINVAL);
	give(KIND, "cpu,offcpu");
	assert_int_equal(options_given_check(&given, why), 0);
	begin(RED);
	give(SPEED, "1");
	give(HOW, "any");
	assert_int_equal(options_given_check(&given, why), 0);
}

static void words_are_compared_whole(void **state)
{
	begin(RED);
	give(SPEED, "1");
	give(KIND, "wal,offcpus,wallet");
	assert_int_equal(options_given_check(&given, why), -EINVAL);
}

static void the_last_value_counts(void **state)
{
	begin(BLUE);
	give(HOW, "slow");
	give(KIND, "cpu,alloc");
	assert_int_equal(options_given_check(&given, why), -EINVAL);
	assert_string_equal(why, "--kind alloc does not go with --how slow: why");
	give(HOW, "quick");
	assert_int_equal(options_given_check(&given, why), 0);
	give(HOW, "slow");
	give(KIND, "cpu");
	assert_int_equal(options_given_check(&given, why), 0);
}

static void a_rule_is_of_its_commands(void **state)
{
	begin(RED);
	give(ALONE, "");
	assert_int_equal(options_given_check(&given, why), 0);
	give(HOW, "quick");
	assert_int_equal(options_given_check(&given, why), -EINVAL);
	begin(BLUE);
	give(ALONE, "");
	give(HOW, "quick");
	assert_int_equal(options_given_check(&given, why), 0);
}

static void who_asks_for_a_mark_is_told_the_first(void **state)
{
	begin(RED);
	give(KIND, "cpu");
	assert_null(options_given_marked(&given, 7));
	give(SPEED, "1");
	give(HOW, "any");
	assert_string_equal(options_given_marked(&given, 7), "--speed");
	assert_string_equal(options_given_marked(&given, 2), "--how");
	assert_null(options_given_marked(&given, 8));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_row_is_the_commands),
		cmocka_unit_test(an_option_needs_one_of_others),
		cmocka_unit_test(words_are_compared_whole),
		cmocka_unit_test(the_last_value_counts),
		cmocka_unit_test(a_rule_is_of_its_commands),
		cmocka_unit_test(who_asks_for_a_mark_is_told_the_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
