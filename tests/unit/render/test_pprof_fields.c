// SPDX-License-Identifier: Apache-2.0
/*
 * pprof's message field by field, by a reader of protobuf's wire format that knows nothing of ours:
 * what our own importer passes over, other readers show.
 */
#include "profile_of.h"

#include "import/gunzip.h"

#define MAX_TEXTS 64

enum { /* of profile.proto */
       SAMPLE_TYPE = 1,
       SAMPLE = 2,
       MAPPING = 3,
       TEXT = 6,
       TIME_NANOS = 9,
       DURATION_NANOS = 10,
       PERIOD_TYPE = 11,
       PERIOD = 12,
       COMMENT = 13,
       DEFAULT_SAMPLE_TYPE = 14,
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
	assert_int_equal(gunzip_whole(data, len, 1 << 20, &ret->plain, &ret->len), 0);
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

/* "key=text" and "key=number" of all labels, with spaces between. */
static void write_labels(const struct decoded *decoded, const struct field *sample, char ret[512])
{
	struct message message = inside(sample);
	struct field field, part;

	ret[0] = '\0';
	while (next(&message, &field)) {
		uint64_t values[4] = {0};
		struct message label = inside(&field);
		const size_t len = strlen(ret);

		if (field.number != SAMPLE_LABEL)
			continue;
		while (next(&label, &part))
			values[part.number & 3] = part.value;
		if (values[2])
			snprintf(ret + len, 512 - len, "%s%s=%s", len ? " " : "",
				 text(decoded, values[1]), text(decoded, values[2]));
		else
			snprintf(ret + len, 512 - len, "%s%s=%d", len ? " " : "",
				 text(decoded, values[1]), (int)values[3]);
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
	const struct timeline_process process = {
		.pid = 4711, .title = "Shop", .container = "c0ffee", .pod = "shop-0"};
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
	check_labels(&decoded, 0,
		     "thread=worker process=Shop container=c0ffee pod=shop-0 pid=4711 tid=4713");
	check_labels(&decoded, 1, "");
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_say_whose_they_are),
		cmocka_unit_test(mapping_has_the_build_of_its_file),
		cmocka_unit_test(recording_says_when_and_how_often),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
