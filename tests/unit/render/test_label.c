// SPDX-License-Identifier: Apache-2.0
/*
 * Names that are too long for their frame; test_label.js reads the cases of label_cases.txt as
 * well.
 */
#include "render/label.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define CASES	    FG_SOURCE_DIR "/tests/unit/render/label_cases.txt"
#define LEAST_CASES 50

static void check(enum kind kind, const char *name, size_t columns, const char *expected)
{
	struct bytes out = {0};
	const char *const label = label_fit(&out, name, kind, columns);

	if (strcmp(label, expected) != 0)
		fail_msg("'%s' in %zu columns: '%s', not '%s'", name, columns, label, expected);
	bytes_fini(&out);
}

static enum kind kind_of_language(const char *language)
{
	if (strcmp(language, "java") == 0)
		return KIND_JIT;
	if (strcmp(language, "class") == 0)
		return KIND_CLASS;
	return strcmp(language, "native") == 0 ? KIND_CPP : KIND_KERNEL;
}

/* language TAB columns TAB name TAB what is shown */
static void check_line(char *line)
{
	char *rest = line;
	const char *const language = strsep(&rest, "\t"), *const columns = strsep(&rest, "\t");
	const char *const name = strsep(&rest, "\t"), *const expected = strsep(&rest, "\n");

	assert_non_null(expected);
	check(kind_of_language(language), name, strtoul(columns, NULL, 10), expected);
}

static void names_are_shortened_as_the_cases_say(void **state)
{
	FILE *const stream = fopen(CASES, "r");
	unsigned n_cases = 0;
	char line[512];

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

static void kinds_go_by_their_language(void **state)
{
	static const enum kind java[] = {KIND_INTERPRETED, KIND_C1, KIND_JIT, KIND_INLINED,
					 KIND_JAVA};
	static const enum kind native[] = {KIND_CPP, KIND_NATIVE, KIND_STUB};
	static const enum kind others[] = {KIND_KERNEL, KIND_LABEL, KIND_UNKNOWN};

	for (size_t i = 0; i < sizeof(java) / sizeof(*java); i++)
		check(java[i], "a/Bcd.e", 4, "e");
	for (size_t i = 0; i < sizeof(native) / sizeof(*native); i++)
		check(native[i], "ab::cd(int)", 6, "ab::cd");
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		check(others[i], "ab::cd(int)", 6, "ab::..");
}

static void nothing_sensible_fits_two_columns(void **state)
{
	check(KIND_JIT, "java/util/HashMap.getNode", LABEL_MIN_COLUMNS - 1, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_shortened_as_the_cases_say),
		cmocka_unit_test(kinds_go_by_their_language),
		cmocka_unit_test(nothing_sensible_fits_two_columns),
	};

	return cmocka_run_group_tests_name("label", tests, NULL, NULL);
}
