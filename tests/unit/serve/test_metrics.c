// SPDX-License-Identifier: Apache-2.0
/* The text for Prometheus: all numbers of the list, and labels that hold whatever is in them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "../process/own_jvm.h"
#include "inspect/jvm_list.h"
#include "inspect/jvm_counters.h"
#include "serve/counted.h"
#include "serve/metrics.h"

static char *text;

static int tear_down(void **state)
{
	free(text);
	text = NULL;
	return 0;
}

static void write_text(json_t *list)
{
	size_t len;

	assert_non_null(list);
	text = metrics_text(list, &len);
	assert_non_null(text);
	assert_int_equal(len, strlen(text));
	json_decref(list);
}

static size_t count_lines(const char *beginning)
{
	size_t count = 0;

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		count += strncmp(line, beginning, strlen(beginning)) == 0;
		if (!*line)
			break;
	}
	return count;
}

/* Each integer of an object, at any depth, becomes 1. */
static size_t count_integers(json_t *object)
{
	size_t count = 0;
	const char *key;
	json_t *value;

	json_object_foreach (object, key, value) {
		if (json_is_object(value))
			count += count_integers(value);
		count += json_is_integer(value);
	}
	return count;
}

static json_t *list_of_this_process(void)
{
	struct targets targets;
	json_t *list;

	targets_init(&targets);
	own_jvm_in(&targets);
	list = jvm_list_to_json(&targets, counted_list(NULL, NULL));
	targets_fini(&targets);
	return list;
}

static void every_number_of_the_list_is_a_metric(void **state)
{
	json_t *list = list_of_this_process();
	const size_t n = count_integers(json_object_get(list, "collector")) +
			 count_integers(json_array_get(json_object_get(list, "jvms"), 0)) - 1;
	/*
	 * Info, left out and build info are not of the list; and what parsers can do is no integer.
	 */
	const size_t own = 4;

	write_text(list);
	assert_int_equal(count_lines("fgcollect_"), n + own);
}

static void every_declared_counter_is_in_the_list(void **state)
{
	const struct counters *table;
	char line[160];
	size_t n = 0;

	write_text(list_of_this_process());
	for (size_t i = 0; (table = counted_table(i)) || (table = jvm_counters_table(i - n)); i++) {
		n += counted_table(i) != NULL;
		for (const struct counter *row = table->rows; row < table->rows + table->n; row++) {
			if (row->help && row->kind != COUNTER_IS_HISTOGRAM)
				snprintf(line, sizeof(line), "# TYPE fgcollect_%s ", row->metric);
			else
				snprintf(line, sizeof(line), "fgcollect_%s", row->metric);
			assert_true(count_lines(line) >= 1);
		}
	}
}

static void a_histogram_has_one_head_and_its_bounds_in_order(void **state)
{
	static const char *const lines[] = {
		"# TYPE fgcollect_turn_seconds histogram\n",
		"fgcollect_turn_seconds_bucket{le=\"0.001\"} ",
		"fgcollect_turn_seconds_bucket{le=\"5\"} ",
		"fgcollect_turn_seconds_bucket{le=\"+Inf\"} 0\n",
		"fgcollect_turn_seconds_sum 0.000000\n",
		"fgcollect_turn_seconds_count 0\n",
	};
	const char *at;

	write_text(list_of_this_process());
	assert_int_equal(count_lines("# TYPE fgcollect_turn_seconds"), 1);
	at = text;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		at = strstr(at, lines[i]);
		assert_non_null(at);
	}
}

static void labels_hold_what_agents_say(void **state)
{
	char longest[600];
	const char *main_label;

	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	memcpy(longest + 199, "\xc3\xa4", 2);
	write_text(json_pack("{s:{}, s:[{s:i, s:s, s:s}, {s:i, s:s}]}", "collector", "jvms", "pid",
			     5, "container", "a\"} 1\nb\\", "command", "Main secret", "pid", 6,
			     "command", longest));
	assert_non_null(strstr(text, "container=\"a\\\"} 1?b\\\\\""));
	assert_non_null(strstr(text, "main=\"Main\""));
	assert_null(strstr(text, "secret"));
	main_label = strstr(text, "main=\"x");
	assert_non_null(main_label);
	assert_int_equal(strcspn(main_label + 6, "\""), 199); /* no half a character */
}

/* Whoever made the container or the pod chose them; they are labels of no other metric. */
static void names_of_containers_and_pods_are_labels_of_the_info_alone(void **state)
{
	char longest[600], name[64];
	const char *pod;

	memset(longest, 'p', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	strcpy(name, "w\"eb\n1\\");
	write_text(json_pack("{s:{}, s:[{s:i, s:s, s:s, s:s, s:s, s:{s:s, s:s}, s:i}]}",
			     "collector", "jvms", "pid", 5, "container", "c0ffee", "container_name",
			     name, "pod", longest, "namespace", "shop", "labels", "team", "blue",
			     "image", "shop/cart:1", "loads", 7));
	assert_non_null(strstr(text, ",container_name=\"w\\\"eb?1\\\\\",pod=\"p"));
	assert_non_null(strstr(text, "p\",namespace=\"shop\",image=\"shop/cart:1\","));
	assert_null(strstr(text, "blue"));
	pod = strstr(text, ",pod=\"");
	assert_int_equal(strcspn(pod + 6, "\""), 200);
	assert_non_null(strstr(text, "fgcollect_jvm_code_loads_total{pid=\"5\","
				     "container=\"c0ffee\"} 7\n"));
	assert_null(strstr(pod + 1, ",pod=\""));
	assert_ptr_equal(strstr(text, ",pod=\""), pod);
	assert_int_equal(count_lines("fgcollect_jvm_info{pid=\"5\","), 1);
}

static void past_the_most_jvms_the_rest_is_counted(void **state)
{
	json_t *jvms = json_array();

	for (int i = 0; i < METRICS_MAX_JVMS + 3; i++)
		json_array_append_new(jvms, json_pack("{s:i, s:i}", "pid", i + 1, "loads", i));
	write_text(json_pack("{s:{}, s:o}", "collector", "jvms", jvms));
	assert_int_equal(count_lines("fgcollect_jvm_code_loads_total{"), METRICS_MAX_JVMS);
	assert_int_equal(count_lines("fgcollect_jvms_left_out 3\n"), 1);
}

static void milliseconds_become_seconds(void **state)
{
	write_text(json_pack("{s:{s:{s:i}}, s:[]}", "collector", "unwind_tables", "load_ms", 1234,
			     "jvms"));
	assert_int_equal(count_lines("fgcollect_unwind_table_load_seconds_total 1.234\n"), 1);
}

static void truths_are_0_or_1(void **state)
{
	write_text(json_pack("{s:{s:{s:b}}, s:[]}", "collector", "parsers", "running", 1, "jvms"));
	assert_int_equal(count_lines("fgcollect_parsers_can_start 1\n"), 1);
	free(text);
	write_text(json_pack("{s:{s:{s:b}}, s:[]}", "collector", "parsers", "running", 0, "jvms"));
	assert_int_equal(count_lines("fgcollect_parsers_can_start 0\n"), 1);
}

#define CLAIM(name) cmocka_unit_test_teardown(name, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM(every_number_of_the_list_is_a_metric),
		CLAIM(every_declared_counter_is_in_the_list),
		CLAIM(a_histogram_has_one_head_and_its_bounds_in_order),
		CLAIM(labels_hold_what_agents_say),
		CLAIM(names_of_containers_and_pods_are_labels_of_the_info_alone),
		CLAIM(past_the_most_jvms_the_rest_is_counted),
		CLAIM(milliseconds_become_seconds),
		CLAIM(truths_are_0_or_1),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
