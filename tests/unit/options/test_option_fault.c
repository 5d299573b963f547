// SPDX-License-Identifier: Apache-2.0
/* What getopt_long could not read, told in one style and with what was meant. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "options/option_fault.h"

enum { RED = 1, BLUE = 2 };
enum { ALL = 'a', DURATION = 'd', KIND = 256, KIND_OF, WINDOW };

static const struct option list[] = {
	{"all", no_argument, NULL, ALL},
	{"duration", required_argument, NULL, DURATION},
	{"kind", required_argument, NULL, KIND},
	{"kinship", required_argument, NULL, KIND_OF},
	{"window", required_argument, NULL, WINDOW},
	{0},
};
static const struct option_row rows[] = {
	{ALL, RED | BLUE, "--all", "red and blue", NULL, 0, 0},
	{DURATION, RED | BLUE, "--duration", "red and blue", NULL, 0, 0},
	{KIND, RED, "--kind", "red", NULL, 0, 0},
	{KIND_OF, RED, "--kinship", "red", NULL, 0, 0},
	{WINDOW, BLUE, "--window", "blue", NULL, 0, 0},
	{0},
};

static struct option_fault fault;
static char why[OPTION_WHY_BYTES];

/* Reads the words, up to the first fault, which it tells; "" if there is none. */
static const char *told(unsigned command, const char *first, const char *second)
{
	const struct option_names names = {":ad:", list, rows, command};
	char program[] = "fgcollect", one[80], other[80] = "";
	char *argv[] = {program, one, second ? other : NULL, NULL};
	int answer;

	snprintf(one, sizeof(one), "%s", first);
	snprintf(other, sizeof(other), "%s", second ? second : "");
	why[0] = '\0';
	optind = 0;
	do {
		answer = getopt_long(second ? 3 : 2, argv, names.letters, list, NULL);
	} while (answer >= 0 && answer != '?' && answer != ':');
	if (answer < 0)
		return why;
	option_fault_read(&fault, &names, answer, argv);
	option_fault_tell(&fault, &names, NULL, why);
	return why;
}

static void what_can_be_read_is_no_fault(void **state)
{
	(void)state;
	assert_string_equal(told(RED, "-ad5", "--kind=cpu"), "");
}

static void an_unknown_name_is_told_with_the_nearest(void **state)
{
	(void)state;
	assert_string_equal(told(RED, "--no-such", NULL), "--no-such: no such option");
	assert_string_equal(told(RED, "--duartion=5", NULL),
			    "--duartion: no such option; is --duration meant?");
	assert_int_equal(fault.letter, 0);
	assert_string_equal(fault.typed, "--duartion");
}

static void the_nearest_is_an_option_of_the_command(void **state)
{
	(void)state;
	assert_string_equal(told(BLUE, "--windw", "5"),
			    "--windw: no such option; is --window meant?");
	assert_string_equal(told(RED, "--windw", "5"), "--windw: no such option");
	assert_string_equal(told(0, "--windw", "5"), "--windw: no such option; is --window meant?");
}

/* getopt_long has not gone past the word while letters follow. */
static void an_unknown_letter_is_told_wherever_it_stands(void **state)
{
	(void)state;
	assert_string_equal(told(RED, "-z", NULL), "-z: no such option");
	assert_string_equal(told(RED, "--all", "-azd"), "-z: no such option");
	assert_string_equal(told(RED, "-az", "--all"), "-z: no such option");
	assert_int_equal(fault.letter, 'z');
}

static void one_dash_before_a_name_is_one_too_few(void **state)
{
	(void)state;
	assert_string_equal(told(RED, "-kind", "cpu"), "-kind: no such option; is --kind meant?");
	assert_string_equal(told(RED, "-window=5", NULL), "-window: no such option");
	assert_int_equal(fault.letter, 0);
	assert_string_equal(told(RED, "-kin", NULL), "-k: no such option");
}

static void a_missing_value_is_told(void **state)
{
	(void)state;
	assert_string_equal(told(RED, "-ad", NULL), "-d: a value is needed");
	assert_string_equal(told(RED, "--duration", NULL), "--duration: a value is needed");
	assert_string_equal(told(RED, "--dur", NULL), "--dur: a value is needed");
	assert_string_equal(told(RED, "-a", "--kind"), "--kind: a value is needed");
}

static void a_value_too_many_is_told(void **state)
{
	(void)state;
	assert_string_equal(told(RED, "--all=5", NULL), "--all: it takes no value");
}

static void names_that_begin_so_are_listed(void **state)
{
	(void)state;
	assert_string_equal(told(RED, "--kin=cpu", NULL),
			    "--kin: which is meant? --kind, --kinship");
	assert_string_equal(told(BLUE, "--kin", "cpu"), "--kin: which is meant? --kind, --kinship");
}

static void what_stands_in_its_place_is_told(void **state)
{
	const struct option_names names = {":ad:", list, rows, RED};

	(void)state;
	told(RED, "--durations", NULL);
	option_fault_tell(&fault, &names, "-d SECS", why);
	assert_string_equal(why, "--durations: no such option; in place of it: -d SECS");
}

static void a_long_word_is_cut(void **state)
{
	(void)state;
	assert_non_null(strstr(told(RED,
				    "--aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
				    "aaaaaaaaaaaa",
				    NULL),
			       "a: no such option"));
	assert_int_equal(strlen(fault.typed), OPTION_FAULT_TYPED_BYTES - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_can_be_read_is_no_fault),
		cmocka_unit_test(an_unknown_name_is_told_with_the_nearest),
		cmocka_unit_test(the_nearest_is_an_option_of_the_command),
		cmocka_unit_test(an_unknown_letter_is_told_wherever_it_stands),
		cmocka_unit_test(one_dash_before_a_name_is_one_too_few),
		cmocka_unit_test(a_missing_value_is_told),
		cmocka_unit_test(a_value_too_many_is_told),
		cmocka_unit_test(names_that_begin_so_are_listed),
		cmocka_unit_test(what_stands_in_its_place_is_told),
		cmocka_unit_test(a_long_word_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
