// SPDX-License-Identifier: Apache-2.0
/* Titles of programs, and whose programs they are, by what launchers of JDK 8 to 25 write. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "code/java_program.h"

#define LAUNCHER "jdk.compiler/com.sun.tools.javac.launcher."

static void check_title(const char *command, const char *jar, const char *expected)
{
	const struct java_program program = {.command = command, .jar = jar};
	char title[64];

	java_program_title(&program, title, sizeof(title));
	assert_string_equal(title, expected);
}

static void a_class_is_its_name(void **state)
{
	check_title("com.acme.Main", NULL, "com.acme.Main");
	check_title("com.acme.Main /tmp/x.jar", NULL, "com.acme.Main");
	check_title("com.acme.app/com.acme.Main --port 80", NULL, "com.acme.app/com.acme.Main");
}

static void a_jar_is_its_name_without_the_directory(void **state)
{
	check_title("service.jar", "service.jar", "service.jar");
	check_title("/opt/app/service.jar --x /y", "/opt/app/service.jar", "service.jar");
	check_title("/opt/app/service.war --x", "/opt/app/service.war", "service.war");
}

static void blanks_in_a_jars_path_do_not_end_it(void **state)
{
	check_title("/tmp/my apps/order service.jar --a b.jar", "/tmp/my apps/order service.jar",
		    "order service.jar");
	check_title("my apps/order service.jar x", "my apps/order service.jar",
		    "order service.jar");
}

static void agents_that_do_not_tell_the_jar_are_guessed_right(void **state)
{
	check_title("/opt/app/service.jar --x", NULL, "service.jar");
	check_title("/tmp/my apps/order service.jar --a b.jar", NULL, "order service.jar");
	check_title("/tmp/x.jars/app.jar y", NULL, "app.jar");
	check_title("/tmp/no suffix", NULL, "/tmp/no");
}

static void a_source_file_is_its_name_without_the_directory(void **state)
{
	check_title(LAUNCHER "Main Hello.java 1 2", NULL, "Hello.java");
	check_title(LAUNCHER "SourceLauncher /tmp/my files/Hello World.java A.java", NULL,
		    "Hello World.java");
	check_title(LAUNCHER "Main /usr/local/bin/script x", NULL, "script");
	check_title(LAUNCHER "Main", NULL, LAUNCHER "Main");
}

static void what_is_not_known_has_no_title(void **state)
{
	check_title(NULL, NULL, "");
	check_title("", NULL, "");
}

static bool is_tool(const char *command, const char *line)
{
	const struct java_program program = {.command = command, .line = line};

	return java_program_is_tool(&program);
}

static void programs_of_the_jdk_are_tools(void **state)
{
	assert_true(is_tool("jdk.jcmd/sun.tools.jcmd.JCmd 1 VM.version", NULL));
	assert_true(is_tool("sun.tools.jstack.JStack 1", NULL));
	assert_true(is_tool("java.base/sun.security.tools.keytool.Main -list", NULL));
	assert_true(is_tool("sun.security.tools.keytool.Main -list", NULL));
	assert_true(is_tool("jdk.jshell.execution.RemoteExecutionControl 4711", NULL));
	assert_true(is_tool(NULL, "/usr/lib/jvm/x/bin/java -version"));
	assert_true(is_tool("", "java -version"));
}

static void programs_of_others_are_none(void **state)
{
	static const struct java_program jar = {.command = "java.jar", .jar = "java.jar"};

	assert_false(is_tool("com.acme.Main", "java com.acme.Main"));
	assert_false(is_tool("com.acme.jdk/com.acme.Main", NULL));
	assert_false(is_tool("javax.Main", NULL));
	assert_false(is_tool(LAUNCHER "Main Hello.java", NULL));
	assert_false(is_tool(NULL, "/opt/embeds/a-jvm -version"));
	assert_false(is_tool(NULL, NULL));
	assert_false(java_program_is_tool(&jar));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_class_is_its_name),
		cmocka_unit_test(a_jar_is_its_name_without_the_directory),
		cmocka_unit_test(blanks_in_a_jars_path_do_not_end_it),
		cmocka_unit_test(agents_that_do_not_tell_the_jar_are_guessed_right),
		cmocka_unit_test(a_source_file_is_its_name_without_the_directory),
		cmocka_unit_test(what_is_not_known_has_no_title),
		cmocka_unit_test(programs_of_the_jdk_are_tools),
		cmocka_unit_test(programs_of_others_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
