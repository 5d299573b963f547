// SPDX-License-Identifier: Apache-2.0
/* The suffixes that FlameGraph's palette goes by. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "symbolize/frame.h"

static void kinds_have_the_suffixes_users_know(void **state)
{
	assert_string_equal(frame_kind_suffix(FRAME_INTERPRETED), "_[0]");
	assert_string_equal(frame_kind_suffix(FRAME_C1), "_[1]");
	assert_string_equal(frame_kind_suffix(FRAME_JIT), "_[j]");
	assert_string_equal(frame_kind_suffix(FRAME_NATIVE_WRAPPER), "_[j]");
	assert_string_equal(frame_kind_suffix(FRAME_INLINED), "_[i]");
	assert_string_equal(frame_kind_suffix(FRAME_NATIVE_INLINED), "_[i]");
	assert_string_equal(frame_kind_suffix(FRAME_KERNEL), "_[k]");
	assert_string_equal(frame_kind_suffix(FRAME_WAIT), "_[w]");
	assert_string_equal(frame_kind_suffix(FRAME_CLASS), "_[c]");
}

static void every_other_kind_has_none(void **state)
{
	static const enum frame_kind plain[] = {FRAME_LABEL, FRAME_STUB, FRAME_JVM, FRAME_NATIVE,
						FRAME_UNKNOWN};

	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		assert_string_equal(frame_kind_suffix(plain[i]), "");
}

/* Files contain the words. */
static void a_wait_has_a_word_of_its_own(void **state)
{
	assert_string_equal(frame_kind_word(FRAME_WAIT), "wait");
	assert_int_equal(frame_kind_of_word("wait"), FRAME_WAIT);
	assert_false(frame_kind_is_java(FRAME_WAIT));
	assert_false(frame_kind_is_inlined(FRAME_WAIT));
}

static void a_class_has_a_word_of_its_own_and_is_no_method(void **state)
{
	assert_string_equal(frame_kind_word(FRAME_CLASS), "class");
	assert_int_equal(frame_kind_of_word("class"), FRAME_CLASS);
	assert_false(frame_kind_is_java(FRAME_CLASS));
	assert_false(frame_kind_is_inlined(FRAME_CLASS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds_have_the_suffixes_users_know),
		cmocka_unit_test(every_other_kind_has_none),
		cmocka_unit_test(a_wait_has_a_word_of_its_own),
		cmocka_unit_test(a_class_has_a_word_of_its_own_and_is_no_method),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
