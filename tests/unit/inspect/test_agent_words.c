// SPDX-License-Identifier: Apache-2.0
/* Claims about inspect/agent_words.h: what a JVM's environment and mounts say of its agent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "inspect/agent_words.h"

#define WORDS(text) text "\0", sizeof(text "\0") - 1

static void a_variable_without_the_agent_is_one_that_was_replaced(void **state)
{
	assert_string_equal(agent_words_replaced(WORDS("A=b\0JDK_JAVA_OPTIONS=-Xmx1g\0C=d")),
			    "JDK_JAVA_OPTIONS");
	assert_string_equal(agent_words_replaced(WORDS("JAVA_TOOL_OPTIONS=-ea")),
			    "JAVA_TOOL_OPTIONS");
	assert_null(agent_words_replaced(
		WORDS("JAVA_TOOL_OPTIONS=-agentpath:/opt/fgcollect/libfgagent.so -ea")));
	assert_null(agent_words_replaced(WORDS("MY_JAVA_TOOL_OPTIONS=-ea\0JAVA_TOOL_OPTIONS=")));
	assert_null(agent_words_replaced("", 0));
}

static void off_is_said_by_the_agents_own_variable(void **state)
{
	assert_true(agent_words_are_off(WORDS("A=b\0FGAGENT_OPTS=off")));
	assert_false(agent_words_are_off(WORDS("FGAGENT_OPTS=framepointer=off")));
	assert_false(agent_words_are_off(WORDS("MY_FGAGENT_OPTS=off")));
	assert_false(agent_words_are_off("", 0));
}

static bool has_mount(const char *path)
{
	char text[] =
		"29 1 0:26 / / rw - overlay overlay rw\n"
		"30 29 8:1 /run/fgcollect/agent.sock /run/fgcollect/agent.sock ro - ext4 x rw\n";

	return agent_words_have_mount(text, path);
}

static void a_socket_that_is_mounted_by_itself_is_seen(void **state)
{
	assert_true(has_mount("/run/fgcollect/agent.sock"));
	assert_false(has_mount("/run/fgcollect"));
	assert_false(has_mount("/run/fgcollect/agent.sock2"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_variable_without_the_agent_is_one_that_was_replaced),
		cmocka_unit_test(off_is_said_by_the_agents_own_variable),
		cmocka_unit_test(a_socket_that_is_mounted_by_itself_is_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
