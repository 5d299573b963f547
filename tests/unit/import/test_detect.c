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

/* A name in folded stacks may begin as any of them does. */
static void files_of_other_tools_are_told_with_what_reads_them(void **state)
{
	static const struct {
		const char *text, *reader;
	} files[] = {
		{"Analysis of sampling rg (pid 6) every 1 millisecond\nCall graph:\n"
		 "    825 main  (in rg) + 41  [0x10384b549]\n",
		 "inferno-collapse-sample"},
		{"\tSun Aug  6 14:52 2023 Time and Allocation Profiling Report  (Final)\n\n"
		 "MAIN MAIN <built-in> 104 0 0.0 3.2 100.0 100.0 0 26\n",
		 "inferno-collapse-ghcprof"},
		{"CPU     ID                    FUNCTION:NAME\n  0  64091         :tick-60s\n",
		 "stackcollapse.pl"},
		{"Function Stack,CPU Time:Self,Module\nTotal,0.0,[Unknown]\n",
		 "stackcollapse-vtune.pl"},
		{"Level,Function Name,Number of Calls\n0,\"a.exe\",0,100.00\n",
		 "inferno-collapse-vsprof"},
		{"<?xml version=\"1.0\"?>\n<trace-query-result>\n", "inferno-collapse-xctrace"},
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		const char *reason = NULL;

		assert_int_equal(detect_format(files[i].text, strlen(files[i].text), &reason),
				 IMPORT_UNREADABLE);
		assert_non_null(strstr(reason, files[i].reader));
	}
	assert_int_equal(format_of(BYTES("Analysis of sampling ;a 3\n")), IMPORT_FOLDED);
	assert_int_equal(format_of(BYTES("Function Stack,b;c 3\n")), IMPORT_FOLDED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pprof_is_known_whatever_its_first_field_is),
		cmocka_unit_test(texts_are_not_pprof),
		cmocka_unit_test(other_bytes_are_not_pprof),
		cmocka_unit_test(files_of_other_tools_are_told_with_what_reads_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
