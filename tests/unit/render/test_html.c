// SPDX-License-Identifier: Apache-2.0
/* The page: the data it carries, its policy, and what names cannot do to it. */
#include "data_of.h"
#include "render/svg_assets.h"

#define DATA "id=\"fg-data\">"

static void draw(struct fixture *fixture, const struct render_options *options)
{
	const bool is_diff = options && options->diff;

	free(fixture->drawn);
	fixture->drawn =
		written(is_diff ? &options->diff->tree : &fixture->profile, RENDER_HTML, options);
}

/* A part as text, terminated in place; data goes on behind it. */
static const char *part(struct data *data, size_t *ret_len)
{
	const size_t len = varint(data);
	static char text[16384];

	assert_true(len < sizeof(text) && data->at + len <= data->len);
	memcpy(text, data->bytes + data->at, len);
	text[len] = '\0';
	data->at += len;
	*ret_len = len;
	return text;
}

static void check_part(struct data *data, const char *expected, size_t expected_len)
{
	size_t len;
	const char *const text = part(data, &len);

	assert_int_equal(len, expected_len);
	assert_memory_equal(text, expected, len);
}

static void policy_allows_nothing_but_the_page_itself(void **state)
{
	struct fixture *const fixture = *state;

	ADD(1, F("a", JIT));
	draw(fixture, NULL);
	HAS("default-src 'none'; base-uri 'none'; form-action 'none'; script-src 'sha256-");
	HAS("; style-src 'sha256-");
	LACKS("unsafe-inline");
	LACKS("https://");
	LACKS("style=\"");
}

static void names_cannot_become_markup(void **state)
{
	struct fixture *const fixture = *state;

	ADD(1, F("</script><i>", JIT));
	draw(fixture, &(struct render_options){.title = "</title><i>&\"\n"});
	LACKS("<i>");
	HAS("<title>&lt;/title&gt;&lt;i&gt;&amp;&quot;");
}

static void facts_are_lines_that_names_cannot_break(void **state)
{
	const struct profile_info info = {
		.host = "h\nlost\t9",
		.hz = 99,
		.quality = {.lost_samples = 3, .truncated_samples = {[1] = 2}},
		.reasons = {[1] = "snapshot ended"},
	};
	struct fixture *const fixture = *state;
	static struct data data;
	const char *text;
	size_t len;

	ADD(1, F("a", JIT));
	draw(fixture, &(struct render_options){.title = "T", .info = &info});
	unpack(fixture->drawn, DATA, &data);
	text = part(&data, &len);
	assert_memory_equal(text, "title\tT\nkind\t# #", 16);
	assert_non_null(strstr(text, "host\th\xef\xbf\xbdlost\xef\xbf\xbd"
				     "9\nhz\t99\ncpu_period_ns\t10101010\nlost\t3\n"
				     "truncated\t2 snapshot ended\n"));
}

static void tree_is_whole_and_nothing_else_is_there_without_times(void **state)
{
	static const uint64_t columns[] = {0, 1, 2, 0, 0, 0, 0, 0, 5};
	struct fixture *const fixture = *state;
	static struct data data;
	size_t len;

	ADD(5, F("a", JIT), F("b", KERNEL));
	draw(fixture, NULL);
	unpack(fixture->drawn, DATA, &data);
	part(&data, &len);
	varint(&data); /* bytes of the tree */
	assert_int_equal(varint(&data), 3);
	len = varint(&data);
	assert_int_equal(varint(&data), 3);
	data.at += len;
	check_varints(&data, columns, 9);
	for (int empty = 0; empty < 5; empty++)
		check_part(&data, "", 0);
	assert_int_equal(data.at, data.len);
}

static void every_fact_is_there(void **state)
{
	const struct profile_info info = {
		.host = "h",
		.kernel = "6.1",
		.event = "cycles",
		.program = "p 1",
		.hz = 99,
		.start_unix_ns = 1700000000123456789,
		.duration_ns = 5,
		.quality = {.unnamed_samples = 1,
			    .unnamed_java_samples = 2,
			    .unrooted_samples = 3,
			    .lost_samples = 4,
			    .stackless_samples = 5,
			    .overflow_samples = 6,
			    .heapless_samples = 9},
	};
	struct fixture *const fixture = *state;
	static struct data data;
	const char *text;
	size_t len;

	ADD(1, F("a", JIT));
	fixture->timeline.lost_samples = 7;
	fixture->timeline.lost_names = 8;
	draw(fixture, &(struct render_options){.subtitle = "S",
					       .notes = "N",
					       .losses = "L",
					       .info = &info,
					       .timeline = &fixture->timeline,
					       .splits_levels = true,
					       .java_only = true,
					       .folds_frameworks = true,
					       .shows_starts = true});
	unpack(fixture->drawn, DATA, &data);
	text = part(&data, &len);
	assert_non_null(strstr(
		text, "\nsubtitle\tS\nnotes\tN\nlosses\tL\nsplit\t1\njava_only\t1\nfolded\t1\n"
		      "starts\t1\nkind\t"));
	assert_non_null(strstr(text, "\nframework\torg/springframework/\tSpring\n"));
	assert_non_null(strstr(text, "\nframework\tjava/ javax/ jdk/ sun/ com/sun/\tJDK\n"
				     "plumbing\tclone __clone start_thread "));
	assert_non_null(strstr(text, "java/lang/reflect/Constructor.newInstance\tmethod handles\n"
				     "task\tCompileBroker::\t[JIT compiler]\n"));
	assert_non_null(strstr(text,
			       "\nbucket_ns\t15625000\nuntimed\t7\nrenamed\t8\nhost\th\n"
			       "kernel\t6.1\nevent\tcycles\nprogram\tp 1\nhz\t99\n"
			       "start_ms\t1700000000123\nduration_ns\t5\ncpu_period_ns\t10101010\n"
			       "unnamed\t1\n"
			       "unnamed_java\t2\nunrooted\t3\nheapless\t9\nlost\t4\nstackless\t5\n"
			       "overflow\t6\n"));
}

static const char *facts_of(struct fixture *fixture, const struct render_options *options)
{
	static struct data data;
	size_t len;

	draw(fixture, options);
	unpack(fixture->drawn, DATA, &data);
	return part(&data, &len);
}

static void facts_say_what_is_shown_of_threads_that_wait(void **state)
{
	struct fixture *const fixture = *state;
	struct render_options options = {
		.waits = {.states = 1u << WAIT_RUNNING | 1u << WAIT_BLOCKED,
			  .idle = WAIT_IDLE_SHOWN,
			  .idle_frames = {"com/acme/*"},
			  .n_idle_frames = 1}};
	const char *text;

	ADD(1, F("a", JIT));
	text = facts_of(fixture, &options);
	assert_non_null(strstr(text, "\nstates\trunning blocked\nidle\t1\n"));
	assert_null(strstr(text, "\nidle_"));
	ADD(1, F("a", JIT), F("[runnable]", WAIT));
	text = facts_of(fixture, &options);
	assert_non_null(strstr(text, "\nstates\trunning blocked\nidle\t1\nidle_frame\t"));
	assert_non_null(strstr(text, "\nidle_frame\tcom/acme/*\nidle_loop\t"));
	assert_non_null(strstr(text, "\nidle_wait\tjava/lang/Object.wait*\n"));
	options.waits = (struct wait_options){0};
	text = facts_of(fixture, &options);
	assert_null(strstr(text, "\nstates"));
	assert_null(strstr(text, "\nidle\t"));
	assert_non_null(strstr(text, "\nidle_frame\t"));
}

static void times_say_when_where_and_which_thread(void **state)
{
	const struct timeline_process process = {.pid = 7,
						 .title = "M\t",
						 .container = "c0",
						 .runtime = "VM",
						 .container_name = "w\n",
						 .pod = "p",
						 .name_space = "s",
						 .image = "i:\t1"};
	struct fixture *const fixture = *state;
	struct timeline *const timeline = &fixture->timeline;
	struct timeline_thread thread = {
		.tid = 8, .name = "exec-7", .labels = "trace\ta\rb\nsize\t16\tbytes\n"};
	static struct data data;
	size_t len;

	ADD(2, F("b", JIT));
	ADD(1, F("a", JIT));
	thread.process = timeline_process(timeline, &process);
	thread.process = timeline_thread(timeline, &thread);
	for (uint32_t i = 0; i < 3; i++) {
		const struct timeline_entry entry = {
			.thread = thread.process, .node = i < 2 ? 1 : 2, .weight = 1};

		timeline_add(timeline, (i / 2) * 3 * TIMELINE_BUCKET_NS, &entry);
	}
	timeline_sort(timeline);
	draw(fixture, &(struct render_options){.timeline = timeline});
	unpack(fixture->drawn, DATA, &data);
	assert_non_null(strstr(part(&data, &len), "bucket_ns\t15625000\n"));
	part(&data, &len);
	check_part(&data, "", 0);
	check_part(&data,
		   "7\tM\xef\xbf\xbd\tc0\tVM\tw\xef\xbf\xbd\tp\ts\ti:\xef\xbf\xbd"
		   "1\n",
		   29);
	check_part(&data, "0\t8\texec-7\texec-*\n", 18);
	/* entries; buckets since the one before; threads; nodes: b stands behind a; weights */
	check_part(&data, "\2\0\3\0\0\2\1\2\1", 9);
	check_part(&data,
		   "trace: a\xef\xbf\xbd"
		   "b\tsize: 16 bytes\n",
		   28);
	assert_int_equal(data.at, data.len);
}

static void stack_that_is_gone_is_in_the_tree(void **state)
{
	const struct frame frames[] = {{.name = "gone", .kind = FRAME_JIT}};
	const struct diff_options raw = {.is_raw = true};
	struct fixture *const fixture = *state;
	struct profile_diff diff;
	struct profile before;
	static struct data data;
	size_t len;

	ADD(5, F("here", JIT));
	assert_int_equal(profile_init(&before, 0), 0);
	assert_int_equal(profile_add(&before, frames, 1, 4), 0);
	assert_int_equal(diff_init(&diff, &before, &fixture->profile, &raw), 0);
	draw(fixture, &(struct render_options){.diff = &diff});
	unpack(fixture->drawn, DATA, &data);
	assert_non_null(strstr(part(&data, &len), "\nwidths\tafter\nraw\t1\n"));
	assert_memory_equal(part(&data, &len) + len - 3, "\0\0\5", 3); /* own samples after */
	check_part(&data, "\0\4\0", 3);
	diff_fini(&diff);
	profile_fini(&before);
}

/* The tree's key lines, and the numbers of its nodes' keys. */
static void check_tree(struct data *data, const char *lines, const unsigned char *numbers)
{
	const size_t end = varint(data) + data->at;
	uint64_t n_keys, n_bytes, n_nodes;

	n_keys = varint(data);
	n_bytes = varint(data);
	n_nodes = varint(data);
	assert_int_equal(n_bytes, strlen(lines));
	assert_memory_equal(data->bytes + data->at, lines, n_bytes);
	for (; n_bytes > 0; n_bytes--)
		n_keys -= data->bytes[data->at++] == '\n';
	assert_int_equal(n_keys, 0);
	for (uint64_t i = 0; i < n_nodes; i++)
		assert_int_equal(varint(data), numbers[i]);
	data->at = end;
}

/* cpu has f, wall has park below it, and offcpu has sleep below that. */
static void kinds_have_data_of_their_own_and_share_keys(void **state)
{
	static const struct profile_info wall_info = {.hz = 20, .duration_ns = 2000000000};
	struct fixture *const fixture = *state;
	struct profile wall, offcpu;
	const struct profile_part others[] = {{&profile_kind_wall, &wall, NULL, &wall_info},
					      {&profile_kind_offcpu, &offcpu, NULL, &wall_info}};
	static struct data data;
	const char *facts;
	size_t len;

	assert_int_equal(profile_init(&wall, 0), 0);
	ADD(1, F("f", JIT));
	assert_int_equal(profile_init(&offcpu, 0), 0);
	add_note(&wall, &(struct note){{F("f", JIT), F("park", JIT)}, 1500000});
	add_note(&offcpu, &(struct note){{F("f", JIT), F("park", JIT), F("sleep", JIT)}, 1});
	draw(fixture, &(struct render_options){.title = "T",
					       .subtitle = "of cpu",
					       .notes = "of cpu too",
					       .others = others,
					       .n_others = 2});
	unpack(fixture->drawn, "id=\"fg-data\" data-kind=\"cpu\">", &data);
	facts = part(&data, &len);
	assert_non_null(strstr(facts, "subtitle\tof cpu\n"));
	assert_null(strstr(facts, "samples_kind"));
	check_tree(&data, "a6all\nd1f\n", (const unsigned char[]){0, 1});
	unpack(fixture->drawn, "<script type=\"application/x-fgcollect\" data-kind=\"wall\">",
	       &data);
	facts = part(&data, &len);
	assert_non_null(strstr(facts, "title\tT\nsubtitle\t1.50 s of wall at 20 Hz in 2.0 s\n"
				      "samples_kind\twall\nunit\tmicroseconds\n"));
	assert_null(strstr(facts, "of cpu too"));
	check_tree(&data, "d1park\n", (const unsigned char[]){0, 1, 2});
	unpack(fixture->drawn, "<script type=\"application/x-fgcollect\" data-kind=\"offcpu\">",
	       &data);
	part(&data, &len);
	check_tree(&data, "d5sleep\n", (const unsigned char[]){0, 1, 2, 3});
	profile_fini(&offcpu);
	profile_fini(&wall);
}

static void facts_have_the_unit_of_the_kind(void **state)
{
	struct fixture *const fixture = *state;
	static struct data data;
	size_t len;

	ADD(1, F("f", JIT), F("byte[]", CLASS));
	draw(fixture, &(struct render_options){.kind = &profile_kind_alloc});
	unpack(fixture->drawn, "id=\"fg-data\">", &data);
	assert_non_null(strstr(part(&data, &len), "samples_kind\talloc\nunit\tbytes\n"));
	draw(fixture, &(struct render_options){.event_unit = "cycles"});
	unpack(fixture->drawn, "id=\"fg-data\">", &data);
	assert_non_null(strstr(part(&data, &len), "unit\tcycles\n"));
	draw(fixture, &(struct render_options){.kind = &profile_kind_objects});
	unpack(fixture->drawn, "id=\"fg-data\">", &data);
	assert_non_null(strstr(part(&data, &len), "samples_kind\tobjects\nunit\tobjects\n"));
}

static void one_kind_alone_has_no_name(void **state)
{
	struct fixture *const fixture = *state;

	ADD(1, F("f", JIT));
	draw(fixture, &(struct render_options){.kind = &profile_kind_wall});
	HAS("<script type=\"application/x-fgcollect\" id=\"fg-data\">");
}

/*
 * A daemon keeps pages of a week, and 1 GiB of them, unless told otherwise. Ten JVMs with a period
 * of ten minutes are 10,080 pages: with 72 KiB of each that are always the same, 30 KiB are left
 * for what a page has to say.
 */
static void what_every_page_has_is_small(void **state)
{
	enum { EMPTY_MAX_BYTES = 72 << 10, TEXT_MAX_BYTES = 20 << 10 };
	struct fixture *const fixture = *state;
	const char *packed;

	draw(fixture, NULL);
	assert_in_range(strlen(fixture->drawn), 1, EMPTY_MAX_BYTES);
	packed = strstr(fixture->drawn, "id=\"fg-script\">");
	assert_non_null(packed);
	assert_in_range(strlen(fixture->drawn) - strcspn(packed, "<"), 1, TEXT_MAX_BYTES);
}

static void the_script_is_the_one_that_the_policy_allows(void **state)
{
	struct fixture *const fixture = *state;
	unsigned char bytes[65536];
	size_t len;
	static unsigned char script[1 << 18];
	uLongf script_len = sizeof(script);

	ADD(1, F("a", JIT));
	draw(fixture, NULL);
	decode_base64(strstr(fixture->drawn, "id=\"fg-script\">") + 15, bytes, &len);
	assert_int_equal(uncompress(script, &script_len, bytes, len), Z_OK);
	assert_int_equal(script_len, strlen(html_app_js));
	assert_memory_equal(script, html_app_js, script_len);
}

static void full_disk_is_an_error(void **state)
{
	struct fixture *const fixture = *state;

	ADD(1, F("a", JIT));
	check_full_disk(&fixture->profile, RENDER_HTML);
}

int main(void)
{
#define test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		test(policy_allows_nothing_but_the_page_itself),
		test(names_cannot_become_markup),
		test(facts_are_lines_that_names_cannot_break),
		test(every_fact_is_there),
		test(tree_is_whole_and_nothing_else_is_there_without_times),
		test(facts_say_what_is_shown_of_threads_that_wait),
		test(times_say_when_where_and_which_thread),
		test(stack_that_is_gone_is_in_the_tree),
		test(kinds_have_data_of_their_own_and_share_keys),
		test(facts_have_the_unit_of_the_kind),
		test(one_kind_alone_has_no_name),
		test(what_every_page_has_is_small),
		test(the_script_is_the_one_that_the_policy_allows),
		test(full_disk_is_an_error),
	};

	return cmocka_run_group_tests_name("html", tests, NULL, NULL);
}
