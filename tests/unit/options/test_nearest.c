// SPDX-License-Identifier: Apache-2.0
/* Which word was meant. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "options/nearest.h"

static const char *meant(const char *word)
{
	static const char *const known[] = {"all", "duration", "record", "recordings", "to"};
	struct nearest nearest;

	nearest_begin(&nearest, word, strlen(word));
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		nearest_try(&nearest, known[i]);
	return nearest.found;
}

static void a_letter_is_wrong_missing_too_many_or_swapped(void **state)
{
	(void)state;
	assert_string_equal(meant("duratiom"), "duration");
	assert_string_equal(meant("durtion"), "duration");
	assert_string_equal(meant("durattion"), "duration");
	assert_string_equal(meant("duartion"), "duration");
	assert_string_equal(meant("duration"), "duration");
}

static void the_nearest_is_found_and_of_equals_the_first(void **state)
{
	(void)state;
	assert_string_equal(meant("recrod"), "record");
	assert_string_equal(meant("recording"), "recordings");
	assert_string_equal(meant("al"), "all");
	assert_string_equal(meant("ao"), "to");
}

static void a_third_of_the_letters_may_be_wrong(void **state)
{
	(void)state;
	assert_string_equal(meant("rekort"), "record");
	assert_null(meant("rekurt"));
	assert_string_equal(meant("rekortinks"), "recordings");
	assert_null(meant("rekurtinks"));
	assert_null(meant("zz"));
	assert_null(meant(""));
}

static void a_word_ends_where_it_is_said(void **state)
{
	struct nearest nearest;

	(void)state;
	nearest_begin(&nearest, "recrod=5", 6);
	nearest_try(&nearest, "record");
	assert_string_equal(nearest.found, "record");
}

static void longer_words_are_near_to_none(void **state)
{
	char word[NEAREST_WORD_BYTES + 1] = "";

	(void)state;
	memset(word, 'a', NEAREST_WORD_BYTES);
	for (int less = 0; less < 2; less++) {
		struct nearest nearest;

		word[NEAREST_WORD_BYTES - less] = '\0';
		nearest_begin(&nearest, word, strlen(word));
		nearest_try(&nearest, word);
		assert_int_equal(nearest.found != NULL, less);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_letter_is_wrong_missing_too_many_or_swapped),
		cmocka_unit_test(the_nearest_is_found_and_of_equals_the_first),
		cmocka_unit_test(a_third_of_the_letters_may_be_wrong),
		cmocka_unit_test(a_word_ends_where_it_is_said),
		cmocka_unit_test(longer_words_are_near_to_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
