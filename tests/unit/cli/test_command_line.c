// SPDX-License-Identifier: Apache-2.0
/* The command line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cli/command_line.h"
#include "cli/foreign_options.h"
#include "common/words.h"
#include "intake/intake.h"
#include "options/tables.h"

static struct options options;

static int parse(const char *line)
{
	struct words words = words_of("fgcollect", line);

	return command_line_parse(&options, words.argc, words.argv);
}

static void record_has_the_defaults_users_expect(void **state)
{
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
	assert_int_equal(parse("-d 2.5 record -F 499 -p 17 -e cpu-clock -o a.folded -o b.svg"), 0);
	assert_int_equal(options.recording.duration_ns, 2500000000);
	assert_int_equal(options.recording.hz, 499);
	assert_int_equal(options.recording.pid, 17);
	assert_string_equal(options.recording.event, "cpu-clock");
	assert_int_equal(options.n_outputs, 2);
	assert_int_equal(options.outputs[0].format, RENDER_FOLDED);
	assert_int_equal(options.outputs[1].format, RENDER_SVG);
}

static void pids_containers_and_pods_add_up(void **state)
{
	assert_int_equal(parse("record -p 17 -p 18 --pid 19"), 0);
	assert_int_equal(options.recording.pid, 17);
	assert_int_equal(options.recording.n_more_pids, 2);
	assert_int_equal(recording_alternatives(&options.recording), 3);
	assert_true(recording_has_pid(&options.recording, 19));
	assert_false(recording_has_pid(&options.recording, 20));
	assert_int_equal(parse("record --container a --container b --pod c"), 0);
	assert_int_equal(recording_alternatives(&options.recording), 2);
	assert_int_equal(parse("record -p 1 -p 2 -p 3 -p 4 -p 5 -p 6 -p 7 -p 8 -p 9"), -EINVAL);
	assert_int_equal(parse("record --jvm Shop --jvm Cart"), -EINVAL);
	assert_int_equal(parse("record -p 1 -p 2 --container a"), -EINVAL);
	assert_int_equal(parse("history -p 1 -p 2"), -EINVAL);
}

static void kinds_go_into_files_that_hold_them(void **state)
{
	assert_int_equal(parse("record --kind cpu,wall -o x.svg"), -EINVAL);
	assert_int_equal(parse("record --kind cpu,wall -o x.html -o x.folded"), -EINVAL);
	assert_int_equal(parse("record --kind cpu,wall -o x.html -o x.fgrec"), 0);
	assert_int_equal(parse("record --kind cpu,wall"), 0);
	assert_string_equal(options.outputs[0].path, "flamegraph.html");
	assert_int_equal(parse("record --kind alloc -o x.svg"), 0);
	assert_int_equal(parse("record --kind lock,contentions -o x.svg"), 0);
	assert_int_equal(parse("record --kind alloc,lock -o x.svg"), -EINVAL);
	assert_int_equal(parse("--watch --kind cpu,wall -o dir --format svg"), -EINVAL);
	assert_int_equal(parse("--watch --kind cpu,wall -o dir"), 0);
}

static void wishes_about_waits_go_with_kinds_that_have_waits(void **state)
{
	assert_int_equal(parse("record --kind cpu --state blocked"), -EINVAL);
	assert_int_equal(parse("record --hide-idle"), -EINVAL);
	assert_int_equal(parse("top --kind alloc --state blocked"), -EINVAL);
	assert_int_equal(parse("record --kind cpu,offcpu --state blocked"), 0);
}

static void a_duration_has_a_unit_or_is_in_seconds(void **state)
{
	assert_int_equal(parse("record -d 30s"), 0);
	assert_int_equal(options.recording.duration_ns, UINT64_C(30000000000));
	assert_int_equal(parse("record -d 2m"), 0);
	assert_int_equal(options.recording.duration_ns, UINT64_C(120000000000));
	assert_int_equal(parse("record -d 0.5"), 0);
	assert_int_equal(options.recording.duration_ns, 500000000);
	assert_int_equal(parse("record -d 0s"), -EINVAL);
	assert_int_equal(parse("record -d 8d"), -EINVAL);
	assert_int_equal(parse("record -d 3x"), -EINVAL);
	assert_int_equal(parse("record -d 1.5m"), 0);
	assert_int_equal(options.recording.duration_ns, UINT64_C(90000000000));
	assert_int_equal(parse("record -d 0x10"), -EINVAL);
	assert_int_equal(parse("record -d 1e1"), -EINVAL);
}

static void what_other_profilers_have_is_explained(void **state)
{
	assert_non_null(strstr(foreign_option_instead("-t", 't'), "--threads"));
	assert_non_null(strstr(foreign_option_instead("-f", 'f'), "-o FILE"));
	assert_non_null(strstr(foreign_option_instead("--call-graph=dwarf", 0), "--unwind"));
	assert_null(foreign_option_instead("--no-such", 0));
	assert_null(foreign_option_instead("-Z", 'Z'));
	assert_string_equal(foreign_event_instead("wall"), "--kind wall");
	assert_null(foreign_event_instead("cycles"));
	assert_int_equal(parse("record -e wall"), -EINVAL);
	assert_int_equal(parse("record -t"), -EINVAL);
	assert_int_equal(parse("record --call-graph dwarf"), -EINVAL);
}

/* What is named as theirs must not be ours. */
static void what_is_explained_is_no_option_of_record(void **state)
{
	for (const char *letter = "tfgicjIXsbCGu"; *letter; letter++) {
		assert_non_null(foreign_option_instead("", *letter));
		assert_null(strchr(collect_short_options, *letter));
	}
}

/* The command in front of it is not its value. */
static void an_option_at_the_end_lacks_its_value(void **state)
{
	assert_int_equal(parse("record -F"), -EINVAL);
	assert_null(optarg);
	assert_int_equal(parse("record --frequency"), -EINVAL);
	assert_null(optarg);
}

static void record_writes_to_standard_output_in_a_format(void **state)
{
	assert_int_equal(parse("record -o - --format pb.gz"), 0);
	assert_int_equal(options.n_outputs, 1);
	assert_true(options.outputs[0].is_stdout);
	assert_int_equal(options.outputs[0].format, RENDER_PPROF);
	assert_int_equal(parse("record --format folded -o x.svg -o -"), 0);
	assert_int_equal(options.outputs[0].format, RENDER_SVG);
	assert_false(options.outputs[0].is_stdout);
	assert_int_equal(options.outputs[1].format, RENDER_FOLDED);
	assert_true(options.outputs[1].is_stdout);
	assert_int_equal(parse("record -o ./-.html"), 0);
	assert_false(options.outputs[0].is_stdout);
}

static void record_serves_whoever_is_at_the_other_end_of_a_connection(void **state)
{
	assert_int_equal(parse("record"), 0);
	assert_false(options.ends_with_stdin || options.says_progress);
	assert_int_equal(parse("record --until-eof --progress"), 0);
	assert_true(options.ends_with_stdin && options.says_progress);
}

static void methods_are_called_as_the_user_likes(void **state)
{
	assert_int_equal(parse("record"), 0);
	assert_int_equal(options.recording.style.names.style, JAVA_NAME_SLASH);
	assert_false(options.recording.style.names.is_raw);
	assert_int_equal(parse("record --java-names=dot"), 0);
	assert_int_equal(options.recording.style.names.style, JAVA_NAME_DOT);
	assert_int_equal(parse("record --raw-names --java-names signature"), 0);
	assert_int_equal(options.recording.style.names.style, JAVA_NAME_SIGNATURE);
	assert_true(options.recording.style.names.is_raw);
	assert_false(options.recording.style.names.has_lines);
	assert_int_equal(options.recording.style.cxx_names, DEMANGLE_PLAIN);
	assert_false(options.recording.style.has_native_lines);
	assert_int_equal(parse("record --cxx-names=simple --native-lines"), 0);
	assert_int_equal(options.recording.style.cxx_names, DEMANGLE_SIMPLE);
	assert_true(options.recording.style.has_native_lines);
	assert_int_equal(parse("record --lines"), 0);
	assert_true(options.recording.style.names.has_lines);
}

static void stacks_are_unwound_as_the_user_likes(void **state)
{
	static const struct {
		const char *line;
		uint32_t stack_bytes;
	} cases[] = {
		{"record", 49152},
		{"--watch", 49152},
		{"record --unwind=full", 49152},
		{"record --unwind=fp", 0},
		{"record --unwind fp --unwind full", 49152},
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

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(parse(cases[i].line), 0);
		assert_int_equal(options.recording.stack_bytes, cases[i].stack_bytes);
	}
}

static void names_of_perf_maps_are_chosen_by_words(void **state)
{
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
	assert_int_equal(parse("record"), 0);
	assert_int_equal(options.table_bytes, 0); /* by the memory there is */
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

static void help_is_all_that_is_done_where_it_is_asked_for(void **state)
{
	static const struct {
		const char *line;
		enum command help_of;
	} lines[] = {
		{"--help --watch", COMMAND_WATCH},	{"--watch --help", COMMAND_WATCH},
		{"record -F bad -h", COMMAND_RECORD},	{"-h record", COMMAND_RECORD},
		{"--nonsense --help", COMMAND_NONE},	{"help diff", COMMAND_DIFF},
		{"list record --help", COMMAND_RECORD}, {"--help render", COMMAND_RENDER},
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		assert_int_equal(parse(lines[i].line), 0);
		assert_int_equal(options.command, COMMAND_HELP);
		assert_int_equal(options.help_of, lines[i].help_of);
		assert_false(options.help_has_all);
	}
	assert_int_equal(parse("record --help-all"), 0);
	assert_int_equal(options.command, COMMAND_HELP);
	assert_int_equal(options.help_of, COMMAND_RECORD);
	assert_true(options.help_has_all);
	assert_int_equal(parse("-F 99 -h"), 0); /* a letter after a name */
	assert_false(options.help_has_all);
	assert_int_equal(parse("record --title --help"), 0);
	assert_int_equal(options.command, COMMAND_RECORD);
	assert_int_equal(parse("--version --watch"), 0);
	assert_int_equal(options.command, COMMAND_VERSION);
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
		"record -o -",
		"record -o - -o - --format svg",
		"record -o - --format png",
		"record --format svg",
		"record --format svg -o x.svg",
		"list --format svg",
		"top --format svg",
		"--watch --format svg",
		"list --progress",
		"--watch --until-eof",
		"record -o",
		"record -p 1 -a",
		"record --container xyz!",
		"record --container=",
		"record --container a/b",
		"record --pod=",
		"record --pod /api",
		"record --pod shop/",
		"record --pod shop/api/x",
		"record --pod ../api",
		"record --label app",
		"record --label =shop",
		("record --label a=1 --label b=1 --label c=1 --label d=1 --label e=1 --label f=1 "
		 "--label g=1 --label h=1 --label i=1"),
		"record --comm=",
		"record --comm more.than.15.bytes",
		"record --jvm=",
		"record --jvm (",
		"record --jvm a{255}{255}{255}",
		"record --jvm (0123456789){32767}",
		"record --jvm (a+){2,}(b+)+++++++++++++++",
		"record --jvm a++++++++++++++++++++",
		"record -p 1 --container web",
		"record --jvm Main -p 1",
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

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		if (parse(lines[i]) == 0)
			fail_msg("accepted: %s", lines[i]);
	}
}

static void a_daemon_samples_at_its_own_rate_into_a_directory(void **state)
{
	assert_int_equal(parse("-o graphs --watch"), 0);
	assert_string_equal(options.watch.output_dir, "graphs");
	assert_int_equal(options.n_outputs, 0);
	assert_int_equal(options.recording.hz, WATCH_DEFAULT_HZ);
	assert_int_equal(options.watch.format, RENDER_HTML);
	assert_int_equal(options.watch.period_ns, 600 * UINT64_C(1000000000));
	assert_int_equal(options.watch.keep_sec, 7 * 24 * 3600);
	assert_int_equal(options.watch.keep_bytes, 1 << 30);
	assert_int_equal(options.watch.map_bytes, 1 << 30);
	assert_int_equal(options.watch.memory_bytes, 0); /* what the machine allows */
	assert_int_equal(parse("--watch -o d -F 49 --period 1h --keep 2d --keep-bytes 3M "
			       "--format pb.gz --log-level warning --map-bytes 2M --memory 512M"),
			 0);
	assert_int_equal(options.recording.hz, 49);
	assert_int_equal(options.watch.period_ns, 3600 * UINT64_C(1000000000));
	assert_int_equal(options.watch.keep_sec, 2 * 24 * 3600);
	assert_int_equal(options.watch.keep_bytes, 3 << 20);
	assert_int_equal(options.watch.map_bytes, 2 << 20);
	assert_int_equal(options.watch.memory_bytes, 512 << 20);
	assert_int_equal(options.watch.format, RENDER_PPROF);
	assert_int_equal(options.log_level, LOG_LEVEL_WARNING);
}

static void what_is_pushed_has_limits(void **state)
{
	static const char *const lines[] = {
		"--push-interval 9s",	  "--push-interval 61s",  "--push-spool-bytes 63M",
		"--push-spool-age 59",	  "--push-spool-age 31d", "--push-label env",
		"--push-config missing/",
	};
	char line[128];

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		snprintf(line, sizeof(line), "--watch --push otlp+http://h %s", lines[i]);
		assert_true(parse(line) < 0);
	}
	assert_int_equal(parse("--watch --push-label env=prod"), -EINVAL);
	assert_int_equal(parse("--watch --push otlp+http://h --push-label env=prod --push-interval "
			       "1m --push-spool-bytes 64M --push-spool-age 2h --push-threads"),
			 0);
	assert_int_equal(options.watch.push.interval_ns, UINT64_C(60000000000));
	assert_int_equal(options.watch.push.spool_bytes, 64 << 20);
	assert_int_equal(options.watch.push.spool_age_sec, 2 * 60 * 60);
	assert_true(options.watch.push.by_pool);
	push_options_fini(&options.watch.push);
}

/* No command takes an option in silence that it does not have. */
static void an_option_of_other_commands_is_refused(void **state)
{
	static const char *const lines[] = {
		"list -F 99",	     "doctor -p 1",	     "--watch -d 10",
		"--watch --title x", "top --format svg",     "history --socket x",
		"list --lines",	     "doctor --json --once", "record --log-level error",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		if (parse(lines[i]) != -EINVAL)
			fail_msg("accepted: %s", lines[i]);
	}
	assert_int_equal(parse("--version --once"), 0);
	assert_int_equal(options.command, COMMAND_VERSION);
}

static void a_store_has_defaults_and_limits(void **state)
{
	assert_int_equal(parse("--watch --store d"), 0);
	assert_string_equal(options.watch.store_dir, "d");
	assert_null(options.watch.output_dir);
	assert_int_equal(options.watch.store_bytes, UINT64_C(2) << 30);
	assert_int_equal(options.watch.store_age_sec, 30 * 24 * 3600);
	assert_int_equal(options.watch.store_window_ns, 10 * UINT64_C(1000000000));
	assert_int_equal(parse("--watch --store d -o e --store-bytes 16M --store-age 1h "
			       "--store-window 1s"),
			 0);
	assert_int_equal(options.watch.store_bytes, 16 << 20);
	assert_int_equal(options.watch.store_age_sec, 3600);
	assert_int_equal(options.watch.store_window_ns, UINT64_C(1000000000));
}

static void a_store_is_asked_by_history_and_top(void **state)
{
	assert_int_equal(parse("history --from -1h --pod shop/api --json"), 0);
	assert_int_equal(options.command, COMMAND_HISTORY);
	assert_string_equal(options.history.from, "-1h");
	assert_int_equal(parse("top --once --store d --from -1h --to now -p 4711"), 0);
	assert_string_equal(options.history.dir, "d");
	assert_string_equal(options.history.to, "now");
	assert_int_equal(options.recording.pid, 4711);
}

static void what_cannot_be_asked_of_a_store_is_refused(void **state)
{
	static const char *const lines[] = {
		"record --store d",
		"list --from -1h",
		"--watch --store d --from -1h",
		"--watch --from -1h",
		"top --from -1h",
		"top --once --store d",
		"top --once --from -1h -d 5",
		"--watch --store-bytes 1G",
		"--watch --store-window 5s",
		"--watch --store d --store-bytes 15M",
		"--watch --store d --store-age 5s",
		"--watch --store d --store-window 61s",
		"--watch --store d --store-window 0",
		"history --store-bytes 1G",
		"history x",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		assert_int_equal(parse(lines[i]), -EINVAL);
}

static void what_a_daemon_cannot_do_is_refused(void **state)
{
	static const char *const lines[] = {
		"--watch -o d --period 59s",
		"--watch -o d --period 2h",
		"--watch -o d --period 10x",
		"--watch -o d --period 60ss",
		"--watch -o d --keep 0",
		"--watch -o d --keep 99999999999999999999d",
		"--watch -o d --keep-bytes 18446744073709551615T",
		"--watch -o d --keep-bytes -1M",
		"--watch -o d --format png",
		"--watch -o d -o e",
		"--watch --period 10m",
		"--watch --http 1 --period 10m",
		"--watch --map-bytes 1023k",
		"--watch --memory 63M",
		"--watch --memory 2T",
		"--watch --memory much",
		"record --memory 1G",
		"record --map-bytes 1G",
		"--watch --log-level loud",
		"record --period 10m",
		"record --http 1",
		"list --keep 1d",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		assert_int_equal(parse(lines[i]), -22);
}

static void check_http(const char *value, int family, const char *address, unsigned port)
{
	char line[128], text[INET6_ADDRSTRLEN];
	const struct sockaddr_in *four = (const struct sockaddr_in *)&options.watch.http[0].addr;
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)&options.watch.http[0].addr;
	const bool is_six = family == AF_INET6;

	snprintf(line, sizeof(line), "--watch --http %s", value);
	assert_int_equal(parse(line), 0);
	assert_int_equal(options.watch.n_http, 1);
	assert_int_equal(options.watch.http[0].addr.ss_family, family);
	inet_ntop(family, is_six ? (const void *)&six->sin6_addr : (const void *)&four->sin_addr,
		  text, sizeof(text));
	assert_string_equal(text, address);
	assert_int_equal(ntohs(is_six ? six->sin6_port : four->sin_port), port);
}

static void http_is_for_this_host_alone_unless_told_otherwise(void **state)
{
	static const char *const bad[] = {
		"--watch --http x",	   "--watch --http 65536",
		"--watch --http 1.2.3:1",  "--watch --http localhost:80",
		"--watch --http ::1:80",   "--watch --http [::1]",
		"--watch --http 1.2.3.4:", "--watch --http 1.2.3.4:-1",
	};
	static const char *const bad_hosts[] = {
		"--watch --http-host a",
		"--watch --http 1 --http-host a:80",
		"--watch --http 1 --http-host http://a",
		"--watch --http 1 --http-host a.*",
		"record --http-host a",
	};

	check_http("9464", AF_INET, "127.0.0.1", 9464);
	check_http(":9464", AF_INET, "127.0.0.1", 9464);
	check_http("0.0.0.0:80", AF_INET, "0.0.0.0", 80);
	check_http("[::1]:80", AF_INET6, "::1", 80);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(parse(bad[i]), -22);
	assert_int_equal(parse("--watch --http-host a.example --http 1 --http-host=*.svc"), 0);
	assert_int_equal(options.watch.http_hosts.count, 2);
	assert_true(http_hosts_have(&options.watch.http_hosts, "x.svc:1"));
	for (size_t i = 0; i < sizeof(bad_hosts) / sizeof(bad_hosts[0]); i++)
		assert_int_equal(parse(bad_hosts[i]), -22);
}

static void http_may_be_at_several_addresses(void **state)
{
	static const char *const bad[] = {
		"--watch --http 1 --http 2 --http 3 --http 4 --http 5",
		"--watch --http unix:/a --http unix:/b --http-cert c --http-key k",
		"--watch --http 1 --http 10.1.2.3:1 --http-token-file t",
		"--watch --http 10.1.2.3:1 --http 1 --http-token-file t",
	};

	assert_int_equal(parse("--watch --http 1 --http 10.1.2.3:1 --http unix:/a --http [::1]:1"),
			 0);
	assert_int_equal(options.watch.n_http, 4);
	assert_string_equal(options.watch.http[2].unix_path, "/a");
	assert_int_equal(options.watch.http[3].addr.ss_family, AF_INET6);
	/* The same once more changes nothing. */
	assert_int_equal(parse("--watch --http 1 --http 127.0.0.1:1 --http unix:/a --http unix:/a"),
			 0);
	assert_int_equal(options.watch.n_http, 2);
	assert_int_equal(parse("--watch --http 1 --http unix:/a --http-cert c --http-key k"), 0);
	assert_int_equal(parse("--watch --http 1 --http unix:/a --http-token-file t"), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(parse(bad[i]), -22);
}

static void top_watches_what_record_would_record(void **state)
{
	assert_int_equal(parse("top -p 17 -F 499 --java-names dot --stack-size 8k"), 0);
	assert_int_equal(options.command, COMMAND_TOP);
	assert_int_equal(options.recording.pid, 17);
	assert_int_equal(options.recording.hz, 499);
	assert_int_equal(options.recording.stack_bytes, 8192);
	assert_int_equal(options.recording.duration_ns, RECORDING_ENDLESS_NS);
	assert_int_equal(options.recording.window_seconds, 10);
	assert_int_equal(options.top.delay_ns, 2000000000);
	assert_int_equal(options.n_outputs, 0);
	assert_int_equal(parse("top --container 0123 --window 3 -d 0.5 --sort total --view jvms"),
			 0);
	assert_int_equal(options.recording.window_seconds, 3);
	assert_int_equal(options.top.delay_ns, 500000000);
	assert_int_equal(options.top.sort, TOP_BY_TOTAL);
	assert_int_equal(options.top.mode, TOP_PROCESSES);
}

static void the_only_table_is_of_the_seconds_before_it(void **state)
{
	assert_int_equal(parse("top --once"), 0);
	assert_int_equal(options.top.delay_ns, 1000000000);
	assert_int_equal(parse("top --once -d 2.5"), 0);
	assert_int_equal(options.top.delay_ns, 2500000000);
	assert_int_equal(options.recording.window_seconds, 3);
	assert_int_equal(parse("top --once --window 4"), 0);
	assert_int_equal(options.top.delay_ns, 4000000000);
}

static void top_refuses_what_it_cannot_do(void **state)
{
	static const char *const lines[] = {
		"top --window 0",   "top --window 601", "top --window 1.5", "top --sort size",
		"top --view graph", "top --rows 0",	"top -o x.svg",	    "top --threads",
		"top -d 0.01",	    "top -a -p 1",	"top --filter (",   "top --once -d 601",
		"record --once",    "list --window 3",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		assert_true(parse(lines[i]) < 0);
}

static void threads_that_wait_are_shown_as_the_user_likes(void **state)
{
	assert_int_equal(parse("record --kind wall --state running,blocked --hide-idle "
			       "--idle-frame a/B.rest --idle-frame *::nap -o x.folded"),
			 0);
	assert_int_equal(options.render.waits.states, 1u << WAIT_RUNNING | 1u << WAIT_BLOCKED);
	assert_int_equal(options.render.waits.idle, WAIT_IDLE_HIDDEN);
	assert_int_equal(options.render.waits.n_idle_frames, 2);
	assert_string_equal(options.render.waits.idle_frames[1], "*::nap");
	assert_int_equal(parse("top --kind wall --no-hide-idle --state runnable"), 0);
	assert_int_equal(options.render.waits.idle, WAIT_IDLE_SHOWN);
	assert_int_equal(parse("record"), 0);
	assert_int_equal(options.render.waits.idle, WAIT_IDLE_DEFAULT);
	assert_int_equal(parse("record --state asleep"), -EINVAL);
	assert_int_equal(parse("list --state running"), -EINVAL);
	assert_int_equal(parse("--watch --hide-idle"), -EINVAL);
}

static void whoever_is_wrong_is_told_of_the_help_of_that_command(void **state)
{
	static const struct {
		const char *line, *word;
	} lines[] = {
		{"record -F 0x10", "record"},
		{"record --nosuch", "record"},
		{"--nosuch record", "record"},
		{"top --rows 0", "top"},
		{"list -F 99", "list"},
		{"doctor surplus", "doctor"},
		{"history -p 0", "history"},
		{"replay", "replay"},
		{"--watch --nosuch", "--watch"},
		{"watch -F x", "--watch"},
		{"--nosuch", ""},
		{"nosuch", ""},
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		assert_int_equal(parse(lines[i].line), -EINVAL);
		assert_string_equal(command_line_word(options.help_of), lines[i].word);
	}
}

static void top_has_a_help_of_its_own(void **state)
{
	assert_int_equal(parse("top --help"), 0);
	assert_int_equal(options.command, COMMAND_HELP);
	assert_int_equal(options.help_of, COMMAND_TOP);
	assert_int_equal(parse("--help"), 0);
	assert_int_equal(options.help_of, COMMAND_NONE);
}

static void replay_draws_a_capture_like_a_recording(void **state)
{
	assert_int_equal(parse("replay x.cap"), 0);
	assert_int_equal(options.command, COMMAND_REPLAY);
	assert_string_equal(options.replay.path, "x.cap");
	assert_null(options.replay.match);
	assert_int_equal(options.replay.most, 0);
	assert_null(options.capture_path);
	assert_int_equal(options.n_outputs, 1);
	assert_string_equal(options.outputs[0].path, "flamegraph.svg");
	assert_int_equal(parse("replay -o a.folded --java-names dot - --lines"), 0);
	assert_string_equal(options.replay.path, "-");
	assert_int_equal(options.outputs[0].format, RENDER_FOLDED);
	assert_int_equal(options.recording.style.names.style, JAVA_NAME_DOT);
	assert_int_equal(parse("replay record"), 0); /* a file may be called so */
	assert_string_equal(options.replay.path, "record");
}

static void replay_makes_a_smaller_capture_of_samples_that_match(void **state)
{
	assert_int_equal(parse("replay x.cap --match Hot[a-z]+ --most 3 --capture y.cap"), 0);
	assert_string_equal(options.replay.path, "x.cap");
	assert_string_equal(options.replay.match, "Hot[a-z]+");
	assert_int_equal(options.replay.most, 3);
	assert_string_equal(options.capture_path, "y.cap");
	assert_int_equal(options.n_outputs, 0); /* no picture, unless it is asked for */
	assert_int_equal(parse("replay x.cap --capture y.cap -o z.html"), 0);
	assert_int_equal(options.n_outputs, 1);
	assert_string_equal(options.outputs[0].path, "z.html");
}

static void record_writes_a_capture_beside_its_outputs(void **state)
{
	assert_int_equal(parse("record"), 0);
	assert_false(options.recording.has_capture);
	assert_int_equal(parse("record --capture x.cap"), 0);
	assert_string_equal(options.capture_path, "x.cap");
	assert_true(options.recording.has_capture);
	assert_int_equal(options.n_outputs, 1);
	assert_string_equal(options.outputs[0].path, "flamegraph.svg");
}

static void what_a_capture_cannot_do_is_refused(void **state)
{
	static const char *const lines[] = {
		"replay",
		"replay x.cap y.cap",
		"replay x.cap record",
		"replay x.cap -p 17",
		"replay -a x.cap",
		"replay x.cap --container web",
		"replay x.cap -d 5",
		"replay x.cap -F 499",
		"replay x.cap -e cycles",
		"replay x.cap --unwind=fp",
		"replay x.cap --stack-size 8k",
		"replay x.cap --socket /x/y.sock",
		"replay x.cap --json",
		"replay x.cap --most 0",
		"replay x.cap --most 1.5",
		"replay x.cap --most all",
		"replay x.cap --match",
		"replay x.cap --capture -",
		"record --capture -",
		"record --match Hot",
		"record --most 3",
		"--watch --match Hot",
		"list --most 3",
		"top --match Hot",
		"top --capture x.cap",
		"list --capture x.cap",
		"doctor --capture x.cap",
		"--watch --capture x.cap",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		if (parse(lines[i]) != -EINVAL)
			fail_msg("accepted: %s", lines[i]);
	}
}

/* The texts are of the option table, the limits of headers. */
static void help_says_the_limits_that_hold(void **state)
{
	char text[32];

	assert_non_null(strstr(help_of_all, "default " INTAKE_DEFAULT_SOCKET "\n"));
	snprintf(text, sizeof(text), "from 1k to %u ", SAMPLER_MAX_STACK_BYTES);
	assert_non_null(strstr(help_of_all, text));
	snprintf(text, sizeof(text), "; %u Hz unless -F", WATCH_DEFAULT_HZ);
	assert_non_null(strstr(help_of_all, text));
}

static size_t lines_of(const char *text)
{
	size_t lines = 0;

	for (; *text; text++)
		lines += *text == '\n';
	return lines;
}

/* Two thirds of what a terminal of 60 lines shows, and nothing that few need. */
static void the_help_of_record_is_what_one_needs(void **state)
{
	assert_in_range(lines_of(help_of_record), 20, 45);
	assert_in_range(lines_of(help_of_fgcollect), 20, 45);
	assert_non_null(strstr(help_of_record, "--container NAME"));
	assert_null(strstr(help_of_record, "--symbol-cache"));
	assert_non_null(strstr(help_of_all, "--symbol-cache"));
	assert_non_null(strstr(help_of_record, "--help-all"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(help_says_the_limits_that_hold),
		cmocka_unit_test(the_help_of_record_is_what_one_needs),
		cmocka_unit_test(top_watches_what_record_would_record),
		cmocka_unit_test(the_only_table_is_of_the_seconds_before_it),
		cmocka_unit_test(top_refuses_what_it_cannot_do),
		cmocka_unit_test(threads_that_wait_are_shown_as_the_user_likes),
		cmocka_unit_test(top_has_a_help_of_its_own),
		cmocka_unit_test(whoever_is_wrong_is_told_of_the_help_of_that_command),
		cmocka_unit_test(replay_draws_a_capture_like_a_recording),
		cmocka_unit_test(replay_makes_a_smaller_capture_of_samples_that_match),
		cmocka_unit_test(record_writes_a_capture_beside_its_outputs),
		cmocka_unit_test(what_a_capture_cannot_do_is_refused),
		cmocka_unit_test(help_is_all_that_is_done_where_it_is_asked_for),
		cmocka_unit_test(a_daemon_samples_at_its_own_rate_into_a_directory),
		cmocka_unit_test(what_is_pushed_has_limits),
		cmocka_unit_test(an_option_of_other_commands_is_refused),
		cmocka_unit_test(a_store_has_defaults_and_limits),
		cmocka_unit_test(a_store_is_asked_by_history_and_top),
		cmocka_unit_test(what_cannot_be_asked_of_a_store_is_refused),
		cmocka_unit_test(what_a_daemon_cannot_do_is_refused),
		cmocka_unit_test(http_is_for_this_host_alone_unless_told_otherwise),
		cmocka_unit_test(http_may_be_at_several_addresses),
		cmocka_unit_test(record_has_the_defaults_users_expect),
		cmocka_unit_test(record_takes_its_options_on_either_side),
		cmocka_unit_test(pids_containers_and_pods_add_up),
		cmocka_unit_test(kinds_go_into_files_that_hold_them),
		cmocka_unit_test(wishes_about_waits_go_with_kinds_that_have_waits),
		cmocka_unit_test(a_duration_has_a_unit_or_is_in_seconds),
		cmocka_unit_test(what_other_profilers_have_is_explained),
		cmocka_unit_test(what_is_explained_is_no_option_of_record),
		cmocka_unit_test(an_option_at_the_end_lacks_its_value),
		cmocka_unit_test(record_writes_to_standard_output_in_a_format),
		cmocka_unit_test(record_serves_whoever_is_at_the_other_end_of_a_connection),
		cmocka_unit_test(methods_are_called_as_the_user_likes),
		cmocka_unit_test(stacks_are_unwound_as_the_user_likes),
		cmocka_unit_test(names_of_perf_maps_are_chosen_by_words),
		cmocka_unit_test(the_cache_of_tables_is_as_large_as_the_user_likes),
		cmocka_unit_test(watch_is_a_command_in_both_spellings),
		cmocka_unit_test(wrong_input_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
