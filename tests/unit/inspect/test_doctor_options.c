// SPDX-License-Identifier: Apache-2.0
/*
 * What doctor reads out of command lines and environments, words that end with NUL, and what it
 * says where it has found no JVM.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/json_value.h"
#include "inspect/doctor.h"

#define WORDS(text) text "\0", sizeof(text "\0") - 1

static char path[64];

static const char *find_socket(const char *text, size_t len)
{
	return doctor_find_socket(text, len, path, sizeof(path)) ? path : "none";
}

static void the_socket_is_that_of_an_agent_in_a_file_of_any_name(void **state)
{
	assert_string_equal(find_socket(WORDS("java\0-agentpath:/o/libfgagent.so=socket=/a/b")),
			    "/a/b");
	assert_string_equal(find_socket(WORDS("java\0-agentpath:/o/x.so=buffer=1m,socket=/a,x=y")),
			    "/a");
	assert_string_equal(find_socket(WORDS("A=b\0JAVA_TOOL_OPTIONS=-Xmx1g -agentpath:/o/"
					      "fg.so=socket=listen:/t -Xms1g")),
			    "listen:/t");
	assert_string_equal(find_socket(WORDS("X=-agentlib:jdwp=transport=dt_socket,server=y "
					      "-agentpath:/x.so=socket=/c")),
			    "/c");
}

static void the_socket_may_be_in_the_agents_own_variable(void **state)
{
	assert_string_equal(find_socket(WORDS("A=b\0FGAGENT_OPTS=delay=1s,socket=/d/e\0C=d")),
			    "/d/e");
}

static void what_is_no_option_of_an_agent_has_no_socket(void **state)
{
	assert_string_equal(find_socket(WORDS("java\0-jar\0x.jar\0socket=/no")), "none");
	assert_string_equal(find_socket(WORDS("java\0-agentpath:/o/x.so socket=/no")), "none");
	assert_string_equal(find_socket(WORDS("java\0-agentlib:jdwp=transport=dt_socket")), "none");
	assert_string_equal(find_socket(WORDS("MY_FGAGENT_OPTS=socket=/no")), "none");
}

static void options_that_dump_a_class_archive_are_found(void **state)
{
	assert_string_equal(doctor_find_dumping(WORDS("java\0-Xshare:dump\0-jar\0x")),
			    "-Xshare:dump");
	assert_string_equal(
		doctor_find_dumping(WORDS("A=b\0JAVA_TOOL_OPTIONS=-XX:ArchiveClassesAtExit=x")),
		"-XX:ArchiveClassesAtExit=");
	assert_string_equal(doctor_find_dumping(WORDS(
				    "JDK_JAVA_OPTIONS=-Xmx1g '-XX:+AutoCreateSharedArchive' -ea")),
			    "-XX:+AutoCreateSharedArchive");
}

static void options_that_use_an_archive_dump_none(void **state)
{
	assert_null(doctor_find_dumping(WORDS("java\0-XX:SharedArchiveFile=x\0-Xshare:on")));
	assert_null(doctor_find_dumping(WORDS("java\0-XX:-AutoCreateSharedArchive")));
	assert_null(doctor_find_dumping(WORDS("java\0-Dx-Xshare:dump")));
	assert_null(doctor_find_dumping("", 0));
}

static void a_host_without_a_jvm_is_told_and_hidden_ones_are_a_problem(void **state)
{
	struct doctor doctor = {.findings = json_array()};

	doctor_say_counts(&doctor, 2, 0);
	assert_int_equal(json_array_size(doctor.findings), 0);
	doctor_say_counts(&doctor, 0, 0);
	assert_string_equal(json_value_text(json_array_get(doctor.findings, 0), "what"),
			    "none is running");
	assert_int_equal(doctor.counts[FINDING_NOTE], 1);
	doctor_say_counts(&doctor, 0, 1);
	assert_int_equal(doctor.counts[FINDING_PROBLEM], 1);
	json_decref(doctor.findings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_socket_is_that_of_an_agent_in_a_file_of_any_name),
		cmocka_unit_test(the_socket_may_be_in_the_agents_own_variable),
		cmocka_unit_test(what_is_no_option_of_an_agent_has_no_socket),
		cmocka_unit_test(options_that_dump_a_class_archive_are_found),
		cmocka_unit_test(a_host_without_a_jvm_is_told_and_hidden_ones_are_a_problem),
		cmocka_unit_test(options_that_use_an_archive_dump_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
