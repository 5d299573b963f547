// SPDX-License-Identifier: Apache-2.0
/* Kinds of profiles, and amounts; test_amount.js reads the cases of amount_cases.txt as well. */
#include "profile/profile_kind.h"
#include "profile/profile_part.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define CASES	    FG_SOURCE_DIR "/tests/unit/profile/amount_cases.txt"
#define LEAST_CASES 20

static void a_known_kind_is_found_by_its_name(void **state)
{
	assert_ptr_equal(profile_kind_find("cpu"), &profile_kind_cpu);
	assert_ptr_equal(profile_kind_find("wall"), &profile_kind_wall);
	assert_ptr_equal(profile_kind_find("offcpu"), &profile_kind_offcpu);
	assert_ptr_equal(profile_kind_find("alloc"), &profile_kind_alloc);
	assert_ptr_equal(profile_kind_find("objects"), &profile_kind_objects);
	assert_ptr_equal(profile_kind_find("live"), &profile_kind_live);
	assert_ptr_equal(profile_kind_find("live_objects"), &profile_kind_live_objects);
	assert_ptr_equal(profile_kind_find("lock"), &profile_kind_lock);
	assert_ptr_equal(profile_kind_find("contentions"), &profile_kind_contentions);
	assert_ptr_equal(profile_kind_find("exceptions"), &profile_kind_exceptions);
	assert_null(profile_kind_find("alloc_space"));
	assert_null(profile_kind_find(""));
}

static void kinds_are_the_same_if_name_and_unit_are(void **state)
{
	const struct profile_kind of_file = {"wall", "microseconds"}, other = {"wall", "samples"};

	assert_true(profile_kind_is_same(&of_file, &profile_kind_wall));
	assert_false(profile_kind_is_same(&other, &profile_kind_wall));
	assert_false(profile_kind_is_same(&profile_kind_offcpu, &profile_kind_wall));
	assert_true(profile_kind_is_time(&of_file));
	assert_false(profile_kind_is_time(&profile_kind_cpu));
}

static void times_and_bytes_are_measured_and_all_else_is_counted(void **state)
{
	assert_true(profile_kind_is_time(&profile_kind_lock));
	assert_false(profile_kind_is_of_threads(&profile_kind_lock));
	assert_true(profile_kind_is_of_threads(&profile_kind_offcpu));
	assert_true(profile_kind_is_bytes(&profile_kind_alloc));
	assert_false(profile_kind_is_bytes(&profile_kind_lock));
	assert_true(profile_kind_is_measured(&profile_kind_lock));
	assert_true(profile_kind_is_measured(&profile_kind_alloc));
	assert_false(profile_kind_is_measured(&profile_kind_cpu));
	assert_false(profile_kind_is_measured(&profile_kind_objects));
}

/* unit TAB amount TAB what is shown */
static void check_line(char *line)
{
	char *rest = line;
	const char *const unit = strsep(&rest, "\t"), *const amount = strsep(&rest, "\t");
	const char *const expected = strsep(&rest, "\n");
	const struct profile_kind kind = {"kind", unit};
	char text[PROFILE_AMOUNT_BYTES], cores[PROFILE_CORES_BYTES];

	assert_non_null(expected);
	if (strncmp(unit, "cores/", 6) == 0)
		assert_string_equal(profile_cores_text(strtoull(amount, NULL, 10),
						       strtoull(unit + 6, NULL, 10), cores),
				    expected);
	else
		assert_string_equal(profile_kind_amount(&kind, strtoull(amount, NULL, 10), text),
				    expected);
}

static void amounts_are_shown_as_the_cases_say(void **state)
{
	FILE *const stream = fopen(CASES, "r");
	unsigned n_cases = 0;
	char line[256];

	assert_non_null(stream);
	while (fgets(line, sizeof(line), stream)) {
		if (line[0] == '#' || line[0] == '\n')
			continue;
		check_line(line);
		n_cases++;
	}
	fclose(stream);
	assert_true(n_cases >= LEAST_CASES);
}

static void the_greatest_amounts_have_room(void **state)
{
	char text[PROFILE_AMOUNT_BYTES], unit[PROFILE_KIND_BYTES];
	const struct profile_kind long_unit = {"kind", unit};

	memset(unit, 'u', sizeof(unit) - 1);
	unit[sizeof(unit) - 1] = '\0';
	profile_kind_amount(&long_unit, UINT64_MAX, text);
	assert_int_equal(strncmp(text, "18,446,744,073,709,551,615 u", 28), 0);
	assert_string_equal(profile_kind_amount(&profile_kind_wall, UINT64_MAX, text),
			    "18,446,744,073,709.6 s");
	assert_string_equal(profile_kind_amount(&profile_kind_alloc, UINT64_MAX, text),
			    "16,777,216.0 TiB");
}

static void a_mere_count_is_of_what_the_kind_says(void **state)
{
	const struct profile_kind kind = {"contentions", PROFILE_UNIT_COUNT};
	char text[PROFILE_AMOUNT_BYTES];

	assert_string_equal(profile_kind_noun(&kind), "contentions");
	assert_string_equal(profile_kind_noun(&profile_kind_cpu), "samples");
	assert_string_equal(profile_kind_amount(&kind, 1234, text), "1,234 contentions");
}

static void an_amount_is_of_its_kind_unless_it_says_so(void **state)
{
	char text[PROFILE_AMOUNT_BYTES];

	assert_string_equal(profile_kind_amount_of(&profile_kind_alloc, 1572864, text),
			    "1.5 MiB of alloc");
	assert_string_equal(profile_kind_amount_of(&profile_kind_lock, 450000, text),
			    "450 ms of lock");
	assert_string_equal(profile_kind_amount_of(&profile_kind_objects, 1234, text),
			    "1,234 objects");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_known_kind_is_found_by_its_name),
		cmocka_unit_test(kinds_are_the_same_if_name_and_unit_are),
		cmocka_unit_test(times_and_bytes_are_measured_and_all_else_is_counted),
		cmocka_unit_test(amounts_are_shown_as_the_cases_say),
		cmocka_unit_test(the_greatest_amounts_have_room),
		cmocka_unit_test(a_mere_count_is_of_what_the_kind_says),
		cmocka_unit_test(an_amount_is_of_its_kind_unless_it_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
