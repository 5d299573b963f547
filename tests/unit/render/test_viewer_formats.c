// SPDX-License-Identifier: Apache-2.0
/*
 * The formats of other viewers: what their readers find in them, and that no name breaks them. JSON
 * is read by jansson, pprof by our own reader, which has tests against files written by hand.
 */
#include "profile_of.h"

#include "import/pprof.h"
#include "render/kinds.h"

#include <errno.h>
#include <jansson.h>

/* Markup, quotes, escapes, controls, invalid UTF-8, a mark that turns the text around. */
#define HOSTILE	      "<b>\"\\\n\t\x1b[31m\xff\xe2\x80\xae</script>'"
#define HOSTILE_CLEAN "<b>\"\\" BAD BAD BAD "[31m" BAD BAD "</script>'"
#define BUILD	      "000102030405060708090a0b0c0d0e0f10111213"
#define BAD	      "\xef\xbf\xbd"

static const struct profile_info info = {
	.hz = 100,
	.start_unix_ns = 1700000000123456789,
	.duration_ns = 2000000000,
};
static const struct render_options timed = {.title = "a \"title\"", .info = &info};

static const struct note stacks[] = {
	{{F("app", LABEL), F("a/B.c", JIT), F("a/B.d", INLINED)}, 3},
	{{F("app", LABEL), F("a/B.c", JIT)}, 2},
	{{F("app", LABEL), F("read", NATIVE), F("sys_read", KERNEL)}, 5},
	{{F("i", INLINED)}, 1},
	{{F("x", INTERPRETED), F("y", C1), F("s", STUB)}, 4},
	{{F(NULL, LABEL)}, 6},
};

static void fill(struct profile *profile)
{
	assert_int_equal(profile_init(profile, 0), 0);
	for (size_t i = 0; i < sizeof(stacks) / sizeof(*stacks); i++)
		add_note(profile, &stacks[i]);
}

static void fill_hostile(struct profile *profile)
{
	const struct frame frame = {
		.name = HOSTILE,
		.module = HOSTILE,
		.file = HOSTILE,
		.kind = FRAME_NATIVE,
	};

	assert_int_equal(profile_init(profile, 0), 0);
	assert_int_equal(profile_add(profile, &frame, 1, 7), 0);
}

static json_t *json_of(const struct profile *profile, enum render_format format,
		       const struct render_options *options)
{
	json_error_t error;
	size_t len;
	char *const text = rendered(profile, format, options, &len);
	json_t *const json = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);

	assert_non_null(json);
	free(text);
	return json;
}

static void read_back(const struct profile *from, const struct render_options *options,
		      struct profile *ret)
{
	struct import_target target = {.profile = ret};
	size_t len;
	char *const data = rendered(from, RENDER_PPROF, options, &len);

	assert_int_equal(profile_init(ret, 0), 0);
	assert_int_equal(import_pprof(data, len, &target), 0);
	assert_int_equal(target.report.ignored, 0);
	free(data);
}

static void check_round_trip(const struct render_options *options)
{
	struct profile profile, back;
	char *before, *after;

	fill(&profile);
	read_back(&profile, options, &back);
	before = written(&profile, RENDER_FOLDED, NULL);
	after = written(&back, RENDER_FOLDED, NULL);
	assert_string_equal(before, after);
	free(before);
	free(after);
	profile_fini(&profile);
	profile_fini(&back);
}

static void pprof_and_back_is_the_same(void **state)
{
	check_round_trip(NULL);
	check_round_trip(&timed);
}

/* before and after of a difference in pprof, as its reader finds them. */
struct difference {
	struct profile before, after;
};

static void compare(const struct diff_options *options, struct difference *ret)
{
	static const struct note before[] = {{{F("m", NATIVE), F("stays", NATIVE)}, 100},
					     {{F("m", NATIVE), F("gone", NATIVE)}, 51}};
	static const struct note after[] = {{{F("m", NATIVE), F("stays", NATIVE)}, 200},
					    {{F("m", NATIVE), F("new", NATIVE)}, 33}};
	struct import_target target = {.profile = &ret->after, .before = &ret->before};
	struct profile sides[DIFF_SIDES];
	struct profile_diff diff;
	size_t len;
	char *data;

	for (int side = 0; side < DIFF_SIDES; side++) {
		assert_int_equal(profile_init(&sides[side], 0), 0);
		for (int i = 0; i < 2; i++)
			add_note(&sides[side], side == DIFF_BEFORE ? &before[i] : &after[i]);
	}
	assert_int_equal(diff_init(&diff, &sides[0], &sides[1], options), 0);
	data = rendered(&diff.tree, RENDER_PPROF, &(struct render_options){.diff = &diff}, &len);
	assert_int_equal(profile_init(&ret->before, 0), 0);
	assert_int_equal(profile_init(&ret->after, 0), 0);
	assert_int_equal(import_pprof(data, len, &target), 0);
	assert_int_equal(target.report.ignored, 0);
	free(data);
	diff_fini(&diff);
	profile_fini(&sides[0]);
	profile_fini(&sides[1]);
}

static void check_difference(struct difference *difference, const char *before, const char *after)
{
	char *const is_before = written(&difference->before, RENDER_FOLDED, NULL);
	char *const is_after = written(&difference->after, RENDER_FOLDED, NULL);

	assert_string_equal(is_before, before);
	assert_string_equal(is_after, after);
	free(is_before);
	free(is_after);
	profile_fini(&difference->before);
	profile_fini(&difference->after);
}

static void difference_in_pprof_takes_off_what_was_before(void **state)
{
	struct difference difference;

	compare(&(struct diff_options){.is_raw = true}, &difference);
	check_difference(&difference, "m;gone 51\nm;stays 100\n", "m;new 33\nm;stays 200\n");
}

/* 151 before, 233 after: 100 are worth 154.3, 51 are 78.7. */
static void normalised_difference_in_pprof_adds_up_to_nothing(void **state)
{
	struct difference difference;

	compare(&(struct diff_options){0}, &difference);
	check_difference(&difference, "m;gone 79\nm;stays 154\n", "m;new 33\nm;stays 200\n");
}

static const struct profile_node *find(const struct profile *profile, const char *name)
{
	for (uint32_t id = 0; id < profile->count; id++) {
		if (strcmp(profile->nodes[id].name, name) == 0)
			return &profile->nodes[id];
	}
	return NULL;
}

static void pprof_keeps_kinds_modules_and_lines(void **state)
{
	const struct frame frames[] = {
		{"[blocked: futex]", NULL, NULL, 0, FRAME_WAIT, NULL},
		{"JVM_Sleep", "libjvm.so", NULL, 0, FRAME_JVM, NULL},
		{"a/b/C.run", NULL, "C.java", 42, FRAME_INLINED, NULL},
		{"a/b/C.main", NULL, "C.java", 7, FRAME_JIT, NULL},
		{"[unknown: gone]", NULL, NULL, 0, FRAME_UNKNOWN, NULL},
	};
	struct profile profile, back;
	const struct profile_node *node;

	assert_int_equal(profile_init(&profile, 0), 0);
	assert_int_equal(profile_add(&profile, frames, 5, 1), 0);
	read_back(&profile, NULL, &back);
	assert_int_equal(find(&back, "[blocked: futex]")->kind, FRAME_WAIT);
	node = find(&back, "a/b/C.run");
	assert_int_equal(node->kind, FRAME_INLINED);
	assert_string_equal(node->file, "a/b/C.java");
	assert_int_equal(node->line, 42);
	assert_null(node->module);
	node = find(&back, "JVM_Sleep");
	assert_int_equal(node->kind, FRAME_JVM);
	assert_string_equal(node->module, "libjvm.so");
	assert_int_equal(find(&back, "[unknown: gone]")->kind, FRAME_UNKNOWN);
	profile_fini(&profile);
	profile_fini(&back);
}

/* One function of two builds of a library, by ways of their own. */
static void add_builds(struct profile *profile)
{
	struct frame frames[] = {
		{.name = "f", .module = "libx.so", .kind = FRAME_NATIVE, .build_id = BUILD},
		F("a", NATIVE),
	};

	assert_int_equal(profile_init(profile, 0), 0);
	assert_int_equal(profile_add(profile, frames, 2, 1), 0);
	frames[0].build_id = "c0ffee";
	frames[1].name = "b";
	assert_int_equal(profile_add(profile, frames, 2, 2), 0);
}

static void pprof_keeps_builds_apart(void **state)
{
	struct profile profile, back;

	add_builds(&profile);
	read_back(&profile, NULL, &back);
	for (uint32_t id = 1; id < back.count; id++) {
		const struct profile_node *const node = &back.nodes[id];

		if (strcmp(node->name, "f") != 0)
			continue;
		assert_string_equal(node->module, "libx.so");
		assert_string_equal(profile_build_id(node->module),
				    node->total == 1 ? BUILD : "c0ffee");
	}
	assert_null(profile_build_id(find(&back, "a")->module));
	profile_fini(&profile);
	profile_fini(&back);
}

static void samples_at_two_lines_have_none(void **state)
{
	struct frame frame = {.name = "m", .file = "M.java", .line = 3, .kind = FRAME_JIT};
	struct profile profile;

	assert_int_equal(profile_init(&profile, 0), 0);
	assert_int_equal(profile_add(&profile, &frame, 1, 1), 0);
	assert_int_equal(profile.nodes[1].line, 3);
	frame.line = 4;
	assert_int_equal(profile_add(&profile, &frame, 1, 1), 0);
	assert_int_equal(profile.nodes[1].line, 0);
	frame.line = 3;
	assert_int_equal(profile_add(&profile, &frame, 1, 1), 0);
	assert_int_equal(profile.nodes[1].line, 0);
	assert_string_equal(profile.nodes[1].file, "M.java");
	profile_fini(&profile);
}

static const char *text_at(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static json_int_t sum_of(const json_t *array)
{
	const json_t *item;
	json_int_t sum = 0;
	size_t i;

	json_array_foreach (array, i, item)
		sum += json_integer_value(item);
	return sum;
}

/* The names of sample i, root first. */
static void check_speedscope_stack(const json_t *root, size_t i, const char *expected)
{
	const json_t *const frames = json_object_get(json_object_get(root, "shared"), "frames");
	const json_t *const profile = json_array_get(json_object_get(root, "profiles"), 0);
	const json_t *const stack = json_array_get(json_object_get(profile, "samples"), i);
	const json_t *number;
	char path[256] = "";
	size_t at;

	json_array_foreach (stack, at, number) {
		const json_t *const frame =
			json_array_get(frames, (size_t)json_integer_value(number));

		assert_non_null(frame);
		if (at)
			strcat(path, ";");
		strcat(path, text_at(frame, "name"));
	}
	assert_string_equal(path, expected);
}

static void speedscope_has_stacks_and_weights(void **state)
{
	struct profile profile;
	const json_t *first;
	json_t *root;

	fill(&profile);
	root = json_of(&profile, RENDER_SPEEDSCOPE, NULL);
	first = json_array_get(json_object_get(root, "profiles"), 0);
	assert_string_equal(text_at(first, "type"), "sampled");
	assert_string_equal(text_at(first, "unit"), "none");
	assert_int_equal(json_integer_value(json_object_get(first, "endValue")), 21);
	assert_int_equal(json_array_size(json_object_get(first, "samples")), 6);
	assert_int_equal(sum_of(json_object_get(first, "weights")), 21);
	check_speedscope_stack(root, 0, "[no frames]");
	check_speedscope_stack(root, 1, "app;a/B.c_[j]");
	check_speedscope_stack(root, 2, "app;a/B.c_[j];a/B.d_[i]");
	json_decref(root);
	root = json_of(&profile, RENDER_SPEEDSCOPE, &timed);
	first = json_array_get(json_object_get(root, "profiles"), 0);
	assert_string_equal(text_at(first, "name"), "a \"title\"");
	assert_string_equal(text_at(first, "unit"), "nanoseconds");
	assert_int_equal(sum_of(json_object_get(first, "weights")), 210000000);
	json_decref(root);
	profile_fini(&profile);
}

static size_t column_size(const json_t *table, const char *column)
{
	return json_array_size(json_object_get(table, column));
}

static size_t length_of(const json_t *table)
{
	return (size_t)json_integer_value(json_object_get(table, "length"));
}

/* Every array of the table has its length. */
static void check_table(const json_t *shared, const char *name)
{
	const json_t *const table = json_object_get(shared, name);
	const char *key;
	json_t *column;

	assert_non_null(table);
	json_object_foreach ((json_t *)(uintptr_t)table, key, column) {
		if (strcmp(key, "length") != 0)
			assert_int_equal(json_array_size(column), length_of(table));
	}
}

static json_int_t cell(const json_t *table, const char *column, json_int_t row)
{
	const json_t *const value = json_array_get(json_object_get(table, column), (size_t)row);

	assert_true(json_is_integer(value));
	return json_integer_value(value);
}

static void firefox_knows_libraries_by_build(void **state)
{
	const json_t *libs, *resources, *shared;
	struct profile profile;
	json_t *root;

	add_builds(&profile);
	assert_int_equal(
		profile_add(&profile,
			    &(struct frame){.name = "g", .module = "liby.so", .kind = FRAME_NATIVE},
			    1, 1),
		0);
	root = json_of(&profile, RENDER_FIREFOX, NULL);
	libs = json_object_get(root, "libs");
	assert_int_equal(json_array_size(libs), 2);
	assert_string_equal(text_at(json_array_get(libs, 0), "debugName"), "libx.so");
	assert_string_equal(text_at(json_array_get(libs, 0), "codeId"), BUILD);
	assert_string_equal(text_at(json_array_get(libs, 0), "breakpadId"), "0302010005040706"
									    "08090A0B0C0D0E0F"
									    "0");
	assert_string_equal(text_at(json_array_get(libs, 1), "breakpadId"),
			    "00EEFFC0000000000000000000000000"
			    "0");
	shared = json_object_get(root, "shared");
	check_table(shared, "resourceTable");
	resources = json_object_get(shared, "resourceTable");
	assert_int_equal(cell(resources, "lib", 0), 0);
	assert_int_equal(cell(resources, "lib", 1), 1);
	assert_true(json_is_null(json_array_get(json_object_get(resources, "lib"), 2)));
	json_decref(root);
	profile_fini(&profile);
}

static void check_firefox_name(const json_t *shared, json_int_t stack, const char *expected)
{
	const json_t *const funcs = json_object_get(shared, "funcTable");
	const json_int_t frame = cell(json_object_get(shared, "stackTable"), "frame", stack);
	const json_int_t func = cell(json_object_get(shared, "frameTable"), "func", frame);
	const json_t *const name = json_array_get(json_object_get(shared, "stringArray"),
						  (size_t)cell(funcs, "name", func));

	assert_string_equal(json_string_value(name), expected);
}

static void speedscope_weights_do_not_wrap_around(void **state)
{
	const struct note note = {{F("a", NATIVE)}, UINT64_MAX / 2};
	struct profile profile;
	char *text;

	assert_int_equal(profile_init(&profile, 0), 0);
	add_note(&profile, &note);
	text = written(&profile, RENDER_SPEEDSCOPE, &timed);
	assert_non_null(strstr(text, "\"endValue\":18446744073709551615"));
	assert_non_null(strstr(text, "\"weights\":[18446744073709551615]"));
	free(text);
	profile_fini(&profile);
}

static void firefox_tables_fit_together(void **state)
{
	static const char *const tables[] = {"stackTable",    "frameTable",    "funcTable",
					     "resourceTable", "nativeSymbols", "sources"};
	const json_t *shared, *samples;
	struct profile profile;
	json_t *root;

	fill(&profile);
	root = json_of(&profile, RENDER_FIREFOX, &timed);
	shared = json_object_get(root, "shared");
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		check_table(shared, tables[i]);
	samples = json_object_get(json_array_get(json_object_get(root, "threads"), 0), "samples");
	assert_int_equal(length_of(samples), 6);
	assert_int_equal(column_size(samples, "stack"), 6);
	assert_int_equal(column_size(samples, "time"), 6);
	assert_int_equal(sum_of(json_object_get(samples, "weight")), 21);
	check_firefox_name(shared, 0, "[no frames]");
	check_firefox_name(shared, cell(samples, "stack", 2), "a/B.d");
	check_firefox_name(
		shared,
		cell(json_object_get(shared, "stackTable"), "prefix", cell(samples, "stack", 2)),
		"a/B.c");
	json_decref(root);
	profile_fini(&profile);
}

static void perf_text_is_a_block_a_stack(void **state)
{
	static const struct note notes[] = {
		{{F("my app", LABEL), F("a/B.c", JIT), F("a/B.d", INLINED)}, 3},
		{{F("read", NATIVE), F("sys_read", KERNEL), F("[blocked: read]", WAIT)}, 5},
		{{F("my app", LABEL), F("a/B.c", JIT), F("byte[]", CLASS)}, 7},
	};
	struct profile profile;
	char *text;

	assert_int_equal(profile_init(&profile, 0), 0);
	add_note(&profile, &notes[0]);
	add_note(&profile, &notes[1]);
	add_note(&profile, &notes[2]);
	text = written(&profile, RENDER_PERF_TEXT, NULL);
	assert_string_equal(text, "my_app 0/0 [000] 0.000000: 3 cpu-clock:\n"
				  "\t               0 a/B.d (inlined)\n"
				  "\t               0 a/B.c (/tmp/perf-0.map)\n"
				  "\n"
				  "all 0/0 [000] 0.000000: 5 cpu-clock:\n"
				  "\t               0 [blocked: read] ([waiting])\n"
				  "\t               0 sys_read ([kernel.kallsyms])\n"
				  "\t               0 read ([unknown])\n"
				  "\n"
				  "my_app 0/0 [000] 0.000000: 7 cpu-clock:\n"
				  "\t               0 byte[] ([class])\n"
				  "\t               0 a/B.c (/tmp/perf-0.map)\n"
				  "\n");
	free(text);
	profile_fini(&profile);
}

static void no_name_breaks_json(void **state)
{
	struct profile profile;
	const json_t *shared;
	json_t *root;

	fill_hostile(&profile);
	root = json_of(&profile, RENDER_SPEEDSCOPE, NULL);
	shared = json_object_get(root, "shared");
	assert_string_equal(text_at(json_array_get(json_object_get(shared, "frames"), 1), "name"),
			    HOSTILE_CLEAN);
	json_decref(root);
	root = json_of(&profile, RENDER_FIREFOX, NULL);
	check_firefox_name(json_object_get(root, "shared"), 1, HOSTILE_CLEAN);
	json_decref(root);
	profile_fini(&profile);
}

static void no_name_breaks_pprof_or_a_line(void **state)
{
	struct profile profile, back;
	char *text;

	fill_hostile(&profile);
	read_back(&profile, NULL, &back);
	assert_string_equal(back.nodes[1].name, HOSTILE_CLEAN);
	text = written(&profile, RENDER_PERF_TEXT, NULL);
	assert_null(strchr(text, '\x1b'));
	assert_null(strchr(text, '\xff'));
	assert_string_equal(strstr(text, "\t"), "\t               0 <b>\"\\???[31m?\?</script>' "
						"(<b>\"\\???[31m?\?</script>')\n\n");
	free(text);
	profile_fini(&profile);
	profile_fini(&back);
}

static void empty_profile_is_a_whole_file(void **state)
{
	struct profile profile, back;
	struct import_target target = {.profile = &back};
	size_t len;
	char *data;

	assert_int_equal(profile_init(&profile, 0), 0);
	assert_int_equal(profile_init(&back, 0), 0);
	json_decref(json_of(&profile, RENDER_SPEEDSCOPE, NULL));
	json_decref(json_of(&profile, RENDER_FIREFOX, NULL));
	data = rendered(&profile, RENDER_PPROF, NULL, &len);
	assert_int_equal(import_pprof(data, len, &target), 0);
	assert_int_equal(target.report.stacks, 0);
	free(data);
	profile_fini(&profile);
	profile_fini(&back);
}

static void deep_stack_is_written_whole(void **state)
{
	struct profile profile, back;

	assert_int_equal(profile_init(&profile, 0), 0);
	add_deep(&profile, 100000);
	read_back(&profile, NULL, &back);
	assert_int_equal(back.count, profile.count);
	json_decref(json_of(&profile, RENDER_SPEEDSCOPE, NULL));
	json_decref(json_of(&profile, RENDER_FIREFOX, NULL));
	profile_fini(&profile);
	profile_fini(&back);
}

static void full_disk_is_an_error(void **state)
{
	static const enum render_format formats[] = {RENDER_PPROF, RENDER_SPEEDSCOPE,
						     RENDER_FIREFOX, RENDER_PERF_TEXT};
	struct profile profile;

	fill(&profile);
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
		check_full_disk(&profile, formats[i]);
	profile_fini(&profile);
}

static void suffix_chooses_the_format(void **state)
{
	enum render_format format;

	assert_int_equal(render_format_of("x.pb.gz", &format), 0);
	assert_int_equal(format, RENDER_PPROF);
	assert_int_equal(render_format_of("x.speedscope.json", &format), 0);
	assert_int_equal(format, RENDER_SPEEDSCOPE);
	assert_int_equal(render_format_of("x.firefox.json", &format), 0);
	assert_int_equal(format, RENDER_FIREFOX);
	assert_int_equal(render_format_of("x.perf.txt", &format), 0);
	assert_int_equal(format, RENDER_PERF_TEXT);
	assert_int_equal(render_format_of("x.json", &format), -EINVAL);
	assert_non_null(strstr(render_suffixes(), ".speedscope.json"));
}

/*
 * Node 1 is app, node 2 a/B.c called by it. Thread "w" is in 2 at a 64th of a second and in 1 at
 * two of them, "main" in 1 at the start. Of node 1's six samples the timeline has left one out.
 */
static void fill_timed(struct profile *profile, struct timeline *timeline)
{
	static const struct note notes[] = {
		{{F("app", LABEL), F("a/B.c", JIT)}, 3},
	};
	const struct timeline_process process = {
		.pid = 4711, .title = "app", .container = "c0ffee", .pod = "a pod"};
	const uint32_t number = (timeline_init(timeline, 0), timeline_process(timeline, &process));
	const struct timeline_thread worker = {.process = number, .tid = 4713, .name = "w"};
	const struct timeline_thread first = {.process = number, .tid = 4711, .name = "main"};
	const uint32_t w = timeline_thread(timeline, &worker);
	const uint32_t m = timeline_thread(timeline, &first);

	assert_int_equal(profile_init(profile, 0), 0);
	add_note(profile, &notes[0]);
	assert_int_equal(profile_add(profile, &(struct frame)F("app", LABEL), 1, 6), 0);
	timeline_add(timeline, 2 * TIMELINE_BUCKET_NS,
		     &(struct timeline_entry){.thread = w, .node = 1, .weight = 1});
	timeline_add(timeline, TIMELINE_BUCKET_NS,
		     &(struct timeline_entry){.thread = w, .node = 2, .weight = 3});
	timeline_add(timeline, 0, &(struct timeline_entry){.thread = m, .node = 1, .weight = 4});
	timeline_sort(timeline);
}

static void firefox_shows_threads_in_the_order_of_time(void **state)
{
	const json_t *threads, *samples;
	struct timeline timeline;
	struct profile profile;
	json_t *root;

	fill_timed(&profile, &timeline);
	root = json_of(&profile, RENDER_FIREFOX,
		       &(struct render_options){.info = &info, .timeline = &timeline});
	threads = json_object_get(root, "threads");
	assert_int_equal(json_array_size(threads), 3);
	assert_string_equal(text_at(json_array_get(threads, 0), "name"), "w");
	assert_string_equal(text_at(json_array_get(threads, 0), "pid"), "4711");
	assert_string_equal(text_at(json_array_get(threads, 0), "processName"), "a pod: app");
	assert_true(json_is_true(json_object_get(json_array_get(threads, 1), "isMainThread")));
	samples = json_object_get(json_array_get(threads, 0), "samples");
	assert_int_equal(cell(samples, "stack", 0), 2);
	assert_int_equal(cell(samples, "weight", 0), 3);
	assert_int_equal(cell(samples, "stack", 1), 1);
	assert_true(json_real_value(json_array_get(json_object_get(samples, "time"), 1)) == 31.25);
	samples = json_object_get(json_array_get(threads, 2), "samples");
	assert_int_equal(sum_of(json_object_get(samples, "weight")), 1);
	json_decref(root);
	timeline_fini(&timeline);
	profile_fini(&profile);
}

/* A kernel function, called by a method at a line, into which another was inlined. */
static void fill_placed(struct profile *profile)
{
	const struct frame frames[] = {
		{.name = "sys_read", .module = "[kernel]", .kind = FRAME_KERNEL},
		{.name = "a/b/C.in", .file = "C.java", .line = 42, .kind = FRAME_INLINED},
		{.name = "a/b/C.main", .file = "C.java", .line = 7, .kind = FRAME_JIT},
	};

	assert_int_equal(profile_init(profile, 0), 0);
	assert_int_equal(profile_add(profile, frames, 3, 2), 0);
	assert_int_equal(profile_add(profile, frames + 1, 2, 3), 0);
}

static const char *category_of(const json_t *root, json_int_t frame)
{
	const json_t *const table = json_object_get(json_object_get(root, "shared"), "frameTable");
	const json_t *const categories =
		json_object_get(json_object_get(root, "meta"), "categories");

	return text_at(json_array_get(categories, (size_t)cell(table, "category", frame)), "name");
}

/* Of a frame's function. */
static const char *source_of(const json_t *shared, json_int_t frame)
{
	const json_t *const sources = json_object_get(shared, "sources");
	const json_int_t func = cell(json_object_get(shared, "frameTable"), "func", frame);
	const json_int_t source = cell(json_object_get(shared, "funcTable"), "source", func);

	return json_string_value(json_array_get(json_object_get(shared, "stringArray"),
						(size_t)cell(sources, "filename", source)));
}

static void firefox_frames_have_places_and_categories(void **state)
{
	struct profile profile;
	const json_t *shared, *table;
	json_t *root;

	fill_placed(&profile);
	root = json_of(&profile, RENDER_FIREFOX, NULL);
	shared = json_object_get(root, "shared");
	table = json_object_get(shared, "frameTable");
	assert_int_equal(cell(table, "line", 1), 7);
	assert_int_equal(cell(table, "line", 2), 42);
	assert_true(json_is_null(json_array_get(json_object_get(table, "line"), 3)));
	assert_int_equal(cell(table, "inlineDepth", 1), 0);
	assert_int_equal(cell(table, "inlineDepth", 2), 1);
	assert_string_equal(category_of(root, 1), kind_title(KIND_JIT));
	assert_string_equal(category_of(root, 2), kind_title(KIND_INLINED));
	assert_string_equal(category_of(root, 3), kind_title(KIND_KERNEL));
	assert_string_equal(source_of(shared, 2), "a/b/C.java");
	json_decref(root);
	profile_fini(&profile);
}

/* Where no times are known, stacks last as long as their samples, side by side. */
static void firefox_says_when_and_how_long(void **state)
{
	const json_t *meta, *samples, *time;
	struct profile profile;
	json_t *root;

	fill_placed(&profile);
	root = json_of(&profile, RENDER_FIREFOX, &timed);
	meta = json_object_get(root, "meta");
	assert_true(json_real_value(json_object_get(meta, "interval")) == 10);
	assert_true(json_real_value(json_object_get(meta, "startTime")) == 1700000000123.457);
	assert_string_equal(text_at(meta, "product"), "a \"title\"");
	samples = json_object_get(json_array_get(json_object_get(root, "threads"), 0), "samples");
	time = json_object_get(samples, "time");
	assert_true(json_real_value(json_array_get(time, 0)) == 0);
	assert_true(json_real_value(json_array_get(time, 1)) ==
		    10.0 * (double)cell(samples, "weight", 0));
	json_decref(root);
	profile_fini(&profile);
}

static void speedscope_frames_have_places(void **state)
{
	struct profile profile;
	const json_t *frames;
	json_t *root;

	fill_placed(&profile);
	root = json_of(&profile, RENDER_SPEEDSCOPE, NULL);
	frames = json_object_get(json_object_get(root, "shared"), "frames");
	assert_string_equal(text_at(json_array_get(frames, 2), "file"), "a/b/C.java");
	assert_int_equal(json_integer_value(json_object_get(json_array_get(frames, 2), "line")),
			 42);
	assert_string_equal(text_at(json_array_get(frames, 3), "file"), "[kernel]");
	assert_null(json_object_get(json_array_get(frames, 3), "line"));
	json_decref(root);
	profile_fini(&profile);
}

static void speedscope_has_a_profile_a_thread(void **state)
{
	struct timeline timeline;
	struct profile profile;
	const json_t *profiles;
	json_t *root;

	fill_timed(&profile, &timeline);
	root = json_of(&profile, RENDER_SPEEDSCOPE,
		       &(struct render_options){.timeline = &timeline});
	profiles = json_object_get(root, "profiles");
	assert_int_equal(json_array_size(profiles), 3);
	assert_string_equal(text_at(json_array_get(profiles, 0), "name"), "a pod: app: w (4713)");
	check_speedscope_stack(root, 0, "app;a/B.c_[j]");
	check_speedscope_stack(root, 1, "app");
	assert_int_equal(sum_of(json_object_get(json_array_get(profiles, 0), "weights")), 4);
	assert_int_equal(sum_of(json_object_get(json_array_get(profiles, 1), "weights")), 4);
	assert_int_equal(sum_of(json_object_get(json_array_get(profiles, 2), "weights")), 1);
	json_decref(root);
	timeline_fini(&timeline);
	profile_fini(&profile);
}

/* fill_timed's, once as samples and once as microseconds of wall-clock time. */
struct two_kinds {
	struct profile cpu, wall;
	struct timeline cpu_times, wall_times;
	struct profile_part other;
	struct render_options options;
};

static void two_kinds_init(struct two_kinds *two)
{
	fill_timed(&two->cpu, &two->cpu_times);
	fill_timed(&two->wall, &two->wall_times);
	assert_int_equal(profile_add(&two->wall, &(struct frame)F("parks", NATIVE), 1, 5000), 0);
	two->other = (struct profile_part){&profile_kind_wall, &two->wall, &two->wall_times, NULL};
	two->options = (struct render_options){
		.timeline = &two->cpu_times, .info = &info, .others = &two->other, .n_others = 1};
}

static void two_kinds_fini(struct two_kinds *two)
{
	timeline_fini(&two->cpu_times);
	timeline_fini(&two->wall_times);
	profile_fini(&two->cpu);
	profile_fini(&two->wall);
}

static void speedscope_has_profiles_of_each_kind(void **state)
{
	static const struct {
		const char *name, *unit;
		json_int_t sum;
	} expected[] = {
		{"cpu | a pod: app: w (4713)", "nanoseconds", 40000000},
		{"cpu | a pod: app: main (4711)", "nanoseconds", 40000000},
		{"cpu | samples without a time", "nanoseconds", 10000000},
		{"wall | a pod: app: w (4713)", "microseconds", 4},
		{"wall | a pod: app: main (4711)", "microseconds", 4},
		{"wall | samples without a time", "microseconds", 5001},
	};
	const json_t *profiles;
	struct two_kinds two;
	json_t *root;

	two_kinds_init(&two);
	root = json_of(&two.cpu, RENDER_SPEEDSCOPE, &two.options);
	profiles = json_object_get(root, "profiles");
	assert_int_equal(json_array_size(profiles), 6);
	for (size_t i = 0; i < 6; i++) {
		const json_t *const one = json_array_get(profiles, i);

		assert_string_equal(text_at(one, "name"), expected[i].name);
		assert_string_equal(text_at(one, "unit"), expected[i].unit);
		assert_int_equal(sum_of(json_object_get(one, "weights")), expected[i].sum);
	}
	/* What both kinds have is there once. */
	assert_int_equal(
		json_array_size(json_object_get(json_object_get(root, "shared"), "frames")), 4);
	json_decref(root);
	two_kinds_fini(&two);
}

static void firefox_has_tracks_of_each_kind(void **state)
{
	static const char *const tables[] = {"stackTable", "frameTable", "funcTable"};
	const json_t *threads, *shared, *samples;
	struct two_kinds two;
	json_t *root;

	two_kinds_init(&two);
	root = json_of(&two.cpu, RENDER_FIREFOX, &two.options);
	shared = json_object_get(root, "shared");
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		check_table(shared, tables[i]);
	threads = json_object_get(root, "threads");
	assert_int_equal(json_array_size(threads), 6);
	assert_string_equal(text_at(json_array_get(threads, 0), "name"), "w (cpu)");
	assert_string_equal(text_at(json_array_get(threads, 3), "name"), "w (wall)");
	assert_true(json_is_true(json_object_get(json_array_get(threads, 1), "isMainThread")));
	assert_true(json_is_false(json_object_get(json_array_get(threads, 4), "isMainThread")));
	samples = json_object_get(json_array_get(threads, 0), "samples");
	assert_string_equal(text_at(samples, "weightType"), "samples");
	samples = json_object_get(json_array_get(threads, 5), "samples");
	assert_string_equal(text_at(samples, "weightType"), "tracing-ms");
	assert_true(json_real_value(json_array_get(json_object_get(samples, "weight"), 1)) == 5);
	check_firefox_name(shared, cell(samples, "stack", 1), "parks");
	assert_int_equal(column_size(json_object_get(shared, "funcTable"), "name"), 4);
	json_decref(root);
	two_kinds_fini(&two);
}

static void viewers_are_told_the_unit_of_a_time_alone(void **state)
{
	struct render_options options = {.kind = &profile_kind_wall,
					 .info = &(struct profile_info){.hz = 20}};
	const json_t *first;
	struct profile profile;
	json_t *root;

	fill(&profile);
	root = json_of(&profile, RENDER_SPEEDSCOPE, &options);
	first = json_array_get(json_object_get(root, "profiles"), 0);
	assert_string_equal(text_at(first, "unit"), "microseconds");
	assert_string_equal(text_at(first, "name"), "fgcollect");
	assert_int_equal(sum_of(json_object_get(first, "weights")), 21);
	json_decref(root);
	root = json_of(&profile, RENDER_FIREFOX, &options);
	assert_true(json_real_value(json_object_get(json_object_get(root, "meta"), "interval")) ==
		    50);
	first = json_array_get(json_object_get(root, "threads"), 0);
	assert_string_equal(text_at(first, "name"), "all");
	assert_string_equal(text_at(json_object_get(first, "samples"), "weightType"), "tracing-ms");
	json_decref(root);
	profile_fini(&profile);
}

static void viewers_are_told_of_bytes(void **state)
{
	struct render_options options = {.kind = &profile_kind_alloc,
					 .info = &(struct profile_info){.duration_ns = 7000000}};
	const json_t *first, *times;
	struct profile profile;
	json_t *root;

	fill(&profile);
	root = json_of(&profile, RENDER_SPEEDSCOPE, &options);
	first = json_array_get(json_object_get(root, "profiles"), 0);
	assert_string_equal(text_at(first, "unit"), "bytes");
	assert_int_equal(sum_of(json_object_get(first, "weights")), 21);
	json_decref(root);
	root = json_of(&profile, RENDER_FIREFOX, &options);
	first = json_object_get(json_array_get(json_object_get(root, "threads"), 0), "samples");
	assert_string_equal(text_at(first, "weightType"), "bytes");
	assert_int_equal(sum_of(json_object_get(first, "weight")), 21);
	times = json_object_get(first, "time"); /* 21 bytes are the recording's 7 ms */
	assert_true(json_real_value(json_array_get(times, json_array_size(times) - 1)) < 7);
	assert_true(json_real_value(json_object_get(json_object_get(root, "meta"), "interval")) ==
		    1);
	json_decref(root);
	options.kind = &profile_kind_objects;
	root = json_of(&profile, RENDER_SPEEDSCOPE, &options);
	first = json_array_get(json_object_get(root, "profiles"), 0);
	assert_string_equal(text_at(first, "unit"), "none");
	json_decref(root);
	profile_fini(&profile);
}

static void check_event(const struct profile_kind *kind, const char *expected)
{
	struct profile profile;
	char *text;

	assert_int_equal(profile_init(&profile, 0), 0);
	assert_int_equal(profile_add(&profile, NULL, 0, 7), 0);
	text = written(&profile, RENDER_PERF_TEXT, &(struct render_options){.kind = kind});
	assert_string_equal(text, expected);
	free(text);
	profile_fini(&profile);
}

static void perf_text_names_the_kind_by_its_event(void **state)
{
	check_event(&profile_kind_cpu, "all 0/0 [000] 0.000000: 7 cpu-clock:\n\n");
	check_event(&profile_kind_wall, "all 0/0 [000] 0.000000: 7000 wall-clock:\n\n");
	check_event(&profile_kind_offcpu, "all 0/0 [000] 0.000000: 7000 offcpu-time:\n\n");
	check_event(&profile_kind_alloc, "all 0/0 [000] 0.000000: 7 alloc:\n\n");
	check_event(&profile_kind_lock, "all 0/0 [000] 0.000000: 7000 lock:\n\n");
	check_event(&profile_kind_exceptions, "all 0/0 [000] 0.000000: 7 exceptions:\n\n");
	check_event(&(struct profile_kind){"in use", "bytes"},
		    "all 0/0 [000] 0.000000: 7 in_use:\n\n");
}

static void perf_text_says_threads_and_times(void **state)
{
	struct timeline timeline;
	struct profile profile;
	char *text;

	fill_timed(&profile, &timeline);
	text = written(&profile, RENDER_PERF_TEXT, &(struct render_options){.timeline = &timeline});
	assert_string_equal(text, "app 0/0 [000] 0.000000: 1 cpu-clock:\n"
				  "\n"
				  "app 4711/4711 [000] 0.000000: 4 cpu-clock:\n"
				  "\n"
				  "app 4711/4713 [000] 0.015625: 3 cpu-clock:\n"
				  "\t               0 a/B.c (/tmp/perf-0.map)\n"
				  "\n"
				  "app 4711/4713 [000] 0.031250: 1 cpu-clock:\n"
				  "\n");
	free(text);
	timeline_fini(&timeline);
	profile_fini(&profile);
}

static void pprof_with_threads_adds_up_to_the_profile(void **state)
{
	struct profile profile, back;
	struct timeline timeline;

	fill_timed(&profile, &timeline);
	read_back(&profile, &(struct render_options){.timeline = &timeline}, &back);
	assert_int_equal(back.nodes[0].total, 9);
	assert_int_equal(find(&back, "app")->self, 6);
	assert_int_equal(find(&back, "a/B.c")->self, 3);
	timeline_fini(&timeline);
	profile_fini(&profile);
	profile_fini(&back);
}

/* Equal entries of a thread are one, unless that would be too much for it. */
static void pprof_joins_no_more_than_fits(void **state)
{
	struct profile profile, back;
	struct timeline timeline;

	fill_timed(&profile, &timeline);
	assert_int_equal(
		profile_add(&profile, &(struct frame)F("app", LABEL), 1, 2 * (uint64_t)UINT32_MAX),
		0);
	for (uint32_t i = 0; i < 2; i++)
		timeline_add(
			&timeline, i * TIMELINE_BUCKET_NS,
			&(struct timeline_entry){.thread = 0, .node = 1, .weight = UINT32_MAX});
	timeline_sort(&timeline);
	read_back(&profile, &(struct render_options){.timeline = &timeline}, &back);
	assert_int_equal(back.nodes[0].total, 9 + 2 * (uint64_t)UINT32_MAX);
	timeline_fini(&timeline);
	profile_fini(&profile);
	profile_fini(&back);
}

/* A timeline is not the profile's own: what it has too much of is not written. */
static void timeline_that_says_too_much_is_cut(void **state)
{
	struct profile profile, back;
	struct timeline timeline;

	fill_timed(&profile, &timeline);
	timeline_add(&timeline, 0, &(struct timeline_entry){.thread = 0, .node = 2, .weight = 1});
	timeline_add(&timeline, 0, &(struct timeline_entry){.thread = 0, .node = 99, .weight = 1});
	timeline_add(&timeline, 0, &(struct timeline_entry){.thread = 9, .node = 1, .weight = 1});
	read_back(&profile, &(struct render_options){.timeline = &timeline}, &back);
	assert_int_equal(back.nodes[0].total, 9);
	timeline_fini(&timeline);
	profile_fini(&profile);
	profile_fini(&back);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pprof_and_back_is_the_same),
		cmocka_unit_test(difference_in_pprof_takes_off_what_was_before),
		cmocka_unit_test(normalised_difference_in_pprof_adds_up_to_nothing),
		cmocka_unit_test(pprof_keeps_kinds_modules_and_lines),
		cmocka_unit_test(pprof_keeps_builds_apart),
		cmocka_unit_test(firefox_knows_libraries_by_build),
		cmocka_unit_test(samples_at_two_lines_have_none),
		cmocka_unit_test(speedscope_has_stacks_and_weights),
		cmocka_unit_test(speedscope_weights_do_not_wrap_around),
		cmocka_unit_test(firefox_tables_fit_together),
		cmocka_unit_test(perf_text_is_a_block_a_stack),
		cmocka_unit_test(firefox_shows_threads_in_the_order_of_time),
		cmocka_unit_test(speedscope_has_a_profile_a_thread),
		cmocka_unit_test(speedscope_has_profiles_of_each_kind),
		cmocka_unit_test(firefox_has_tracks_of_each_kind),
		cmocka_unit_test(viewers_are_told_the_unit_of_a_time_alone),
		cmocka_unit_test(viewers_are_told_of_bytes),
		cmocka_unit_test(perf_text_names_the_kind_by_its_event),
		cmocka_unit_test(perf_text_says_threads_and_times),
		cmocka_unit_test(pprof_with_threads_adds_up_to_the_profile),
		cmocka_unit_test(timeline_that_says_too_much_is_cut),
		cmocka_unit_test(no_name_breaks_json),
		cmocka_unit_test(no_name_breaks_pprof_or_a_line),
		cmocka_unit_test(empty_profile_is_a_whole_file),
		cmocka_unit_test(deep_stack_is_written_whole),
		cmocka_unit_test(full_disk_is_an_error),
		cmocka_unit_test(suffix_chooses_the_format),
		cmocka_unit_test(firefox_frames_have_places_and_categories),
		cmocka_unit_test(firefox_says_when_and_how_long),
		cmocka_unit_test(speedscope_frames_have_places),
		cmocka_unit_test(pprof_joins_no_more_than_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
