// SPDX-License-Identifier: Apache-2.0
#include "vm/program_texts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* The terminator of the literal is that of the last text. */
#define TAKE_ARGUMENTS(texts, literal) program_texts_take_arguments(texts, literal, sizeof(literal))
#define TAKE_ENVIRONMENT(texts, literal)                                                           \
	program_texts_take_environment(texts, literal, sizeof(literal))

static void arguments_have_blanks_between(void **state)
{
	struct program_texts texts = {0};

	TAKE_ARGUMENTS(&texts, "java\0-Xmx1g\0com.example.Shop\0--port\0"
			       "80\0\0");
	assert_string_equal(texts.command, "java -Xmx1g com.example.Shop --port 80");
	assert_string_equal(texts.jar, "");
}

static void a_jars_path_ends_where_its_argument_ends(void **state)
{
	struct program_texts texts = {0};

	TAKE_ARGUMENTS(&texts, "java\0-jar\0/opt/my shop.jar\0-jar\0other.jar");
	assert_string_equal(texts.jar, "/opt/my shop.jar");
	assert_int_equal(program_texts_jar_len(&texts, "/opt/my shop.jar -jar other.jar"), 16);
	assert_int_equal(program_texts_jar_len(&texts, "/opt/my shop.jar"), 16);
	/* The command line has been written over, or a launcher of its own has begun the JVM. */
	assert_int_equal(program_texts_jar_len(&texts, "/opt/my shop.jarx"), 0);
	assert_int_equal(program_texts_jar_len(&texts, "com.example.Shop"), 0);
}

static void no_jar_is_no_beginning_of_a_command(void **state)
{
	struct program_texts texts = {0};

	TAKE_ARGUMENTS(&texts, "java\0-jar");
	assert_string_equal(texts.jar, "");
	assert_int_equal(program_texts_jar_len(&texts, ""), 0);
	assert_int_equal(program_texts_jar_len(&texts, " x"), 0);
}

static void variables_are_found_by_their_whole_names(void **state)
{
	struct program_texts texts = {0};

	TAKE_ENVIRONMENT(&texts, "PATH=/bin\0MY_POD_NAME=no\0POD_NAMES=no\0POD_NAME=shop-1\0"
				 "POD_NAMESPACE=prod\0POD_NAME=later\0OTEL_SERVICE_NAME=\0"
				 "OTEL_RESOURCE_ATTRIBUTES=a=b,c=d");
	assert_string_equal(texts.variables[PROGRAM_POD], "shop-1");
	assert_string_equal(texts.variables[PROGRAM_POD_NAMESPACE], "prod");
	assert_string_equal(texts.variables[PROGRAM_OTEL_SERVICE], "");
	assert_string_equal(texts.variables[PROGRAM_OTEL_RESOURCES], "a=b,c=d");
}

static void long_texts_are_cut_and_stay_terminated(void **state)
{
	static char bytes[3 * PROGRAM_TEXT_BYTES];
	struct program_texts texts = {0};

	memset(bytes, 'x', sizeof(bytes));
	memcpy(bytes, "POD_NAME=", 9);
	program_texts_take_arguments(&texts, bytes, sizeof(bytes));
	program_texts_take_environment(&texts, bytes, sizeof(bytes));
	assert_int_equal(strlen(texts.command), PROGRAM_TEXT_BYTES - 1);
	assert_int_equal(strlen(texts.variables[PROGRAM_POD]), PROGRAM_TEXT_BYTES - 1);
	memcpy(bytes, "-jar", 5);
	program_texts_take_arguments(&texts, bytes, sizeof(bytes));
	assert_string_equal(texts.jar, ""); /* a part of a path is no path */
}

static void a_process_is_read(void **state)
{
	struct program_texts texts;

	program_texts_read(getpid(), &texts);
	assert_non_null(strstr(texts.command, "test_program_texts"));
	assert_false(texts.is_cut);
	program_texts_read(0, &texts);
	assert_string_equal(texts.command, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arguments_have_blanks_between),
		cmocka_unit_test(a_jars_path_ends_where_its_argument_ends),
		cmocka_unit_test(no_jar_is_no_beginning_of_a_command),
		cmocka_unit_test(variables_are_found_by_their_whole_names),
		cmocka_unit_test(long_texts_are_cut_and_stay_terminated),
		cmocka_unit_test(a_process_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
