// SPDX-License-Identifier: Apache-2.0
/* The command line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <getopt.h>
#include <string.h>

#include "app/options.h"

static struct options options;

/* Words separated by single spaces. */
static int parse(const char *line)
{
	static char text[512];
	char *argv[32] = {"fgcollect"};
	int argc = 1;

	strcpy(text, line);
	for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	optind = 0; /* getopt starts anew */
	opterr = 0;
	return options_parse(&options, argc, argv);
}

static void record_has_the_defaults_users_expect(void **state)
{
	(void)state;
	assert_int_equal(parse("record"), 0);
	assert_int_equal(options.command, COMMAND_RECORD);
	assert_int_equal(options.recording.hz, 99);
	assert_int_equal(options.recording.duration_ns, 10000000000);
	assert_int_equal(options.n_outputs, 1);
	assert_string_equal(options.outputs[0].path, "flamegraph.svg");
	assert_string_equal(options.socket_path, "/run/fgcollect/agent.sock");
	assert_string_equal(options.map_dir, "/tmp");
}

static void record_takes_its_options_on_either_side(void **state)
{
	(void)state;
	assert_int_equal(parse("-d 2.5 record -F 499 -p 17 -e cpu-clock -o a.folded -o b.svg"), 0);
	assert_int_equal(options.recording.duration_ns, 2500000000);
	assert_int_equal(options.recording.hz, 499);
	assert_int_equal(options.recording.pid, 17);
	assert_string_equal(options.recording.event, "cpu-clock");
	assert_int_equal(options.n_outputs, 2);
	assert_int_equal(options.outputs[0].format, RENDER_FOLDED);
	assert_int_equal(options.outputs[1].format, RENDER_SVG);
}

static void methods_are_called_as_the_user_likes(void **state)
{
	(void)state;
	assert_int_equal(parse("record"), 0);
	assert_int_equal(options.recording.names.style, JAVA_NAME_SLASH);
	assert_false(options.recording.names.is_raw);
	assert_int_equal(parse("record --java-names=dot"), 0);
	assert_int_equal(options.recording.names.style, JAVA_NAME_DOT);
	assert_int_equal(parse("record --raw-names --java-names signature"), 0);
	assert_int_equal(options.recording.names.style, JAVA_NAME_SIGNATURE);
	assert_true(options.recording.names.is_raw);
	assert_false(options.recording.names.has_lines);
	assert_int_equal(options.recording.cxx_names, DEMANGLE_PLAIN);
	assert_false(options.recording.has_native_lines);
	assert_int_equal(parse("record --cxx-names=simple --native-lines"), 0);
	assert_int_equal(options.recording.cxx_names, DEMANGLE_SIMPLE);
	assert_true(options.recording.has_native_lines);
	assert_int_equal(parse("record --lines"), 0);
	assert_true(options.recording.names.has_lines);
}

static void stacks_are_unwound_as_the_user_likes(void **state)
{
	static const struct {
		const char *line;
		uint32_t stack_bytes;
	} cases[] = {
		{"record", 64000},
		{"--watch", 64000},
		{"record --unwind=full", 64000},
		{"record --unwind=fp", 0},
		{"record --unwind fp --unwind full", 64000},
		{"record --stack-size 32k", 32768},
		{"record --stack-size 16k", 16384},
		{"record --unwind=full --stack-size=16384", 16384},
		{"record --stack-size 1k", 1024},
		{"record --stack-size 1024", 1024},
		{"record --stack-size 8K", 8192},
		{"record --stack-size 1032", 1032},
		{"record --stack-size 64000", 64000},
		{"record --stack-size 63k", 64000}, /* as near as a record lets it */
		{"record --stack-size 64k", 64000},
		{"record --stack-size 65536", 64000},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(parse(cases[i].line), 0);
		assert_int_equal(options.recording.stack_bytes, cases[i].stack_bytes);
	}
}

static void names_of_perf_maps_are_chosen_by_words(void **state)
{
	(void)state;
	assert_int_equal(parse("--watch"), 0);
	assert_false(options.map_style.dotted);
	assert_int_equal(parse("--watch --map-names=dotted,signatures"), 0);
	assert_true(options.map_style.dotted);
	assert_true(options.map_style.signatures);
	assert_false(options.map_style.sourcepos);
	assert_int_equal(options.map_style.unfold, PERF_MAP_FOLDED);
	assert_int_equal(parse("--watch --map-names=unfoldall"), 0);
	assert_int_equal(options.map_style.unfold, PERF_MAP_UNFOLD_ALL);
	assert_int_equal(parse("record --map-names sourcepos"), 0);
	assert_true(options.map_style.sourcepos);
}

static void the_cache_of_tables_is_as_large_as_the_user_likes(void **state)
{
	(void)state;
	assert_int_equal(parse("record"), 0);
	assert_int_equal(options.table_bytes, 512u << 20);
	assert_int_equal(parse("--watch --symbol-cache 64M"), 0);
	assert_int_equal(options.table_bytes, 64u << 20);
	assert_int_equal(parse("record --symbol-cache 2g"), 0);
	assert_int_equal(options.table_bytes, UINT64_C(2) << 30);
	assert_int_equal(parse("record --symbol-cache 2048k"), 0);
	assert_int_equal(options.table_bytes, 2u << 20);
	assert_int_equal(parse("record --symbol-cache 1048576"), 0);
	assert_int_equal(parse("record --symbol-cache 64G"), 0);
}

static void watch_is_a_command_in_both_spellings(void **state)
{
	(void)state;
	assert_int_equal(parse("--watch --socket /x/y.sock"), 0);
	assert_int_equal(options.command, COMMAND_WATCH);
	assert_string_equal(options.socket_path, "/x/y.sock");
	assert_int_equal(parse("watch"), 0);
	assert_int_equal(options.command, COMMAND_WATCH);
	assert_int_equal(parse("--watch watch"), 0);
	assert_int_equal(parse("record --help"), 0);
	assert_int_equal(options.command, COMMAND_HELP);
	assert_int_equal(parse("list --json"), 0);
	assert_true(options.json);
}

static void wrong_input_is_refused(void **state)
{
	static const char *const lines[] = {
		"",
		"frobnicate",
		"record list",
		"record -d 0",
		"record -d -1",
		"record -d x",
		"record -d 1x",
		"record -d nan",
		"record -d inf",
		"record -d 1e99",
		"record -F 0",
		"record -F 1.5",
		"record -F 1000000",
		"record -p 0",
		"record -p -4",
		"record -p 99999999999",
		"record -p java",
		"record -e nonsense",
		"record -o x.png",
		"record -o x",
		"record -o",
		"record -p 1 -a",
		"record --container ab",
		"record --container xyz!",
		"record --unknown",
		"record --java-names dots",
		"record --java-names=",
		"record --cxx-names=",
		"record --cxx-names short",
		"record --native-lines=no",
		"--watch --map-names=",
		"--watch --map-names=dotted,nonsense",
		"--watch --map-names=unfold,unfoldall",
		"record --raw-names=no",
		"record --unwind",
		"record --unwind=",
		"record --unwind=dwarf",
		"record --virtual-threads=no",
		"record --virtual-threads",
		"record --unwind=Full",
		"record --stack-size",
		"record --stack-size=",
		"record --stack-size 0",
		"record --stack-size 1023",
		"record --stack-size 1016",
		"record --stack-size 1028",
		"record --stack-size 65k",
		"record --stack-size 65544",
		"record --stack-size -8192",
		"record --stack-size +8192",
		"record --stack-size 8kk",
		"record --stack-size 8m",
		"record --stack-size k",
		"record --stack-size 8.5k",
		"record --stack-size 0x2000",
		"record --stack-size 18014398509481985k",
		"record --stack-size 18446744073709559808",
		"record --symbol-cache 1023k",
		"record --symbol-cache 65G",
		"record --symbol-cache 17179869185g",
		"record --symbol-cache 64T",
		"record --symbol-cache -1M",
		"record --symbol-cache M",
		"record --symbol-cache 64MB",
		"list --symbol-cache 64M",
		"record --unwind=fp --stack-size 8k",
		"record --stack-size 8k --unwind=fp",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		if (parse(lines[i]) == 0)
			fail_msg("accepted: %s", lines[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(record_has_the_defaults_users_expect),
		cmocka_unit_test(record_takes_its_options_on_either_side),
		cmocka_unit_test(methods_are_called_as_the_user_likes),
		cmocka_unit_test(stacks_are_unwound_as_the_user_likes),
		cmocka_unit_test(names_of_perf_maps_are_chosen_by_words),
		cmocka_unit_test(the_cache_of_tables_is_as_large_as_the_user_likes),
		cmocka_unit_test(watch_is_a_command_in_both_spellings),
		cmocka_unit_test(wrong_input_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
