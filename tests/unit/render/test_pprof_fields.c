// SPDX-License-Identifier: Apache-2.0
/*
 * pprof's message field by field, by a reader of protobuf's wire format that knows nothing of ours:
 * what our own importer passes over, other readers show.
 */
#include "profile_of.h"

#include "import/decompressor.h"

#include <inttypes.h>

#define MAX_TEXTS 64

/* The labels of make's thread. */
#define WORKER                                                                                     \
	"thread=worker process=Shop container=c0ffee pod=shop-0 namespace=shop "                   \
	"image=shop/cart:1.4.2 service_name=cart pid=4711 tid=4713"

enum { /* of profile.proto */
       SAMPLE_TYPE = 1,
       SAMPLE = 2,
       MAPPING = 3,
       LOCATION = 4,
       FUNCTION = 5,
       TEXT = 6,
       TIME_NANOS = 9,
       DURATION_NANOS = 10,
       PERIOD_TYPE = 11,
       PERIOD = 12,
       COMMENT = 13,
       DEFAULT_SAMPLE_TYPE = 14,
       SAMPLE_VALUE = 2,
       SAMPLE_LABEL = 3,
};

/* A field of a message; of bytes, or a number. */
struct field {
	unsigned number;
	uint64_t value; /* or length */
	const unsigned char *bytes;
};

struct message {
	const unsigned char *at, *end;
};

struct decoded {
	unsigned char *plain;
	size_t len;
	char texts[MAX_TEXTS][64];
	size_t n_texts;
};

static uint64_t varint(struct message *message)
{
	uint64_t value = 0;

	for (unsigned shift = 0; message->at < message->end; shift += 7) {
		value |= (uint64_t)(*message->at & 0x7f) << shift;
		if (!(*message->at++ & 0x80))
			break;
	}
	return value;
}

static bool next(struct message *message, struct field *ret)
{
	uint64_t tag;

	if (message->at >= message->end)
		return false;
	tag = varint(message);
	ret->number = (unsigned)(tag >> 3);
	ret->value = varint(message);
	ret->bytes = message->at;
	assert_true((tag & 7) == 0 || (tag & 7) == 2);
	if ((tag & 7) == 2)
		message->at += ret->value;
	assert_true(message->at <= message->end);
	return true;
}

static struct message inside(const struct field *field)
{
	return (struct message){field->bytes, field->bytes + field->value};
}

static void decode(const struct profile *profile, const struct render_options *options,
		   struct decoded *ret)
{
	struct message message;
	struct field field;
	size_t len;
	char *const data = rendered(profile, RENDER_PPROF, options, &len);

	*ret = (struct decoded){.n_texts = 0};
	assert_int_equal(decompressor_gunzip(data, len, 1 << 20, &ret->plain, &ret->len), 0);
	free(data);
	message = (struct message){ret->plain, ret->plain + ret->len};
	while (next(&message, &field)) {
		if (field.number != TEXT)
			continue;
		assert_true(ret->n_texts < MAX_TEXTS);
		snprintf(ret->texts[ret->n_texts++], 64, "%.*s", (int)field.value,
			 (const char *)field.bytes);
	}
}

/* The nth field of that number, from 0. */
static bool find(const struct decoded *decoded, unsigned number, unsigned nth, struct field *ret)
{
	struct message message = {decoded->plain, decoded->plain + decoded->len};

	while (next(&message, ret))
		if (ret->number == number && nth-- == 0)
			return true;
	return false;
}

static const char *text(const struct decoded *decoded, uint64_t number)
{
	assert_true(number < decoded->n_texts);
	return decoded->texts[number];
}

/* "key=text" and "key=number", with its unit, of all labels, with spaces between. */
static void write_labels(const struct decoded *decoded, const struct field *sample, char ret[512])
{
	struct message message = inside(sample);
	struct field field, part;

	ret[0] = '\0';
	while (next(&message, &field)) {
		uint64_t values[5] = {0};
		struct message label = inside(&field);
		const size_t len = strlen(ret);

		if (field.number != SAMPLE_LABEL)
			continue;
		while (next(&label, &part))
			values[part.number < 5 ? part.number : 0] = part.value;
		if (values[2])
			snprintf(ret + len, 512 - len, "%s%s=%s", len ? " " : "",
				 text(decoded, values[1]), text(decoded, values[2]));
		else
			snprintf(ret + len, 512 - len, "%s%s=%d%s", len ? " " : "",
				 text(decoded, values[1]), (int)values[3],
				 text(decoded, values[4]));
	}
}

static void check_labels(const struct decoded *decoded, unsigned nth, const char *expected)
{
	struct field sample;
	char labels[512];

	assert_true(find(decoded, SAMPLE, nth, &sample));
	write_labels(decoded, &sample, labels);
	assert_string_equal(labels, expected);
}

static void check_number(const struct decoded *decoded, unsigned number, uint64_t expected)
{
	struct field field;

	assert_true(find(decoded, number, 0, &field));
	assert_int_equal(field.value, expected);
}

/* "type unit" of a ValueType. */
static void check_type(const struct decoded *decoded, unsigned number, unsigned nth,
		       const char *expected)
{
	struct field field, part;
	struct message type;
	uint64_t values[4] = {0};
	char both[140];

	assert_true(find(decoded, number, nth, &field));
	type = inside(&field);
	while (next(&type, &part))
		values[part.number & 3] = part.value;
	snprintf(both, sizeof(both), "%s %s", text(decoded, values[1]), text(decoded, values[2]));
	assert_string_equal(both, expected);
}

/* f once on a thread of a process in a pod, and once on nobody knows which. */
static void make(struct profile *profile, struct timeline *timeline)
{
	const struct timeline_process process = {.pid = 4711,
						 .title = "Shop",
						 .container = "c0ffee",
						 .pod = "shop-0",
						 .name_space = "shop",
						 .image = "shop/cart:1.4.2",
						 .service = "cart"};
	struct timeline_thread thread = {.tid = 4713, .name = "worker"};
	struct timeline_entry entry = {.weight = 1};
	const struct frame frame = {
		.name = "f", .module = "libx.so", .kind = FRAME_NATIVE, .build_id = "c0ffee01"};

	assert_int_equal(profile_init(profile, 0), 0);
	timeline_init(timeline, 0);
	assert_int_equal(profile_add_leaf(profile, &frame, 1, 2, &entry.node), 0);
	thread.process = timeline_process(timeline, &process);
	entry.thread = timeline_thread(timeline, &thread);
	timeline_add(timeline, 0, &entry);
}

static void samples_say_whose_they_are(void **state)
{
	struct decoded decoded;
	struct timeline timeline;
	struct profile profile;

	make(&profile, &timeline);
	decode(&profile, &(struct render_options){.timeline = &timeline}, &decoded);
	check_labels(&decoded, 0, WORKER);
	check_labels(&decoded, 1, "");
	free(decoded.plain);
	timeline_fini(&timeline);
	profile_fini(&profile);
}

static void labels_of_the_program_are_written_as_they_were(void **state)
{
	static const struct timeline_process not_known = {.title = "[process not known]"};
	struct timeline_thread thread = {.name = "none",
					 .labels = "trace\tabc\nsize\t16\tbytes\nmethod\tGET\n"};
	struct timeline_entry entry = {.weight = 1};
	struct decoded decoded;
	struct timeline timeline;
	struct profile profile;

	make(&profile, &timeline);
	entry.node = timeline.entries[0].node;
	thread.process = timeline_process(&timeline, &not_known);
	entry.thread = timeline_thread(&timeline, &thread);
	timeline_add(&timeline, 0, &entry);
	decode(&profile, &(struct render_options){.timeline = &timeline}, &decoded);
	check_labels(&decoded, 0, WORKER);
	check_labels(&decoded, 1, "trace=abc size=16bytes method=GET");
	free(decoded.plain);
	timeline_fini(&timeline);
	profile_fini(&profile);
}

static void mapping_has_the_build_of_its_file(void **state)
{
	struct decoded decoded;
	struct timeline timeline;
	struct profile profile;
	struct field mapping, part;
	struct message message;
	const char *name = NULL, *build_id = NULL;

	make(&profile, &timeline);
	decode(&profile, NULL, &decoded);
	assert_true(find(&decoded, MAPPING, 0, &mapping));
	message = inside(&mapping);
	while (next(&message, &part)) {
		name = part.number == 5 ? text(&decoded, part.value) : name;
		build_id = part.number == 6 ? text(&decoded, part.value) : build_id;
	}
	assert_string_equal(name, "libx.so");
	assert_string_equal(build_id, "c0ffee01");
	assert_false(find(&decoded, MAPPING, 1, &mapping));
	free(decoded.plain);
	timeline_fini(&timeline);
	profile_fini(&profile);
}

static void recording_says_when_and_how_often(void **state)
{
	static const struct profile_info info = {
		.hz = 100, .start_unix_ns = 1700000000123456789, .duration_ns = 2000000000};
	const struct render_options options = {.info = &info, .notes = "good"};
	struct decoded decoded;
	struct timeline timeline;
	struct profile profile;
	struct field field;

	make(&profile, &timeline);
	decode(&profile, &options, &decoded);
	check_type(&decoded, SAMPLE_TYPE, 0, "samples count");
	check_type(&decoded, SAMPLE_TYPE, 1, "cpu nanoseconds");
	check_type(&decoded, PERIOD_TYPE, 0, "cpu nanoseconds");
	check_number(&decoded, PERIOD, 10000000);
	check_number(&decoded, TIME_NANOS, info.start_unix_ns);
	check_number(&decoded, DURATION_NANOS, info.duration_ns);
	assert_true(find(&decoded, COMMENT, 0, &field));
	assert_string_equal(text(&decoded, field.value), "good");
	assert_true(find(&decoded, DEFAULT_SAMPLE_TYPE, 0, &field));
	assert_string_equal(text(&decoded, field.value), "cpu");
	free(decoded.plain);
	timeline_fini(&timeline);
	profile_fini(&profile);
}

/* The values of the nth sample, with spaces between. */
static void check_values(const struct decoded *decoded, unsigned nth, const char *expected)
{
	char values[256] = "";
	struct field sample, field;
	struct message message;

	assert_true(find(decoded, SAMPLE, nth, &sample));
	message = inside(&sample);
	while (next(&message, &field)) {
		struct message packed = inside(&field);

		while (field.number == SAMPLE_VALUE && packed.at < packed.end) {
			const size_t len = strlen(values);

			snprintf(values + len, sizeof(values) - len, "%s%" PRIu64, len ? " " : "",
				 varint(&packed));
		}
	}
	assert_string_equal(values, expected);
}

static unsigned count_fields(const struct decoded *decoded, unsigned number)
{
	struct field field;
	unsigned n = 0;

	while (find(decoded, number, n, &field))
		n++;
	return n;
}

static const struct profile_info info_100_hz = {.hz = 100};
static const struct profile_info info_20_hz = {.hz = 20};

/* 2 samples of f and 3 ms of wall-clock time of f, each in part on one thread; 4 ms of g. */
struct two_kinds {
	struct profile cpu, wall;
	struct timeline cpu_times, wall_times;
	struct profile_part other;
	struct render_options options;
};

static void make_two_kinds(struct two_kinds *two)
{
	static const struct frame g = {.name = "g", .kind = FRAME_JIT};

	*two = (struct two_kinds){.options = {.info = &info_100_hz}};
	make(&two->cpu, &two->cpu_times);
	make(&two->wall, &two->wall_times);
	assert_int_equal(profile_count(&two->wall, 1, 2998), 0);
	assert_int_equal(profile_add(&two->wall, &g, 1, 4000), 0);
	two->other = (struct profile_part){&profile_kind_wall, &two->wall, &two->wall_times,
					   &info_20_hz};
	two->options.timeline = &two->cpu_times;
	two->options.others = &two->other;
	two->options.n_others = 1;
}

static void two_kinds_fini(struct two_kinds *two)
{
	timeline_fini(&two->cpu_times);
	timeline_fini(&two->wall_times);
	profile_fini(&two->cpu);
	profile_fini(&two->wall);
}

static void stack_of_two_kinds_is_one_sample(void **state)
{
	struct two_kinds two;
	struct decoded decoded;

	make_two_kinds(&two);
	decode(&two.cpu, &two.options, &decoded);
	check_type(&decoded, SAMPLE_TYPE, 0, "samples count");
	check_type(&decoded, SAMPLE_TYPE, 1, "cpu nanoseconds");
	check_type(&decoded, SAMPLE_TYPE, 2, "wall nanoseconds");
	assert_int_equal(count_fields(&decoded, SAMPLE), 3);
	check_values(&decoded, 0, "1 10000000 1000");
	check_values(&decoded, 1, "1 10000000 2999000");
	check_values(&decoded, 2, "0 0 4000000");
	check_labels(&decoded, 0, WORKER);
	check_labels(&decoded, 1, "");
	free(decoded.plain);
	two_kinds_fini(&two);
}

static void what_both_kinds_name_is_written_once(void **state)
{
	struct two_kinds two;
	struct decoded decoded;

	make_two_kinds(&two);
	decode(&two.cpu, &two.options, &decoded);
	assert_int_equal(count_fields(&decoded, FUNCTION), 3); /* f, g, [no frames] */
	assert_int_equal(count_fields(&decoded, LOCATION), 2);
	assert_int_equal(count_fields(&decoded, MAPPING), 2);
	free(decoded.plain);
	two_kinds_fini(&two);
}

static void first_kind_is_the_default(void **state)
{
	struct two_kinds two;
	struct decoded decoded;
	struct field field;

	make_two_kinds(&two);
	decode(&two.cpu, &two.options, &decoded);
	assert_true(find(&decoded, DEFAULT_SAMPLE_TYPE, 0, &field));
	assert_string_equal(text(&decoded, field.value), "cpu");
	check_type(&decoded, PERIOD_TYPE, 0, "cpu nanoseconds");
	check_number(&decoded, PERIOD, 10000000);
	free(decoded.plain);
	two_kinds_fini(&two);
}

static void wall_alone_is_nanoseconds_alone(void **state)
{
	struct two_kinds two;
	struct decoded decoded;
	struct field field;

	make_two_kinds(&two);
	decode(&two.wall, &(struct render_options){.kind = &profile_kind_wall, .info = &info_20_hz},
	       &decoded);
	assert_int_equal(count_fields(&decoded, SAMPLE_TYPE), 1);
	check_type(&decoded, SAMPLE_TYPE, 0, "wall nanoseconds");
	check_values(&decoded, 0, "3000000");
	check_type(&decoded, PERIOD_TYPE, 0, "wall nanoseconds");
	check_number(&decoded, PERIOD, 50000000);
	assert_false(find(&decoded, DEFAULT_SAMPLE_TYPE, 0, &field));
	free(decoded.plain);
	two_kinds_fini(&two);
}

/* Behind samples/count alone wall/nanoseconds would be the time of these samples. */
static void samples_of_no_known_period_are_still_of_processor_time(void **state)
{
	struct two_kinds two;
	struct decoded decoded;

	make_two_kinds(&two);
	two.options.info = NULL;
	decode(&two.cpu, &two.options, &decoded);
	check_type(&decoded, SAMPLE_TYPE, 0, "cpu count");
	check_type(&decoded, SAMPLE_TYPE, 1, "wall nanoseconds");
	check_values(&decoded, 0, "1 1000");
	free(decoded.plain);
	two_kinds_fini(&two);
}

static void kind_of_a_file_keeps_its_name_and_unit(void **state)
{
	static const struct profile_kind kind = {"live_heap", "bytes"};
	struct two_kinds two;
	struct decoded decoded;

	make_two_kinds(&two);
	decode(&two.cpu, &(struct render_options){.kind = &kind}, &decoded);
	assert_int_equal(count_fields(&decoded, SAMPLE_TYPE), 1);
	check_type(&decoded, SAMPLE_TYPE, 0, "live_heap bytes");
	check_values(&decoded, 0, "2");
	free(decoded.plain);
	two_kinds_fini(&two);
}

/* Two of f of each kind, one of them on a thread. */
static void decode_kinds(const struct profile_kind *const *kinds, size_t n, struct decoded *decoded)
{
	struct profile_part others[PROFILE_MAX_KINDS];
	struct timeline times;
	struct profile profile;

	make(&profile, &times);
	for (size_t i = 1; i < n; i++)
		others[i - 1] = (struct profile_part){kinds[i], &profile, &times, NULL};
	decode(&profile,
	       &(struct render_options){
		       .kind = kinds[0], .timeline = &times, .others = others, .n_others = n - 1},
	       decoded);
	timeline_fini(&times);
	profile_fini(&profile);
}

static void check_default(const struct decoded *decoded, const char *expected)
{
	struct field field;

	assert_true(find(decoded, DEFAULT_SAMPLE_TYPE, 0, &field));
	assert_string_equal(text(decoded, field.value), expected);
}

static void allocations_are_as_go_has_them(void **state)
{
	static const struct profile_kind *const kinds[] = {&profile_kind_alloc,
							   &profile_kind_objects};
	struct decoded decoded;

	decode_kinds(kinds, 2, &decoded);
	assert_int_equal(count_fields(&decoded, SAMPLE_TYPE), 2);
	check_type(&decoded, SAMPLE_TYPE, 0, "alloc_objects count");
	check_type(&decoded, SAMPLE_TYPE, 1, "alloc_space bytes");
	check_default(&decoded, "alloc_space");
	assert_int_equal(count_fields(&decoded, SAMPLE), 2);
	check_values(&decoded, 0, "1 1");
	free(decoded.plain);
}

static void living_objects_are_as_go_has_them(void **state)
{
	static const struct profile_kind *const kinds[] = {&profile_kind_live,
							   &profile_kind_live_objects};
	struct decoded decoded;

	decode_kinds(kinds, 2, &decoded);
	check_type(&decoded, SAMPLE_TYPE, 0, "inuse_objects count");
	check_type(&decoded, SAMPLE_TYPE, 1, "inuse_space bytes");
	check_default(&decoded, "inuse_space");
	free(decoded.plain);
}

static void locks_are_as_go_has_them(void **state)
{
	static const struct profile_kind *const kinds[] = {&profile_kind_lock,
							   &profile_kind_contentions};
	struct decoded decoded;

	decode_kinds(kinds, 2, &decoded);
	assert_int_equal(count_fields(&decoded, SAMPLE_TYPE), 2);
	check_type(&decoded, SAMPLE_TYPE, 0, "contentions count");
	check_type(&decoded, SAMPLE_TYPE, 1, "delay nanoseconds");
	check_default(&decoded, "delay");
	check_values(&decoded, 0, "1 1000");
	free(decoded.plain);
}

static void all_kinds_are_in_one_file(void **state)
{
	static const struct profile_kind *const kinds[] = {
		&profile_kind_cpu,	   &profile_kind_wall,	    &profile_kind_offcpu,
		&profile_kind_alloc,	   &profile_kind_objects,   &profile_kind_lock,
		&profile_kind_contentions, &profile_kind_exceptions};
	struct decoded decoded;

	decode_kinds(kinds, PROFILE_MAX_KINDS, &decoded);
	check_type(&decoded, SAMPLE_TYPE, 0, "cpu count");
	check_type(&decoded, SAMPLE_TYPE, 3, "alloc_objects count");
	check_type(&decoded, SAMPLE_TYPE, 4, "alloc_space bytes");
	check_type(&decoded, SAMPLE_TYPE, 5, "contentions count");
	check_type(&decoded, SAMPLE_TYPE, 6, "delay nanoseconds");
	check_type(&decoded, SAMPLE_TYPE, 7, "exceptions count");
	check_default(&decoded, "cpu");
	check_values(&decoded, 0, "1 1000 1000 1 1 1 1000 1");
	free(decoded.plain);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_say_whose_they_are),
		cmocka_unit_test(labels_of_the_program_are_written_as_they_were),
		cmocka_unit_test(mapping_has_the_build_of_its_file),
		cmocka_unit_test(recording_says_when_and_how_often),
		cmocka_unit_test(stack_of_two_kinds_is_one_sample),
		cmocka_unit_test(what_both_kinds_name_is_written_once),
		cmocka_unit_test(first_kind_is_the_default),
		cmocka_unit_test(wall_alone_is_nanoseconds_alone),
		cmocka_unit_test(samples_of_no_known_period_are_still_of_processor_time),
		cmocka_unit_test(kind_of_a_file_keeps_its_name_and_unit),
		cmocka_unit_test(allocations_are_as_go_has_them),
		cmocka_unit_test(living_objects_are_as_go_has_them),
		cmocka_unit_test(locks_are_as_go_has_them),
		cmocka_unit_test(all_kinds_are_in_one_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
