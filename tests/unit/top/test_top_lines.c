// SPDX-License-Identifier: Apache-2.0
/* Lines fit their width, and no name can steer a terminal. */
#include "encode/text.h"
#include "top/top_lines.h"
#include "top/top_print.h"
#include "top_samples.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include <cmocka.h>

static struct top_samples samples;
static struct top_view view;

static int set_up(void **state)
{
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		return -1;
	top_samples_init(&samples);
	top_view_init(&view);
	return 0;
}

static int tear_down(void **state)
{
	top_view_fini(&view);
	top_samples_fini(&samples);
	return 0;
}

static void assert_fits(const char *text, unsigned width, const char *expected)
{
	struct bytes out = {0};

	top_text_fit(text, width, false, &out);
	assert_string_equal(bytes_text(&out), expected);
	bytes_fini(&out);
}

static void what_could_steer_a_terminal_is_a_question_mark(void **state)
{
	assert_fits("a\033[2Jb", 80, "a?[2Jb");
	assert_fits("a\r\n\tb\x7f", 80, "a???b?");
	assert_fits("\xc2\x9b"
		    "31m",
		    80, "?31m"); /* CSI in one byte */
	assert_fits("a\xe2\x80\xae"
		    "b",
		    80, "a?b");				 /* right to left */
	assert_fits("a\xff\xc0\x80 b", 80, "a??? b");	 /* no UTF-8 */
	assert_fits("a\xe2\x82", 80, "a??");		 /* half a character */
	assert_fits("e\xcc\x81\xe2\x80\x8b", 80, "e??"); /* without a width */
}

static void wide_characters_take_two_columns(void **state)
{
	assert_fits("\xe4\xb8\xad\xe6\x96\x87", 4, "\xe4\xb8\xad\xe6\x96\x87");
	assert_fits("\xe4\xb8\xad\xe6\x96\x87", 3, "\xe4\xb8\xad");
	assert_fits("abcdef", 5, "abc..");
	assert_fits("abcdef", 6, "abcdef");
	assert_fits("abcdef", 0, "");
}

static void in_a_locale_of_bytes_only_ascii_is_written(void **state)
{
	assert_non_null(setlocale(LC_CTYPE, "C"));
	assert_fits("caf\xc3\xa9 \xe4\xb8\xad", 80, "caf? ?");
}

static unsigned columns_of(const char *text)
{
	unsigned columns = 0;
	uint32_t code;

	while ((code = text_next(&text)) != TEXT_END) {
		assert_true(code != TEXT_BAD && wcwidth((wchar_t)code) > 0);
		columns += (unsigned)wcwidth((wchar_t)code);
	}
	return columns;
}

static void assert_lines_fit(unsigned width)
{
	struct bytes line = {0};

	for (size_t i = 0; i < view.n_rows; i++) {
		const size_t name_at = top_line_row(&view, &view.rows[i], width, &line);

		assert_true(name_at <= line.len);
		assert_true(columns_of(bytes_text(&line)) <= width);
	}
	top_line_head(&view, width, &line);
	columns_of(bytes_text(&line));
	top_line_state(&view, width, &line);
	assert_true(columns_of(bytes_text(&line)) <= width);
	bytes_fini(&line);
}

static void lines_of_every_view_fit_every_width(void **state)
{
	static const char *const names[] = {
		"com/example/very/deep/packages/of/Things.withALongMethodName_[j]",
		"\033]0;title\007_[j]",
		"\xe4\xb8\xad\xe6\x96\x87/\xe4\xb8\xad.\xe6\x96\x87_[j]",
		"std::vector<int, std::allocator<int> >::push_back",
		"\xff\xfe\xfd",
		"x"};

	for (int i = 0; i < 6; i++)
		top_samples_add(&samples, 4000000 + i, 4000000 + i, names[i], 100 - (unsigned)i);
	assert_int_equal(top_view_set_filter(&view, "."), 0);
	view.sample_cores = 1e9; /* wider than its column */
	for (int mode = 0; mode < TOP_MODES; mode++) {
		view.mode = (enum top_mode)mode;
		top_view_show(&view, &samples.profile, &samples.timeline);
		assert_int_equal(view.n_rows > 0, 1);
		for (unsigned width = 1; width < 260; width++)
			assert_lines_fit(width);
	}
}

static uint32_t owner_of(int pid, const char *container, const char *name)
{
	const struct timeline_process process = {
		.pid = pid, .title = "app.jar", .container = container, .container_name = name};

	return timeline_process(&samples.timeline, &process);
}

static void assert_owner(int pid, const char *expected)
{
	struct bytes line = {0};

	view.mode = TOP_PROCESSES;
	top_view_show(&view, &samples.profile, &samples.timeline);
	for (size_t i = 0; i < view.n_rows; i++) {
		if (samples.timeline.processes[view.rows[i].process].pid == pid)
			top_line_row(&view, &view.rows[i], 120, &line);
	}
	assert_non_null(strstr(bytes_text(&line), expected));
	bytes_fini(&line);
}

static void a_jvm_is_called_by_its_container_and_jvms_of_one_name_by_pid_too(void **state)
{
	for (int pid = 1; pid <= 4; pid++)
		top_samples_add(&samples, pid, pid, "main_[j]", 1);
	owner_of(1, "3f2a914b", "shop-1");
	owner_of(2, "3f2a914c", "shop-2");
	assert_owner(1, "shop-1: app.jar  ");
	assert_owner(2, "shop-2: app.jar  ");
	owner_of(3, "3f2a914b", "shop-1");
	assert_owner(1, "shop-1: app.jar 1 ");
	assert_owner(3, "shop-1: app.jar 3 ");
	owner_of(4, "4f2a914b", "");
	assert_owner(4, "app.jar 4f2a91 ");
}

/* ---- whole tables ---- */

static const struct top_facts facts = {.kind = &profile_kind_cpu,
				       .target = "all JVMs",
				       .event = "cpu-clock",
				       .summary = "what is watched",
				       .quality = "how good",
				       .hz = 99,
				       .jvms = 1,
				       .time_unix_s = 5,
				       .window_s = 10,
				       .figures = {.samples = 10, .lost_samples = 2}};

static void a_plain_table_has_names_whole(void **state)
{
	char text[4096];
	FILE *stream = fmemopen(text, sizeof(text), "w");

	top_samples_add(&samples, 17, 17, "main_[j];com/example/deep/packages/of/Things.method_[j]",
			9);
	top_samples_add(&samples, 17, 17, "main_[j]", 1);
	top_view_show(&view, &samples.profile, &samples.timeline);
	top_print(&view, &facts, 0, 1, stream);
	fclose(stream);
	assert_string_equal(text, "what is watched\n"
				  "how good\n"
				  "methods by self: 2\n"
				  " SELF% TOTAL% KIND   JVM                           METHOD\n"
				  " 90.00  90.00 jit    app17 17                      "
				  "com/example/deep/packages/of/Things.method\n"
				  "1 more\n");
}

/* An empty table alone does not tell whether anything was looked at. */
static void a_table_without_samples_says_what_may_help(void **state)
{
	struct top_facts none = facts;
	char text[4096];
	FILE *stream = fmemopen(text, sizeof(text), "w");

	none.figures.samples = 0;
	top_view_show(&view, &samples.profile, &samples.timeline);
	top_print(&view, &none, 0, 1, stream);
	fclose(stream);
	assert_non_null(strstr(text, "METHOD\nno samples: nothing of it ran in this time; a longer "
				     "one (-d SECS, "));
}

/* Each sample is a tenth of a core. */
static void processor_time_has_a_column_in_cores_where_there_is_room(void **state)
{
	struct bytes line = {0};

	top_samples_add(&samples, 17, 17, "main_[j];hot_[j]", 9);
	top_samples_add(&samples, 17, 17, "main_[j]", 1);
	view.sample_cores = 0.1;
	top_view_show(&view, &samples.profile, &samples.timeline);
	top_line_head(&view, 120, &line);
	assert_int_equal(strncmp(bytes_text(&line), " SELF%   CORES TOTAL% KIND ", 27), 0);
	top_line_row(&view, &view.rows[0], 120, &line);
	assert_int_equal(strncmp(bytes_text(&line), " 90.00    0.90  90.00 jit ", 26), 0);
	top_line_head(&view, 99, &line);
	assert_null(strstr(bytes_text(&line), "CORES"));
	view.mode = TOP_PROCESSES;
	top_view_show(&view, &samples.profile, &samples.timeline);
	top_line_row(&view, &view.rows[0], 80, &line);
	assert_int_equal(strncmp(bytes_text(&line), "100.00    1.00      17 ", 23), 0);
	view.sample_cores = 0;
	top_line_row(&view, &view.rows[0], 80, &line);
	assert_int_equal(strncmp(bytes_text(&line), "100.00      17 ", 15), 0);
	bytes_fini(&line);
}

static void json_has_cores_only_where_they_are_known(void **state)
{
	json_t *object;

	top_samples_add(&samples, 17, 17, "main_[j]", 2);
	top_view_show(&view, &samples.profile, &samples.timeline);
	object = top_to_json(&view, &facts, 1);
	assert_null(json_object_get(object, "cores"));
	json_decref(object);
	view.sample_cores = 0.1;
	object = top_to_json(&view, &facts, 1);
	assert_true(json_real_value(json_object_get(object, "cores")) == 0.2);
	assert_true(json_real_value(json_object_get(
			    json_array_get(json_object_get(object, "rows"), 0), "cores")) == 0.2);
	json_decref(object);
}

static void json_has_all_figures_and_only_utf_8(void **state)
{
	const json_t *row;
	json_t *object;
	char *text;

	top_samples_add(&samples, 17, 18, "main_[j];bad\xff\033_[1]", 9);
	top_samples_add(&samples, 17, 18, "other_[j];main_[j]", 1);
	top_view_show(&view, &samples.profile, &samples.timeline);
	object = top_to_json(&view, &facts, 1);
	assert_string_equal(json_string_value(json_object_get(object, "kind")), "cpu");
	assert_string_equal(json_string_value(json_object_get(object, "unit")), "samples");
	row = json_array_get(json_object_get(object, "rows"), 0);
	assert_string_equal(json_string_value(json_object_get(row, "name")),
			    "bad\xef\xbf\xbd\xef\xbf\xbd");
	assert_string_equal(json_string_value(json_object_get(row, "kind")), "c1");
	assert_int_equal(json_integer_value(json_object_get(row, "self")), 9);
	assert_true(json_real_value(json_object_get(row, "total_percent")) == 90.0);
	assert_int_equal(json_integer_value(json_object_get(row, "pid")), 17);
	assert_int_equal(json_integer_value(json_object_get(object, "rows_left_out")), 2);
	assert_int_equal(json_integer_value(json_object_get(object, "samples")), 10);
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(object, "quality"), "lost")), 2);
	text = json_dumps(object, JSON_COMPACT);
	assert_non_null(text);
	assert_null(strchr(text, '\n'));
	free(text);
	json_decref(object);
}

#define CLAIM(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM(what_could_steer_a_terminal_is_a_question_mark),
		CLAIM(wide_characters_take_two_columns),
		CLAIM(in_a_locale_of_bytes_only_ascii_is_written),
		CLAIM(lines_of_every_view_fit_every_width),
		CLAIM(a_plain_table_has_names_whole),
		CLAIM(a_table_without_samples_says_what_may_help),
		CLAIM(a_jvm_is_called_by_its_container_and_jvms_of_one_name_by_pid_too),
		CLAIM(processor_time_has_a_column_in_cores_where_there_is_room),
		CLAIM(json_has_cores_only_where_they_are_known),
		CLAIM(json_has_all_figures_and_only_utf_8),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
