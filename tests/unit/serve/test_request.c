// SPDX-License-Identifier: Apache-2.0
/* What a client asks of the daemon arrives as it was asked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "options/tables.h"
#include "serve/control.h"
#include "serve/request.h"
#include "serve/status_json.h"

static char why[REQUEST_WHY_BYTES];

static const struct recording_options sensible = {.hz = 99, .duration_ns = 1000000};

static json_t *request_of(const struct recording_options *options)
{
	json_t *const object = json_object();

	request_put_record(options, object);
	return object;
}

static void options_arrive_as_they_were_sent(void **state)
{
	struct recording_options sent = {
		.pid = 17,
		.more_pids = {18, 4194304},
		.n_more_pids = 2,
		.select = {.container = "0123abcd",
			   .pod = "shop/api",
			   .comm = "java",
			   .jvm = "^Main$",
			   .labels = {{"tier", "front=1"}, {"app", ""}},
			   .n_labels = 2,
			   .more_containers = {"4567abcd", "web"},
			   .more_pods = {"api-2"},
			   .n_more_containers = 2,
			   .n_more_pods = 1},
		.style.by_thread = true,
		.style.cuts_carriers = true,
		.hz = 499,
		.event = "cpu-clock",
		.duration_ns = 2500000000,
		.stack_bytes = 16384,
		.window_seconds = 30,
		.has_capture = true,
		.waits = {.is_asked = true, .has_wakers = true},
		.probes.alloc_interval = 64u << 10,
		.probes.is_live = true,
		.style.cxx_names = DEMANGLE_FULL,
		.style.has_native_lines = true,
		.style.names = {.style = JAVA_NAME_SIGNATURE, .is_raw = true, .has_lines = true},
	};
	struct recording_options got;
	json_t *object = request_of(&sent);

	assert_int_equal(request_take_record(object, &got, why), 0);
	json_decref(object);
	assert_int_equal(got.pid, 17);
	assert_int_equal(got.n_more_pids, 2);
	assert_memory_equal(got.more_pids, sent.more_pids, sizeof(got.more_pids));
	assert_memory_equal(&got.select, &sent.select, sizeof(got.select));
	assert_true(got.style.by_thread);
	assert_true(got.style.cuts_carriers);
	assert_false(got.style.by_pid);
	assert_false(got.all);
	assert_int_equal(got.hz, 499);
	assert_string_equal(got.event, "cpu-clock");
	assert_int_equal(got.duration_ns, 2500000000);
	assert_int_equal(got.stack_bytes, 16384);
	assert_int_equal(got.style.names.style, JAVA_NAME_SIGNATURE);
	assert_true(got.style.names.is_raw);
	assert_true(got.style.names.has_lines);
	assert_int_equal(got.style.cxx_names, DEMANGLE_FULL);
	assert_true(got.style.has_native_lines);
	assert_int_equal(got.window_seconds, 30);
	assert_true(got.has_capture);
	assert_true(got.waits.is_asked && got.waits.has_wakers);
	assert_int_equal(got.probes.alloc_interval, 64u << 10);
	assert_true(got.probes.is_live);
}

static void container_without_a_name_is_refused(void **state)
{
	struct recording_options got;
	json_t *object = request_of(&sensible);

	json_object_set_new(object, "container", json_string(""));
	assert_int_equal(request_take_record(object, &got, why), -EINVAL);
	json_decref(object);
}

static void windows_longer_than_the_longest_are_refused(void **state)
{
	struct recording_options sent = sensible, got;
	json_t *object;

	sent.window_seconds = WINDOW_MAX_SECONDS + 1;
	object = request_of(&sent);
	assert_int_equal(request_take_record(object, &got, why), -EINVAL);
	json_decref(object);
}

static void client_that_does_not_say_how_methods_are_called_gets_the_default(void **state)
{
	struct recording_options got;
	json_t *object = request_of(&sensible);

	json_object_del(object, "java_names");
	json_object_del(object, "raw_names");
	assert_int_equal(request_take_record(object, &got, why), 0);
	json_decref(object);
	assert_int_equal(got.style.names.style, JAVA_NAME_SLASH);
	assert_false(got.style.names.is_raw);
}

static void client_that_does_not_say_how_stacks_are_unwound_gets_the_default(void **state)
{
	struct recording_options got;
	json_t *object = request_of(&sensible);

	assert_int_equal(request_take_record(object, &got, why), 0);
	assert_int_equal(got.stack_bytes, 0); /* it does say: along frame pointers */
	json_object_del(object, "stack_bytes");
	assert_int_equal(request_take_record(object, &got, why), 0);
	json_decref(object);
	assert_int_equal(got.stack_bytes, SAMPLER_DEFAULT_STACK_BYTES);
}

static void client_that_does_not_ask_for_a_capture_gets_none(void **state)
{
	struct recording_options got;
	json_t *object = request_of(&sensible);

	assert_int_equal(request_take_record(object, &got, why), 0);
	assert_false(got.has_capture);
	json_object_del(object, "capture");
	assert_int_equal(request_take_record(object, &got, why), 0);
	json_decref(object);
	assert_false(got.has_capture);
}

static void who_samples_what_and_how_often_arrives_as_it_was_sent(void **state)
{
	for (int source = SAMPLER_AUTO; source <= SAMPLER_BPF_SCRATCH; source++) {
		struct recording_options sent = sensible, got;
		json_t *object;

		sent.source = (enum sampler_source)source;
		sent.max_samples_hz = SAMPLER_MOST_SAMPLES_HZ - (unsigned)source;
		sent.kinds = (1u << SAMPLE_KINDS) - 1 - SAMPLES_OF_CPU;
		sent.wall_hz = THREAD_CLOCK_MOST_HZ - (unsigned)source;
		object = request_of(&sent);
		assert_int_equal(request_take_record(object, &got, why), 0);
		json_decref(object);
		assert_int_equal(got.source, sent.source);
		assert_int_equal(got.max_samples_hz, sent.max_samples_hz);
		assert_int_equal(got.kinds, sent.kinds);
		assert_int_equal(got.wall_hz, sent.wall_hz);
	}
}

static void client_that_does_not_say_who_samples_what_gets_the_default(void **state)
{
	struct recording_options sent = sensible, got;
	json_t *object;

	sent.source = SAMPLER_PERF;
	sent.max_samples_hz = 7;
	sent.kinds = SAMPLES_OF_WALL;
	sent.wall_hz = 7;
	object = request_of(&sent);
	json_object_del(object, "sampler");
	json_object_del(object, "max_samples_hz");
	json_object_del(object, "kind");
	json_object_del(object, "wall_hz");
	assert_int_equal(request_take_record(object, &got, why), 0);
	json_decref(object);
	assert_int_equal(got.source, SAMPLER_AUTO);
	assert_int_equal(got.max_samples_hz, 0);
	assert_int_equal(got.kinds, SAMPLES_OF_CPU);
	assert_int_equal(got.wall_hz, 0);
}

static void check_refused(const char *key, json_t *value)
{
	struct recording_options got;
	json_t *object = request_of(&sensible);

	json_object_set_new(object, key, value);
	assert_int_equal(request_take_record(object, &got, why), -EINVAL);
	json_decref(object);
}

static void options_that_make_no_sense_are_refused(void **state)
{
	check_refused("hz", json_integer(0));
	check_refused("duration_ns", json_integer(-1));
	check_refused("event", json_string("nonsense"));
	check_refused("java_names", json_string("dots"));
	check_refused("cxx_names", json_string("short"));
	check_refused("cxx_names", json_integer(1));
	check_refused("java_names", json_integer(1));
	check_refused("stack_bytes", json_integer(-8));
	check_refused("stack_bytes", json_integer(8));
	check_refused("stack_bytes", json_integer(1028));
	check_refused("stack_bytes", json_integer(SAMPLER_MAX_STACK_BYTES + 8));
	check_refused("stack_bytes", json_integer((INT64_C(1) << 32) + 8192));
	check_refused("stack_bytes", json_string("16k"));
	check_refused("sampler", json_string("ebpf"));
	check_refused("sampler", json_string(""));
	check_refused("sampler", json_integer(1));
	check_refused("max_samples_hz", json_integer(SAMPLER_MOST_SAMPLES_HZ + 1));
	check_refused("max_samples_hz", json_integer((INT64_C(1) << 32) + 1));
	check_refused("kind", json_string(""));
	check_refused("kind", json_string("cpu,odours"));
	check_refused("kind", json_string("cpu,"));
	check_refused("kind", json_integer(1));
	check_refused("alloc_interval", json_integer(100000));
	check_refused("alloc_interval", json_integer((INT64_C(1) << 32) + (64 << 10)));
	check_refused("wall_hz", json_integer(THREAD_CLOCK_MOST_HZ + 1));
	check_refused("wall_hz", json_integer((INT64_C(1) << 32) + 1));
}

/* ---- a recording's figures ---- */

static void figures_arrive_as_they_were_sent(void **state)
{
	struct recording_status sent = {.samples = 1000, .lost = 3, .quality.samples = 1000};
	struct recording_status got;
	json_t *object;

	sent.quality.lost_samples = 3;
	sent.quality.unrooted_samples = 21;
	sent.quality.stackless_samples = 7;
	for (int i = 0; i < STACK_ENDS; i++)
		sent.quality.truncated_samples[i] = (uint64_t)i;
	object = status_to_json(&sent);
	status_from_json(object, &got);
	json_decref(object);
	assert_memory_equal(&got.quality, &sent.quality, sizeof(got.quality));
}

static void check_parts(const struct recording_status *got, const struct recording_status *sent)
{
	assert_int_equal(got->n_parts, sent->n_parts);
	for (size_t i = 0; i < sent->n_parts; i++) {
		assert_ptr_equal(got->parts[i].kind, sent->parts[i].kind);
		assert_memory_equal(&got->parts[i].quality, &sent->parts[i].quality,
				    sizeof(sent->parts[i].quality));
	}
}

static void parts_and_who_takes_the_samples_arrive_as_they_were_sent(void **state)
{
	struct recording_status sent = {.source = "perf (no BPF, \"because\")",
					.clock_source = "/proc (no BPF)",
					.wall_hz = 250,
					.probes = {.armed = 3,
						   .opening = 2,
						   .refused = 1,
						   .pauses = 9,
						   .why = "PID 7: \"because\""},
					.live = {.watched = 11,
						 .dead = 4,
						 .living = 6,
						 .unwatched = 12,
						 .left_out = 13,
						 .lost = 14},
					.n_parts = SAMPLE_KINDS};
	struct recording_status got;
	json_t *object;

	for (size_t i = 0; i < SAMPLE_KINDS; i++) {
		struct recording_part *const part = &sent.parts[i];

		part->kind = sample_kinds[SAMPLE_KINDS - 1 - i];
		if (i % 2)
			part->kind = sample_kind_if_live(part->kind);
		part->quality.samples = 1000 + i;
		part->quality.lost_samples = 10 + i;
		part->quality.unnamed_samples = 20 + i;
		part->quality.unrooted_samples = 30 + i;
		part->quality.truncated_samples[STACK_NO_RULE] = 40 + i;
	}
	object = status_to_json(&sent);
	status_from_json(object, &got);
	json_decref(object);
	assert_string_equal(got.source, sent.source);
	assert_string_equal(got.clock_source, sent.clock_source);
	assert_int_equal(got.wall_hz, 250);
	assert_int_equal(got.probes.armed, 3);
	assert_int_equal(got.probes.opening, 2);
	assert_int_equal(got.probes.refused, 1);
	assert_int_equal(got.probes.pauses, 9);
	assert_string_equal(got.probes.why, sent.probes.why);
	assert_memory_equal(&got.live, &sent.live, sizeof(sent.live));
	check_parts(&got, &sent);
}

/* As of a daemon that has another version. */
static void parts_that_nobody_knows_are_left_out(void **state)
{
	struct recording_status got;
	json_t *object = json_pack("{s:i, s:[{s:s, s:i}, i, {s:i}, {s:s, s:i}]}", "samples", 10,
				   "parts", "kind", "odours", "samples", 5, 7, "kind", 1, "kind",
				   sample_kind_cpu.profile->name, "samples", 3);

	status_from_json(object, &got);
	assert_int_equal(got.n_parts, 1);
	assert_ptr_equal(got.parts[0].kind, &sample_kind_cpu);
	assert_int_equal(got.parts[0].quality.samples, 3);
	json_object_set_new(object, "parts", json_string("cpu"));
	status_from_json(object, &got);
	assert_int_equal(got.n_parts, 1);
	assert_int_equal(got.parts[0].quality.samples, 10); /* the whole, as of an older daemon */
	json_decref(object);
}

static void more_parts_than_there_are_kinds_are_left_out(void **state)
{
	struct recording_status got;
	json_t *object = json_object(), *parts = json_array();

	for (unsigned i = 0; i < 2 * SAMPLE_KINDS; i++)
		json_array_append_new(parts,
				      json_pack("{s:s, s:i}", "kind", sample_kind_cpu.profile->name,
						"samples", (int)i));
	json_object_set_new(object, "parts", parts);
	status_from_json(object, &got);
	json_decref(object);
	assert_int_equal(got.n_parts, SAMPLE_KINDS);
}

static void figures_that_are_not_said_are_0(void **state)
{
	struct recording_status got;
	json_t *object = json_pack("{s:i, s:i}", "samples", 10, "unrooted", 2);

	memset(&got, 0xff, sizeof(got));
	status_from_json(object, &got);
	json_decref(object);
	assert_int_equal(got.quality.unrooted_samples, 2);
	assert_int_equal(got.quality.stackless_samples, 0);
	for (int i = 0; i < PROFILE_REASONS; i++)
		assert_int_equal(got.quality.truncated_samples[i], 0);
}

static void figures_that_are_none_are_0(void **state)
{
	struct recording_status got;
	json_t *object = json_pack("{s:i, s:{s:i, s:s}}", "stacks_left_out", -1, "truncated",
				   "no rule", -5, "snapshot ended", "12");

	status_from_json(object, &got);
	assert_int_equal(got.quality.stackless_samples, 0);
	assert_int_equal(got.quality.truncated_samples[STACK_NO_RULE], 0);
	assert_int_equal(got.quality.truncated_samples[STACK_SNAPSHOT_ENDED], 0);
	json_object_set_new(object, "truncated", json_integer(4));
	status_from_json(object, &got);
	assert_int_equal(got.quality.truncated_samples[STACK_NO_RULE], 0);
	json_decref(object);
}

static void options_survive_the_control_socket(void **state)
{
	const struct recording_options options = {.pid = 4711,
						  .select = {.container = "abcd"},
						  .style.by_thread = true,
						  .hz = 499,
						  .event = "cpu-clock",
						  .duration_ns = 1234567890123};
	struct recording_options out;
	json_t *json = request_of(&options);

	assert_int_equal(request_take_record(json, &out, why), 0);
	assert_int_equal(out.pid, 4711);
	assert_string_equal(out.select.container, "abcd");
	assert_true(out.style.by_thread && !out.style.by_pid && !out.all);
	assert_int_equal(out.hz, 499);
	assert_string_equal(out.event, "cpu-clock");
	assert_int_equal(out.duration_ns, 1234567890123);
	json_object_set_new(json, "event", json_string("rm -rf"));
	assert_int_not_equal(request_take_record(json, &out, why), 0);
	json_decref(json);
	assert_int_not_equal(request_take_record(NULL, &out, why), 0);
}

static void how_a_graph_is_drawn_arrives_as_it_was_sent(void **state)
{
	const struct render_options sent = {
		.waits = {.states = 1u << WAIT_RUNNING | 1u << WAIT_BLOCKED,
			  .idle = WAIT_IDLE_HIDDEN,
			  .idle_frames = {"a/B.rest", "*::nap"},
			  .n_idle_frames = 2},
		.title = "t",
		.notes = "n",
		.java_only = true,
	};
	struct render_options got;
	json_t *object = json_object();

	assert_int_equal(request_take_render(object, &got, why), 0);
	assert_int_equal(got.waits.states, 0);
	assert_int_equal(got.waits.idle, WAIT_IDLE_DEFAULT);
	assert_int_equal(got.waits.n_idle_frames, 0);
	request_put_render(&sent, object);
	assert_int_equal(request_take_render(object, &got, why), 0);
	assert_int_equal(got.waits.states, sent.waits.states);
	assert_int_equal(got.waits.idle, WAIT_IDLE_HIDDEN);
	assert_int_equal(got.waits.n_idle_frames, 2);
	assert_string_equal(got.waits.idle_frames[1], "*::nap");
	assert_string_equal(got.title, "t");
	assert_string_equal(got.notes, "n");
	assert_null(got.subtitle);
	assert_true(got.java_only && !got.splits_levels && !got.folds_frameworks);
	json_decref(object);
}

static void what_is_no_wish_about_threads_that_wait_is_refused(void **state)
{
	static const char *const texts[] = {
		"{\"states\": \"running\"}", "{\"states\": [\"asleep\"]}",
		"{\"states\": [7]}",	     "{\"idle\": true}",
		"{\"idle_frames\": \"a\"}",  "{\"idle_frames\": [null]}",
	};
	json_t *object = json_object(), *frames = json_array();
	struct render_options got;

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		json_t *bad = json_loads(texts[i], 0, NULL);

		assert_non_null(bad);
		assert_int_equal(request_take_render(bad, &got, why), -EINVAL);
		json_decref(bad);
	}
	json_object_set_new(object, "idle_frames", frames);
	for (unsigned i = 0; i < WAITS_MAX_FRAMES; i++)
		json_array_append_new(frames, json_string("a"));
	assert_int_equal(request_take_render(object, &got, why), 0);
	json_array_append_new(frames, json_string("a"));
	assert_int_equal(request_take_render(object, &got, why), -EINVAL);
	json_decref(object);
}

/* A member of another type, or past the limits, is no member that is missing. */
static void what_is_no_such_value_is_refused(void **state)
{
	static const char *const texts[] = {
		"\"pid\": -1",
		"\"pid\": \"7\"",
		"\"pid\": 4294967296",
		"\"pid\": 2147483653",
		"\"more_pids\": [\"x\", 1]",
		"\"more_pids\": 7",
		"\"more_pids\": [0]",
		"\"wall_hz\": 5.5",
		"\"wall_hz\": -5",
		"\"wall_hz\": \"5\"",
		"\"alloc_interval\": true",
		"\"live\": 1",
		"\"all\": \"yes\"",
		"\"event\": 7",
	};
	struct recording_options got;

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		char text[128];
		json_t *object;

		snprintf(text, sizeof(text), "{\"hz\": 99, \"duration_ns\": 1, %s}", texts[i]);
		object = json_loads(text, 0, NULL);
		assert_non_null(object);
		if (request_take_record(object, &got, why) != -EINVAL)
			fail_msg("%s is taken", text);
		json_decref(object);
	}
}

/* What is said of a request with these members beside those that it has to have. */
static void check_told(const char *members, const char *expected)
{
	struct recording_options got;
	struct render_options drawn;
	char text[512];
	json_t *object;
	int err;

	snprintf(text, sizeof(text), "{%s}", members);
	object = json_loads(text, 0, NULL);
	assert_non_null(object);
	err = request_take_record(object, &got, why);
	if (!err)
		err = request_take_render(object, &drawn, why);
	assert_int_equal(err, -EINVAL);
	json_decref(object);
	assert_string_equal(why, expected);
}

#define NEEDED "\"hz\": 99, \"duration_ns\": 1, "

static void a_member_that_is_refused_is_named_with_its_value_and_what_is_needed(void **state)
{
	check_told("\"duration_ns\": 1",
		   "\"hz\" is missing: a whole number of samples a second is needed, from 1 to "
		   "100000");
	check_told(
		NEEDED "\"hz\": \"9\"",
		"\"hz\" is \"9\": a whole number of samples a second is needed, from 1 to 100000");
	check_told(NEEDED "\"all\": \"yes\"", "\"all\" is \"yes\": true or false is needed");
	check_told(NEEDED "\"pid\": -1", "\"pid\" is -1: a PID from 1 to 4194304 is needed, or 0");
	check_told(NEEDED "\"more_pids\": [1,\"x\"]",
		   "\"more_pids\" is [1,\"x\"]: a list of at most 7 PIDs is needed, each from 1 to "
		   "4194304");
	check_told(NEEDED "\"container\": [\"a\", 7]",
		   "\"container\" is [\"a\",7]: a text is needed");
	check_told(NEEDED "\"comm\": []", "\"comm\" is []: a text is needed");
	check_told(NEEDED "\"event\": \"nonsense\"", "\"event\" is \"nonsense\": an event's name "
						     "is needed, such as cpu-clock or cycles");
	check_told(NEEDED "\"alloc_interval\": 5",
		   "\"alloc_interval\" is 5: there are: 16384, 65536, 524288, 2097152");
	check_told(NEEDED "\"stack_bytes\": 7",
		   "\"stack_bytes\" is 7: 0 is needed, or a multiple of 8 from 1024 to 64000");
	check_told(NEEDED "\"title\": 7", "\"title\" is 7: a text is needed");
	check_told(NEEDED "\"idle\": \"now\"", "\"idle\" is \"now\": there are: hidden, shown");
	check_told(NEEDED "\"states\": [\"asleep\"]",
		   "\"states\" is [\"asleep\"]: a list is needed of running, runnable and blocked");
}

/* A client may send anything. */
static void a_long_value_is_cut(void **state)
{
	check_told(
		NEEDED
		"\"sampler\": \"\\u001b\u00e9aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"",
		"\"sampler\" is \"\\u001B\\u00E9aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		"aaaaaaaaa...: there are: auto bpf perf bpf-exact "
		"bpf-slices bpf-scratch");
}

static void a_list_is_checked_as_its_command_line_is(void **state)
{
	json_t *const object = json_loads("{\"pid\": 7, \"container\": \"x\"}", 0, NULL);

	assert_int_equal(request_check(object, OPTIONS_OF_LIST, why), -EINVAL);
	assert_non_null(strstr(why, "-p does not go with --container"));
	json_decref(object);
}

static void check_pair(const char *text, const char *said)
{
	json_t *const object = json_loads(text, 0, NULL);

	assert_int_equal(request_check(object, OPTIONS_OF_RECORD, why), said ? -EINVAL : 0);
	if (said)
		assert_non_null(strstr(why, said));
	json_decref(object);
}

/* The daemon asks of a request what the command line asks of options, whoever has written it. */
static void what_does_not_go_together_is_refused(void **state)
{
	json_t *const usual = request_of(&sensible);

	assert_int_equal(request_check(usual, OPTIONS_OF_RECORD, why), 0);
	json_decref(usual);
	check_pair("{\"live\": true}", "--live goes with --kind alloc or objects");
	check_pair("{\"live\": true, \"kind\": \"cpu,objects\"}", NULL);
	check_pair("{\"live\": false, \"wall_hz\": 0, \"pid\": 0, \"label\": []}", NULL);
	check_pair("{\"wall_hz\": 20, \"kind\": \"alloc\"}", "--wall-frequency goes with");
	check_pair("{\"pid\": 7, \"all\": true}", "-p does not go with -a");
	check_pair("{\"pid\": 7, \"label\": [\"a=b\"]}", "-p does not go with --label");
	check_pair("{\"stack_bytes\": 0, \"kind\": \"alloc\"}", "does not go with --unwind fp");
	check_pair("{\"stack_bytes\": 0, \"kind\": \"cpu\"}", NULL);
	check_pair("{\"kind\": \"lock\", \"sampler\": \"perf\"}",
		   "does not go with --sampler perf");
	check_pair("{\"kind\": \"wall\", \"capture\": true}",
		   "--capture does not go with --kind wall");
}

static void control_socket_lies_outside_of_the_agents_directory(void **state)
{
	char path[PATH_MAX];

	control_path("/run/fgcollect/agent.sock", path);
	assert_string_equal(path, "/run/fgcollect-control/agent.sock");
	control_path("x.sock", path);
	assert_string_equal(path, "x.sock-control");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_arrive_as_they_were_sent),
		cmocka_unit_test(container_without_a_name_is_refused),
		cmocka_unit_test(how_a_graph_is_drawn_arrives_as_it_was_sent),
		cmocka_unit_test(what_is_no_such_value_is_refused),
		cmocka_unit_test(
			a_member_that_is_refused_is_named_with_its_value_and_what_is_needed),
		cmocka_unit_test(a_long_value_is_cut),
		cmocka_unit_test(a_list_is_checked_as_its_command_line_is),
		cmocka_unit_test(what_does_not_go_together_is_refused),
		cmocka_unit_test(what_is_no_wish_about_threads_that_wait_is_refused),
		cmocka_unit_test(windows_longer_than_the_longest_are_refused),
		cmocka_unit_test(client_that_does_not_say_how_methods_are_called_gets_the_default),
		cmocka_unit_test(client_that_does_not_ask_for_a_capture_gets_none),
		cmocka_unit_test(client_that_does_not_say_how_stacks_are_unwound_gets_the_default),
		cmocka_unit_test(who_samples_what_and_how_often_arrives_as_it_was_sent),
		cmocka_unit_test(client_that_does_not_say_who_samples_what_gets_the_default),
		cmocka_unit_test(options_that_make_no_sense_are_refused),
		cmocka_unit_test(figures_arrive_as_they_were_sent),
		cmocka_unit_test(parts_and_who_takes_the_samples_arrive_as_they_were_sent),
		cmocka_unit_test(parts_that_nobody_knows_are_left_out),
		cmocka_unit_test(more_parts_than_there_are_kinds_are_left_out),
		cmocka_unit_test(figures_that_are_not_said_are_0),
		cmocka_unit_test(figures_that_are_none_are_0),
		cmocka_unit_test(options_survive_the_control_socket),
		cmocka_unit_test(control_socket_lies_outside_of_the_agents_directory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
