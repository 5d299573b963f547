// SPDX-License-Identifier: Apache-2.0
/* Signatures in a small buffer: what fits is whole, what is cut is seen to be, characters stay. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "agent/probes/class_text.h"

#define MOST (CLASS_TEXT_BYTES - 1)
#define KEPT (MOST - 3)

static char text[2 * CLASS_TEXT_BYTES];

/* A text of so many bytes, all the same, with a word at a place. */
static void check(size_t len, const char *word, size_t at, size_t kept)
{
	char to[CLASS_TEXT_BYTES];

	memset(text, 'a', len);
	text[len] = '\0';
	memcpy(text + at, word, strlen(word));
	memset(to, 'x', sizeof(to));
	class_text_copy(to, text);
	assert_memory_equal(to, text, kept);
	assert_string_equal(to + kept, kept < len ? "..." : "");
}

static void what_fits_is_whole(void **state)
{
	check(0, "", 0, 0);
	check(1, "", 0, 1);
	check(MOST, "", 0, MOST);
	check(MOST, "\xe2\x82\xac", MOST - 3, MOST);
}

static void what_does_not_fit_is_seen_to_be_cut(void **state)
{
	check(MOST + 1, "", 0, KEPT);
	check(2 * MOST, "", 0, KEPT);
}

static void no_part_of_a_character_is_left(void **state)
{
	check(MOST + 9, "\xc3\xa4", KEPT - 2, KEPT);
	check(MOST + 9, "\xc3\xa4", KEPT - 1, KEPT - 1);
	check(MOST + 9, "\xe2\x82\xac", KEPT - 3, KEPT);
	check(MOST + 9, "\xe2\x82\xac", KEPT - 2, KEPT - 2);
	check(MOST + 9, "\xe2\x82\xac", KEPT - 1, KEPT - 1);
	check(MOST + 9, "\xe2\x82\xac", KEPT, KEPT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_fits_is_whole),
		cmocka_unit_test(what_does_not_fit_is_seen_to_be_cut),
		cmocka_unit_test(no_part_of_a_character_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
