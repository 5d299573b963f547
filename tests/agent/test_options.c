// SPDX-License-Identifier: Apache-2.0
/* Option strings: what is taken, what is refused, who wins. */
#include "agent/options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static char warnings[1024];

static void collect_warning(const char *format, ...)
{
	const size_t used = strlen(warnings);
	va_list args;

	va_start(args, format);
	vsnprintf(warnings + used, sizeof(warnings) - used, format, args);
	va_end(args);
	strncat(warnings, "\n", sizeof(warnings) - strlen(warnings) - 1);
}

static struct options read_options(const char *text, const char *env)
{
	struct options options;

	warnings[0] = 0;
	options_init(&options);
	options_read(&options, text, "-agentpath", collect_warning);
	options_read(&options, env, "FGAGENT_OPTS", collect_warning);
	return options;
}

/* Reads text, expects one warning that mentions part, and the defaults otherwise. */
static void check_refused(const char *text, const char *part)
{
	struct options defaults, options = read_options(text, NULL);

	options_init(&defaults);
	defaults.idle = options.idle;
	assert_non_null(strstr(warnings, part));
	assert_ptr_equal(strchr(warnings, '\n') + 1, warnings + strlen(warnings));
	assert_memory_equal(&options, &defaults, sizeof(options));
}

static void nothing_given_is_the_defaults(void **state)
{
	struct options options = read_options(NULL, "");

	assert_string_equal(options.socket, "/run/fgcollect/agent.sock");
	assert_int_equal(options.buffer_bytes, 256 * 1024);
	assert_int_equal(options.framepointer, OPTIONS_FP_OFF);
	assert_int_equal(options.delay_s, 0);
	assert_true(options.threads);
	assert_true(options.lines);
	assert_false(options.idle);
	assert_string_equal(warnings, "");
}

static void every_key_is_taken(void **state)
{
	struct options options = read_options(
		"socket=/x/y,framepointer=on,label=team:a=b:c,buffer=1m,delay=10s,threads=off,"
		"lines=off,,",
		NULL);

	assert_string_equal(warnings, "");
	assert_string_equal(options.socket, "/x/y");
	assert_int_equal(options.framepointer, OPTIONS_FP_ON);
	assert_int_equal(options.buffer_bytes, 1 << 20);
	assert_int_equal(options.delay_s, 10);
	assert_false(options.threads);
	assert_false(options.lines);
	assert_int_equal(options.n_labels, 1);
	assert_string_equal(options.labels[0].key, "team");
	assert_string_equal(options.labels[0].value, "a=b:c");
}

static void an_agent_may_listen_instead(void **state)
{
	struct options options = read_options("socket=listen:/tmp/.fgagent-%p.sock", NULL);

	assert_string_equal(warnings, "");
	assert_string_equal(options.socket, "/tmp/.fgagent-%p.sock");
	assert_true(options.listens);
	options = read_options("socket=listen:/tmp/x", "socket=/y");
	assert_string_equal(options.socket, "/y");
	assert_false(options.listens);
	check_refused("socket=listen:", "socket");
	check_refused("socket=listen:x", "socket");
	check_refused("socket=listen:@x", "abstract");
	check_refused("socket=listen:/a\nb", "control characters");
	check_refused("socket=listen:/a\\134", "socket");
}

static void environment_wins(void **state)
{
	struct options options = read_options("socket=/image,buffer=32k,label=a:1,label=b:2",
					      "socket=/operator,label=a:3");

	assert_string_equal(options.socket, "/operator");
	assert_int_equal(options.buffer_bytes, 32 << 10);
	assert_int_equal(options.n_labels, 2);
	assert_string_equal(options.labels[0].value, "3");
	assert_string_equal(options.labels[1].value, "2");
}

static void off_is_idle(void **state)
{
	assert_true(read_options(NULL, "off").idle);
	assert_true(read_options("off", NULL).idle);
	assert_true(read_options("socket=/x", "off").idle);
	assert_string_equal(warnings, "");
}

static void what_is_not_understood_is_one_line(void **state)
{
	check_refused("colour=red", "unknown option \"colour\"");
	check_refused("colour", "unknown option \"colour\"");
	check_refused("off=1", "unknown option \"off\"");
	check_refused("socket", "bad value for socket");
	check_refused("socket=relative", "bad value for socket");
	check_refused("framepointer=maybe", "bad value for framepointer");
	check_refused("framepointer=", "bad value for framepointer");
	check_refused("threads=yes", "bad value for threads");
	check_refused("lines=yes", "bad value for lines");
	check_refused("delay=10", "bad value for delay");
	check_refused("delay=s", "bad value for delay");
	check_refused("delay=", "bad value for delay");
	check_refused("delay=-1s", "bad value for delay");
	check_refused("delay=10ms", "bad value for delay");
	check_refused("delay=3601s", "bad value for delay");
	check_refused("delay=99999999999999999999s", "bad value for delay");
	check_refused("lines", "bad value for lines");
	check_refused("label=nocolon", "bad value for label");
	check_refused("label=:novalue", "bad value for label");
}

static void buffer_sizes_have_bounds(void **state)
{
	check_refused("buffer=15k", "bad value for buffer");
	check_refused("buffer=17m", "bad value for buffer");
	check_refused("buffer=16385k", "bad value for buffer");
	check_refused("buffer=99999999999999999999999", "bad value for buffer");
	check_refused("buffer=-1", "bad value for buffer");
	check_refused("buffer=k", "bad value for buffer");
	check_refused("buffer=16kk", "bad value for buffer");
	assert_int_equal(read_options("buffer=16384", NULL).buffer_bytes, 16384);
	assert_int_equal(read_options("buffer=16M", NULL).buffer_bytes, 16 << 20);
	assert_int_equal(read_options("buffer=16K", NULL).buffer_bytes, 16 << 10);
}

static void too_long_a_socket_is_idle(void **state)
{
	char text[256] = "socket=/";

	memset(text + 8, 'x', 107);
	check_refused(text, "bad value for socket");
	assert_true(read_options(text, NULL).idle);
	text[8 + 106] = 0;
	assert_false(read_options(text, NULL).idle);
	assert_int_equal(strlen(read_options(text, NULL).socket), 107);
}

static void labels_are_bounded(void **state)
{
	char text[512] = "";

	for (int i = 0; i < 9; i++)
		sprintf(text + strlen(text), "label=k%d:v,", i);
	assert_int_equal(read_options(text, NULL).n_labels, OPTIONS_LABELS_MAX);
	assert_non_null(strstr(warnings, "bad value for label"));
	strcpy(text, "label=");
	memset(text + 6, 'k', 64);
	strcpy(text + 70, ":v");
	check_refused(text, "bad value for label");
	strcpy(text, "label=k:");
	memset(text + 8, 'v', 192);
	text[200] = 0;
	check_refused(text, "bad value for label");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_given_is_the_defaults),
		cmocka_unit_test(every_key_is_taken),
		cmocka_unit_test(an_agent_may_listen_instead),
		cmocka_unit_test(environment_wins),
		cmocka_unit_test(off_is_idle),
		cmocka_unit_test(what_is_not_understood_is_one_line),
		cmocka_unit_test(buffer_sizes_have_bounds),
		cmocka_unit_test(too_long_a_socket_is_idle),
		cmocka_unit_test(labels_are_bounded),
	};

	return cmocka_run_group_tests_name("agent options", tests, NULL, NULL);
}
