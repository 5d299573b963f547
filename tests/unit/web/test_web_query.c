// SPDX-License-Identifier: Apache-2.0
/* What a request asks for, and how bad ones are told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "web/web_query.h"

#define NOW_MS 1700000000000
#define NOW_NS (UINT64_C(1700000000) * 1000000000)
#define MIN_NS (UINT64_C(60) * 1000000000)
#define KEY    "4711-1e240-9c5b1a02"
#define OTHER  "4712-1e240-9c5b1a02"

static struct web_parameters parameters;
static struct log_catch caught;
static struct web_query *query;

static int set_up(void **state)
{
	setenv("TZ", "UTC", 1);
	query = malloc(sizeof(*query));
	return query ? 0 : -1;
}

static int tear_down(void **state)
{
	free(query);
	web_parameters_fini(&parameters);
	return 0;
}

/* text: "name=value&name=value", not encoded. */
static int parse(enum web_what what, const char *text)
{
	char copy[4096], *rest = copy, *one;
	int err;

	web_parameters_fini(&parameters);
	snprintf(copy, sizeof(copy), "%s", text);
	while ((one = strsep(&rest, "&"))) {
		char *const equals = strchr(one, '=');

		if (!*one)
			continue;
		assert_int_equal(web_parameters_add(&parameters, one,
						    equals ? (size_t)(equals - one) : strlen(one),
						    equals ? equals + 1 : NULL,
						    equals ? strlen(equals + 1) : 0),
				 0);
	}
	caught = (struct log_catch){0};
	log_catch(&caught);
	err = web_query_parse(what, &parameters, NOW_NS, query);
	log_catch(NULL);
	return err;
}

static void check_bad(enum web_what what, const char *text, const char *why)
{
	assert_int_equal(parse(what, text), -EINVAL);
	if (!strstr(caught.errors, why))
		fail_msg("%s: \"%s\" instead of \"%s\"", text, caught.errors, why);
}

static void paths_are_exact(void **state)
{
	enum web_what what;

	assert_int_equal(web_query_what("/api/v1/heat", &what), 0);
	assert_int_equal(what, WEB_HEAT);
	assert_int_equal(web_query_what("/api/v1/heat/", &what), -ENOENT);
	assert_int_equal(web_query_what("/api/v1/", &what), -ENOENT);
	assert_int_equal(web_query_what("/api/v2/heat", &what), -ENOENT);
}

static void times_are_milliseconds_or_as_commands_take_them(void **state)
{
	assert_int_equal(parse(WEB_GRAPH, "from=1699999990000&to=1699999999999"), 0);
	assert_int_equal(query->after.range.from_ns, NOW_NS - 10 * UINT64_C(1000000000));
	assert_int_equal(query->after.range.to_ns, NOW_NS - 1000000);
	assert_int_equal(parse(WEB_GRAPH, "from=-10m"), 0);
	assert_int_equal(query->after.range.from_ns, NOW_NS - 10 * MIN_NS);
	assert_int_equal(query->after.range.to_ns, NOW_NS);
	assert_int_equal(parse(WEB_GRAPH, "from=2023-11-14T22:10:00Z&to=22:12"), 0);
	assert_int_equal(query->after.range.to_ns - query->after.range.from_ns, 2 * MIN_NS);
}

static void bad_times_are_told(void **state)
{
	check_bad(WEB_GRAPH, "from=yesterday", "from yesterday: no such time");
	check_bad(WEB_GRAPH, "from=99999999999999999999999", "no such time");
	check_bad(WEB_GRAPH, "from=12345", "no such time");
	check_bad(WEB_GRAPH, "from=-1m&to=9000000000001", "to 9000000000001: no such time");
	check_bad(WEB_GRAPH, "from=-1m&to=-2m", "to -2m: is not after from");
	check_bad(WEB_GRAPH, "", "from says from when on");
	check_bad(WEB_DIFF, "from=-1m&before-from=x", "before-from x: no such time");
	check_bad(WEB_DIFF, "from=-1m&before-to=-3m", "before-to goes with before-from");
}

static void a_begin_in_the_future_is_no_error(void **state)
{
	assert_int_equal(parse(WEB_HEAT, "from=1800000000000"), 0);
	assert_true(query->after.range.to_ns > query->after.range.from_ns);
	assert_int_equal(parse(WEB_HEAT, "from=1800000000000&to=1800000060000"), 0);
}

static void selectors_are_those_of_history(void **state)
{
	struct store_query asked;

	assert_int_equal(parse(WEB_PROCESSES, "pod=shop/api-&label=version=1.2&label=a=b&pid=7&jvm="
					      "Main$&kind=alloc&process=" KEY "&process=" OTHER),
			 0);
	assert_string_equal(query->after.select.pod, "shop/api-");
	assert_int_equal(query->after.select.n_labels, 2);
	assert_string_equal(query->kind, "alloc");
	asked = web_query_of(query, &query->after);
	assert_int_equal(asked.n_keys, 2);
	assert_string_equal(asked.keys[1], OTHER);
	assert_int_equal(asked.pid, 7);
}

static void bad_selectors_are_told(void **state)
{
	check_bad(WEB_PROCESSES, "pid=0", "pid 0: a PID is needed");
	check_bad(WEB_PROCESSES, "label=x", "label x: a label is needed");
	check_bad(WEB_PROCESSES, "jvm=(", "jvm (: an extended");
	check_bad(WEB_PROCESSES, "process=4711", "a key of /api/v1/processes");
	check_bad(WEB_PROCESSES, "process=" KEY "x", "a key of /api/v1/processes");
	check_bad(WEB_PROCESSES, "kind=", "a kind of samples");
}

static void what_a_path_does_not_take_is_told(void **state)
{
	check_bad(WEB_STORE, "from=-1h", "from: there is no such parameter here");
	check_bad(WEB_PROCESSES, "columns=3", "no such parameter");
	check_bad(WEB_GRAPH, "from=-1h&before-from=-2h", "before-from: there is no such");
	check_bad(WEB_DIFF, "from=-1h&before-kind=cpu", "before-kind: there is no such");
	check_bad(WEB_GRAPH, "from=-1h&o=/etc/passwd", "o: there is no such");
}

static void cells_are_bounded(void **state)
{
	assert_int_equal(parse(WEB_HEAT, "columns=400&rows=50"), 0);
	check_bad(WEB_HEAT, "columns=401&rows=50", "more than 20000 cells");
	check_bad(WEB_HEAT, "columns=0", "a number from 1 to 20000");
	check_bad(WEB_HEAT, "rows=-1", "a number from 1 to 20000");
	check_bad(WEB_HEAT, "rows=1e3", "a number from 1 to 20000");
	check_bad(WEB_PROCESSES, "buckets=1001", "a number from 1 to 1000");
}

static void formats_are_those_of_render(void **state)
{
	assert_int_equal(parse(WEB_GRAPH, "from=-1h"), 0);
	assert_int_equal(query->draw.format, RENDER_HTML);
	assert_int_equal(parse(WEB_GRAPH, "from=-1h&format=speedscope.json"), 0);
	assert_int_equal(query->draw.format, RENDER_SPEEDSCOPE);
	check_bad(WEB_GRAPH, "from=-1h&format=exe", "format exe: no such format");
	check_bad(WEB_DIFF, "from=-1h&before-from=-2h&format=perf.txt", "one count a stack");
}

static void drawing_is_as_options_say(void **state)
{
	assert_int_equal(parse(WEB_DIFF, "from=-1h&before-from=-2h&java-only&split-levels=1&"
					 "reverse=0&hide-idle=0&no-normalize=1&width-of=before&"
					 "state=blocked&title=x"),
			 0);
	assert_true(query->draw.render.java_only && query->draw.render.splits_levels);
	assert_true(query->draw.diff.splits_kinds && query->draw.diff.is_raw);
	assert_false(query->is_reversed);
	assert_int_equal(query->draw.render.waits.idle, WAIT_IDLE_SHOWN);
	assert_int_equal(query->draw.diff.width, DIFF_WIDTH_BEFORE);
	assert_true(query->draw.render.waits.states != 0);
	check_bad(WEB_GRAPH, "from=-1h&java-only=yes", "java-only yes: 0 or 1");
	check_bad(WEB_GRAPH, "from=-1h&state=asleep", "state asleep");
	check_bad(WEB_GRAPH, "from=-1h&colors=pink", "no such colours");
}

static void the_side_before_is_that_after_but_for_what_it_says(void **state)
{
	assert_int_equal(parse(WEB_DIFF, "from=-10m&to=-5m&pod=a&before-from=-60m"), 0);
	assert_string_equal(query->before.select.pod, "a");
	assert_int_equal(query->before.range.from_ns, NOW_NS - 60 * MIN_NS);
	assert_int_equal(query->before.range.to_ns, NOW_NS - 55 * MIN_NS);
	assert_int_equal(parse(WEB_DIFF, "from=-10m&pod=a&label=v=2&before-label=v=1"), 0);
	assert_int_equal(query->before.select.n_labels, 1);
	assert_string_equal(query->before.select.labels[0].value, "1");
	assert_string_equal(query->before.select.pod, "a");
	assert_int_equal(query->before.range.from_ns, query->after.range.from_ns);
	check_bad(WEB_DIFF, "from=-10m&pod=a", "diff compares two sides");
}

static void keys_and_names_of_two_sides_do_not_mix(void **state)
{
	assert_int_equal(parse(WEB_DIFF, "from=-10m&process=" KEY "&before-from=-20m"), 0);
	assert_int_equal(query->before.n_keys, 1);
	assert_int_equal(parse(WEB_DIFF, "from=-10m&process=" KEY "&before-pod=b"), 0);
	assert_int_equal(query->before.n_keys, 0);
	assert_int_equal(parse(WEB_DIFF, "from=-10m&pod=a&before-process=" OTHER), 0);
	assert_int_equal(query->before.n_keys, 1);
	assert_string_equal(query->before.select.pod, "");
}

static void texts_and_numbers_of_parameters_are_bounded(void **state)
{
	char text[WEB_MAX_TEXT + 64] = "title=";

	memset(text + strlen(text), 'x', WEB_MAX_TEXT + 1);
	check_bad(WEB_GRAPH, text, "longer than 1,024 bytes");
	assert_int_equal(web_parameters_add(&parameters, "a\0b", 3, "", 0), -EINVAL);
	assert_int_equal(web_parameters_add(&parameters, "a", 1, "b\0", 2), -EINVAL);
	for (size_t i = parameters.n; i < WEB_MAX_PARAMETERS; i++)
		assert_int_equal(web_parameters_add(&parameters, "process", 7, KEY, strlen(KEY)),
				 0);
	assert_int_equal(web_parameters_add(&parameters, "a", 1, "", 0), -E2BIG);
	caught = (struct log_catch){0};
	log_catch(&caught);
	parameters.all[0].name[0] = 'p';
	free(parameters.all[0].name);
	parameters.all[0] = parameters.all[--parameters.n];
	assert_int_equal(web_query_parse(WEB_HEAT, &parameters, NOW_NS, query), -EINVAL);
	log_catch(NULL);
	assert_non_null(strstr(caught.errors, "more than 512 processes"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_are_exact),
		cmocka_unit_test(times_are_milliseconds_or_as_commands_take_them),
		cmocka_unit_test(bad_times_are_told),
		cmocka_unit_test(a_begin_in_the_future_is_no_error),
		cmocka_unit_test(selectors_are_those_of_history),
		cmocka_unit_test(bad_selectors_are_told),
		cmocka_unit_test(what_a_path_does_not_take_is_told),
		cmocka_unit_test(cells_are_bounded),
		cmocka_unit_test(formats_are_those_of_render),
		cmocka_unit_test(drawing_is_as_options_say),
		cmocka_unit_test(the_side_before_is_that_after_but_for_what_it_says),
		cmocka_unit_test(keys_and_names_of_two_sides_do_not_mix),
		cmocka_unit_test(texts_and_numbers_of_parameters_are_bounded),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
