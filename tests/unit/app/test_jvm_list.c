// SPDX-License-Identifier: Apache-2.0
/* The table of JVMs: what agents say of themselves reaches root's terminal only as text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/jvm_list.h"

static char *print(json_t *list)
{
	char *text = NULL;
	size_t len = 0;
	FILE *stream = open_memstream(&text, &len);

	jvm_list_print(list, stream);
	fclose(stream);
	json_decref(list);
	return text;
}

static void escapes_of_agents_are_shown_as_text(void **state)
{
	json_t *list = json_pack("{s:[{s:i,s:i,s:s,s:s,s:s,s:s,s:s}]}", "jvms", "pid", 4711,
				 "inner_pid", 1, "container", "\x1b]0;x\a", "state", "current",
				 "jvm_version", "\x1b[2J17", "command",
				 "a\nb\x7f\xc2\x9b"
				 "31mJ\xc3\xa4va",
				 "shadowed_by", "/tmp/\x1b[1m");
	char *text = print(list);

	(void)state;
	assert_null(strpbrk(text, "\x1b\a\x7f"));
	assert_null(strstr(text, "\xc2\x9b"));
	assert_non_null(strstr(text, "a?b??31mJ\xc3\xa4va\n"));
	assert_non_null(strstr(text, "?[2J17"));
	free(text);
}

static void losses_add_up_and_end_at_the_greatest(void **state)
{
	json_t *list = json_pack("{s:[{s:i,s:i,s:i,s:{s:I,s:I}}]}", "jvms", "pid", 1, "gaps", 2,
				 "bad_records", 3, "lost_by_agent", "buffer full",
				 (json_int_t)INT64_MAX, "no memory", (json_int_t)INT64_MAX);
	char *text = print(list);

	(void)state;
	assert_non_null(strstr(text, " 9223372036854775807 "));
	free(text);
	text = print(
		json_pack("{s:[{s:i,s:i,s:i}]}", "jvms", "pid", 1, "gaps", 2, "bad_records", 3));
	assert_non_null(strstr(text, "      5  "));
	free(text);
}

static void nothing_is_printed_of_nothing(void **state)
{
	char *text = print(json_pack("{s:[]}", "jvms"));

	(void)state;
	assert_string_equal(text, "");
	free(text);
}

static void what_the_collector_refused_is_shown(void **state)
{
	struct targets targets = {.refused_sessions = 2};
	const struct intake_stats intake = {.refused = 3};
	char *text = print(jvm_list_to_json(&targets, &intake));

	(void)state;
	assert_string_equal(text, "collector: 3 refused connections, 2 refused sessions\n");
	free(text);
}

static void unnamed_interpreted_frames_are_shown_by_reason(void **state)
{
	const struct intake_stats intake = {0};
	const json_t *unnamed;
	struct process *process;
	struct targets targets;
	json_t *list;

	(void)state;
	targets_init(&targets, "/tmp");
	process = targets_find_or_read(&targets, getpid());
	assert_non_null(process);
	assert_int_equal(process_add_jvm(process), 0);
	process->jvm->unnamed_methods[JAVA_METHODS_NO_PERMISSION] = 3;
	list = jvm_list_to_json(&targets, &intake);
	unnamed = json_object_get(json_array_get(json_object_get(list, "jvms"), 0),
				  "unnamed_interpreted");
	assert_int_equal(json_object_size(unnamed), 1);
	assert_int_equal(json_integer_value(json_object_get(unnamed, "no permission")), 3);
	json_decref(list);
	targets_fini(&targets);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(escapes_of_agents_are_shown_as_text),
		cmocka_unit_test(losses_add_up_and_end_at_the_greatest),
		cmocka_unit_test(what_the_collector_refused_is_shown),
		cmocka_unit_test(unnamed_interpreted_frames_are_shown_by_reason),
		cmocka_unit_test(nothing_is_printed_of_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
