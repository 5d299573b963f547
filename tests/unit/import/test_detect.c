// SPDX-License-Identifier: Apache-2.0
/* Claims about how import/detect.c tells formats by the first bytes of a file. */
#include "import/readers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#define BYTES(text) text, sizeof(text) - 1

static enum import_format format_of(const char *data, size_t len)
{
	const char *reason = NULL;

	return detect_format(data, len, &reason);
}

/* As Go writes it, types of samples first, and as others do, texts first. */
static void pprof_is_known_whatever_its_first_field_is(void **state)
{
	assert_int_equal(
		format_of(BYTES("\x0a\x04\x08\x01\x10\x02\x12\x07\x0a\x02\x01\x02\x12\x01\x05")),
		IMPORT_PPROF);
	assert_int_equal(format_of(BYTES("2\x00"
					 "2\x07samples"
					 "2\x05"
					 "count\x0a\x04\x08\x01\x10\x02")),
			 IMPORT_PPROF);
	assert_int_equal(
		format_of(BYTES("\x48\x80\x80\x90\xb8\xbe\xc3\xd8\xd9\x17\x50\x80\xc8\xaf\xa0\x25"
				"\x32\x00")),
		IMPORT_PPROF);
}

static void texts_are_not_pprof(void **state)
{
	assert_int_equal(format_of(BYTES("2 b;2 c 3\n")), IMPORT_FOLDED);
	assert_int_equal(format_of(BYTES("\n main;a 1\n\n main;b 2\n")), IMPORT_FOLDED);
	assert_int_equal(format_of(BYTES("H;P;Z 3\nHPZ;`hj 8\n")), IMPORT_FOLDED);
	assert_int_equal(format_of(BYTES("main;\x01 7\n")), IMPORT_FOLDED);
}

static void other_bytes_are_not_pprof(void **state)
{
	assert_int_equal(format_of(BYTES("\x0a\x04\x08\x01\x10\x02\xff\xff\xff\xff\x00")),
			 IMPORT_UNREADABLE);
	assert_int_equal(format_of(BYTES("PERFILE2\x00\x00\x00\x00")), IMPORT_UNREADABLE);
	assert_int_equal(format_of(BYTES("\x00\x00\x00\x00\x00\x00")), IMPORT_UNREADABLE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pprof_is_known_whatever_its_first_field_is),
		cmocka_unit_test(texts_are_not_pprof),
		cmocka_unit_test(other_bytes_are_not_pprof),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
