// SPDX-License-Identifier: Apache-2.0
/* The command line of render and diff: whoever comes from other tools finds their options. */
#include "common/words.h"
#include "draw/draw_missing.h"
#include "draw/draw_options.h"
#include "draw/draw_wait_options.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static struct draw_options options;

static int parse(enum draw_command command, const char *line)
{
	struct words words = words_of("render", line);

	return draw_options_parse(&options, command, words.argc, words.argv);
}

static void options_of_flamegraph_are_taken(void **state)
{
	assert_int_equal(parse(DRAW_RENDER,
			       "a.folded --title T --subtitle S --width 900 --height 20 "
			       "--minwidth 0.5% --fonttype F --fontsize 11 --fontwidth 0.6 "
			       "--countname ms --nametype N --colors hot --bgcolors blue "
			       "--hash --random --cp --reverse --inverted --negate "
			       "--notes X --total 10 --factor 2 --encoding utf-8 -o x.svg"),
			 0);
	assert_true(options.has_palette_map);
	assert_int_not_equal(options.render.random, 0);
	assert_int_equal(options.render.palette, PALETTE_HOT);
	assert_true(options.is_reversed);
	assert_true(options.render.is_inverted);
	assert_true(options.is_negated);
	assert_true(options.render.factor == 2);
	assert_true(options.render.min_width_percent == 0.5);
	assert_string_equal(options.render.title, "T");
	assert_string_equal(options.render.subtitle, "S");
	assert_string_equal(options.render.notes, "X");
	assert_string_equal(options.render.font, "F");
	assert_string_equal(options.render.count_name, "ms");
	assert_string_equal(options.render.name_type, "N");
	assert_true(options.render.font_size == 11);
	assert_true(options.render.font_width == 0.6);
	assert_true(options.render.total == 10);
	assert_int_equal(options.render.width_px, 900);
	assert_int_equal(options.render.row_px, 20);
	assert_int_equal(options.render.background, 0xe9eefb);
	assert_int_equal(parse(DRAW_RENDER, "x -o a.svg --bgcolors #102031"), 0);
	assert_int_equal(options.render.background, 0x102031);
}

static void options_of_stackcollapse_perf_are_taken(void **state)
{
	assert_int_equal(
		parse(DRAW_RENDER,
		      "x --pid --tid --inline --all --addrs --event-filter cycles -o a.svg"),
		0);
	assert_true(options.import.has_pid);
	assert_true(options.import.has_tid);
	assert_true(options.import.has_addrs);
	assert_string_equal(options.import.event, "cycles");
	assert_int_equal(parse(DRAW_RENDER, "x --kernel -o a.svg"), 0);
	assert_true(options.import.marks_kernel);
	assert_false(options.import.marks_jit);
}

static void options_of_inferno_and_difffolded_are_taken(void **state)
{
	assert_int_equal(parse(DRAW_RENDER, "x --deterministic --no-sort --nthreads 4 -i -c rust "
					    "--base main -o a.svg"),
			 0);
	assert_true(options.render.is_inverted);
	assert_string_equal(options.begins[0], "main");
	assert_null(options.begins[1]);
	assert_int_equal(parse(DRAW_RENDER, "x --base main --base run -o a.svg"), 0);
	assert_string_equal(options.begins[1], "run");
	assert_false(options.keeps_others);
	assert_int_equal(parse(DRAW_RENDER, "x -f folded -o a.txt -o b.svg"), 0);
	assert_int_equal(options.outputs[0].format, RENDER_FOLDED);
	assert_int_equal(options.outputs[1].format, RENDER_SVG);
	assert_false(options.to_stdout);
	assert_int_equal(parse(DRAW_RENDER, "x -o a.txt"), -EINVAL);
	assert_int_equal(parse(DRAW_RENDER, "x --width 800 -o a.html"), -EINVAL);
	assert_int_equal(parse(DRAW_RENDER, "x --width 800 -o a.html -o a.svg"), 0);
	assert_int_equal(parse(DRAW_RENDER, "x --title y -o a.html"), 0);
	assert_int_equal(parse(DRAW_RENDER, "x --skip-after main -o a.svg"), 0);
	assert_string_equal(options.begins[0], "main");
	assert_int_equal(parse(DRAW_DIFF, "--no-normalize a b -n -s"), 0);
	assert_false(options.diff.is_raw);
	assert_true(options.render.hides_addresses);
	assert_false(options.diff.splits_kinds);
	assert_int_equal(parse(DRAW_DIFF, "a b --split-kinds --width-of before --top 3"), 0);
	assert_true(options.diff.splits_kinds);
	assert_int_equal(options.diff.width, DIFF_WIDTH_BEFORE);
	assert_int_equal(options.top, 3);
}

static void what_is_missing_says_what_to_do_instead(void **state)
{
	static const char *const missing[] = {"context",
					      "flamechart",
					      "nameattr",
					      "pretty-xml",
					      "quiet",
					      "no-javascript",
					      "colordiffusion",
					      "search-color",
					      "srcline",
					      "stroke-color",
					      "truncate-text-right",
					      "uicolor"};

	for (size_t i = 0; i < sizeof(missing) / sizeof(*missing); i++) {
		char line[64];

		snprintf(line, sizeof(line), "x -o a.svg --%s y", missing[i]);
		assert_int_equal(parse(DRAW_RENDER, line), -EINVAL);
		assert_non_null(draw_missing_find(missing[i]));
	}
	assert_null(draw_missing_find("title"));
}

static void threads_that_wait_are_drawn_as_the_user_likes(void **state)
{
	char line[WAITS_MAX_FRAME_BYTES + 64];

	assert_int_equal(parse(DRAW_RENDER, "x -o a.svg --no-hide-idle --state blocked"), 0);
	assert_int_equal(options.render.waits.idle, WAIT_IDLE_SHOWN);
	assert_int_equal(options.render.waits.states, 1u << WAIT_BLOCKED);
	assert_int_equal(parse(DRAW_DIFF, "a b --hide-idle --idle-frame a/B.rest"), 0);
	assert_int_equal(options.render.waits.idle, WAIT_IDLE_HIDDEN);
	assert_string_equal(options.render.waits.idle_frames[0], "a/B.rest");
	assert_int_equal(parse(DRAW_RENDER, "x -o a.svg --state running,asleep"), -EINVAL);
	snprintf(line, sizeof(line), "x -o a.svg --idle-frame %0*d", WAITS_MAX_FRAME_BYTES, 0);
	assert_int_equal(parse(DRAW_RENDER, line), 0);
	snprintf(line, sizeof(line), "x -o a.svg --idle-frame %0*d", WAITS_MAX_FRAME_BYTES + 1, 0);
	assert_int_equal(parse(DRAW_RENDER, line), -EINVAL);
}

static void idle_frames_have_a_limit(void **state)
{
	struct wait_options waits = {0};

	for (unsigned i = 0; i < WAITS_MAX_FRAMES; i++)
		assert_int_equal(draw_wait_options_add_frame(&waits, "--idle-frame", "a"), 0);
	assert_int_equal(draw_wait_options_add_frame(&waits, "--idle-frame", "a"), -EINVAL);
	assert_int_equal(draw_wait_options_add_frame(&(struct wait_options){0}, "--idle-frame", ""),
			 -EINVAL);
}

static void what_goes_not_together_is_refused(void **state)
{
	assert_int_equal(parse(DRAW_RENDER, "x -o a.svg --encoding latin1"), -EINVAL);
	assert_int_equal(parse(DRAW_RENDER, "x -o a.svg --base a --skip-after b"), -EINVAL);
	assert_int_equal(parse(DRAW_DIFF, "a b --cp"), -EINVAL);
	assert_int_equal(parse(DRAW_RENDER, "x -o a.svg --json"), -EINVAL);
	assert_int_equal(parse(DRAW_DIFF, "a"), -EINVAL);
	assert_int_equal(parse(DRAW_RENDER, "x -o a.svg --factor 0"), -EINVAL);
	assert_int_equal(parse(DRAW_RENDER, "x -o a.svg --factor 1e3"), -EINVAL);
	assert_int_equal(parse(DRAW_RENDER, "x -o a.svg --minwidth 0x1%"), -EINVAL);
	assert_int_equal(parse(DRAW_RENDER, "x -o a.svg --minwidth -1"), -EINVAL);
	assert_int_equal(parse(DRAW_RENDER, "x -o a.svg --colors nice"), -EINVAL);
	assert_int_equal(parse(DRAW_RENDER, "x -o a.svg --no-such-option"), -EINVAL);
}

static void what_a_store_is_asked_goes_together(void **state)
{
	static const struct {
		enum draw_command command;
		const char *line;
	} bad[] = {
		{DRAW_RENDER, "--pod api -o a.svg"},
		{DRAW_RENDER, "--from -1h --before-from -2h -o a.svg"},
		{DRAW_RENDER, "--from -1h x -o a.svg"},
		{DRAW_DIFF, "--from -1h"},
		{DRAW_DIFF, "--from -1h --before-to -2h"},
		{DRAW_DIFF, "--before-from -2h"},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		if (parse(bad[i].command, bad[i].line) != -EINVAL)
			fail_msg("accepted: %s", bad[i].line);
	}
	assert_int_equal(parse(DRAW_RENDER, "--from -1h --pod shop/api -o a.svg"), 0);
	assert_string_equal(options.store.given, "--from");
	assert_int_equal(parse(DRAW_DIFF, "--from -1h -p 12 --before-process 11"), 0);
	assert_string_equal(options.store.given_before, "--before-process");
	assert_int_equal(options.store.after.pid, 12);
	assert_int_equal(options.store.before.pid, 11);
	assert_int_equal(parse(DRAW_RENDER, "x -o a.svg"), 0);
	assert_null(options.store.given);
}

static void options_of_the_other_command_are_refused(void **state)
{
	assert_int_equal(parse(DRAW_RENDER, "x -o a.svg --top 3"), -EINVAL);
	assert_int_equal(parse(DRAW_DIFF, "a b --top 0"), 0);
	assert_int_equal(options.top, SIZE_MAX);
	assert_int_equal(parse(DRAW_DIFF, "a b --top 2.5"), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_store_is_asked_goes_together),
		cmocka_unit_test(options_of_the_other_command_are_refused),
		cmocka_unit_test(options_of_flamegraph_are_taken),
		cmocka_unit_test(options_of_stackcollapse_perf_are_taken),
		cmocka_unit_test(options_of_inferno_and_difffolded_are_taken),
		cmocka_unit_test(what_is_missing_says_what_to_do_instead),
		cmocka_unit_test(threads_that_wait_are_drawn_as_the_user_likes),
		cmocka_unit_test(idle_frames_have_a_limit),
		cmocka_unit_test(what_goes_not_together_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
