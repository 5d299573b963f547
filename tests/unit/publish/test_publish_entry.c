// SPDX-License-Identifier: Apache-2.0
/* Claims about publish/publish_entry.h. */
#include "publish/publish_entry.h"

#include "code/code_name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct code_range hash_code = {
	.addr = UINT64_C(0x7f0000001000),
	.size = 256,
	.kind = CODE_OSR,
	.level = 3,
	.class_name = "java/lang/String",
	.name = "hashCode",
	.signature = "()I",
	.source_file = "String.java",
};

static const uint8_t payload[] = {1, 2, 3, 4, 5};

static struct publish_entry load_of(const struct code_range *range, char *name)
{
	struct publish_entry entry = {
		.pid = 4711,
		.start_ticks = UINT64_C(0x1122334455667788),
		.time_ns = 12345,
		.record = {.kind = WIRE_METHOD_LOAD,
			   .flags = WIRE_FLAG_RESYNC,
			   .payload = payload,
			   .len = sizeof(payload)},
	};

	publish_entry_set_range(&entry, range, name);
	return entry;
}

static void check_text(struct wire_str text, const char *want)
{
	assert_int_equal(text.len, strlen(want));
	assert_memory_equal(text.data, want, text.len);
}

static void what_is_encoded_is_read_again(void **state)
{
	char name[CODE_NAME_MAX_BYTES];
	const struct publish_entry entry = load_of(&hash_code, name);
	struct publish_entry got;
	struct bytes out = {0};
	size_t pos = 0;

	assert_false(publish_entry_encode(&entry, &out));
	assert_false(publish_entry_encode(&entry, &out));
	for (int i = 0; i < 2; i++) {
		assert_int_equal(publish_entry_next(out.data, out.len, &pos, &got), 1);
		assert_int_equal(got.pid, 4711);
		assert_int_equal(got.start_ticks, UINT64_C(0x1122334455667788));
		assert_int_equal(got.time_ns, 12345);
		assert_int_equal(got.addr, hash_code.addr);
		assert_int_equal(got.size, 256);
		assert_int_equal(got.code, PUBLISH_OSR);
		assert_int_equal(got.level, 3);
		assert_int_equal(got.flags, 0);
		check_text(got.texts[PUBLISH_NAME], "Ljava/lang/String;::hashCode");
		check_text(got.texts[PUBLISH_CLASS], "java/lang/String");
		check_text(got.texts[PUBLISH_METHOD], "hashCode");
		check_text(got.texts[PUBLISH_SIGNATURE], "()I");
		check_text(got.texts[PUBLISH_SOURCE], "String.java");
		assert_int_equal(got.record.kind, WIRE_METHOD_LOAD);
		assert_int_equal(got.record.flags, WIRE_FLAG_RESYNC);
		assert_int_equal(got.record.len, sizeof(payload));
		assert_memory_equal(got.record.payload, payload, sizeof(payload));
	}
	assert_int_equal(publish_entry_next(out.data, out.len, &pos, &got), 0);
	bytes_fini(&out);
}

/* The table of docs/publish.md, byte by byte. */
static void bytes_are_those_of_the_documentation(void **state)
{
	static const uint8_t want[] = {
		65,   0,    0,	  0,	0x67, 0x12, 0,	  0,	/* length, PID */
		0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, /* start time */
		0x39, 0x30, 0,	  0,	0,    0,    0,	  0,	/* time */
		0,    0x10, 0,	  0,	0,    0x7f, 0,	  0,	/* address */
		0,    0,    0,	  0,	0,    255,  0,	  0,	/* size, code, level, flags */
		10,   0,    0,	  0,	0,    0,    0,	  0,	/* length of texts, texts */
		0,    0,    0,	  0,	5,    0,    1,	  0,	/* and kind and flags */
		5,    0,    0,	  0,	1,    2,    3,	  4,	5,
	};
	const struct publish_entry entry = {
		.pid = 4711,
		.start_ticks = UINT64_C(0x1122334455667788),
		.time_ns = 12345,
		.addr = hash_code.addr,
		.level = CODE_LEVEL_UNKNOWN,
		.record = {.kind = WIRE_METHOD_UNLOAD, .flags = 1, .payload = payload, .len = 5},
	};
	struct bytes out = {0};

	publish_entry_encode(&entry, &out);
	assert_int_equal(out.len, sizeof(want));
	assert_memory_equal(out.data, want, sizeof(want));
	bytes_fini(&out);
}

static void stub_has_its_name_alone(void **state)
{
	const struct code_range stub = {
		.addr = 4096, .size = 64, .kind = CODE_STUB, .level = 255, .name = "Interpreter"};
	struct publish_entry entry = {0};
	char name[CODE_NAME_MAX_BYTES];

	publish_entry_set_range(&entry, &stub, name);
	assert_int_equal(entry.code, PUBLISH_STUB);
	check_text(entry.texts[PUBLISH_NAME], "Interpreter");
	for (size_t i = PUBLISH_CLASS; i < PUBLISH_TEXTS; i++)
		assert_int_equal(entry.texts[i].len, 0);
}

static void record_that_is_too_long_is_left_out(void **state)
{
	uint8_t *const much = calloc(1, PUBLISH_RECORD_MOST + 1);
	char name[CODE_NAME_MAX_BYTES];
	struct publish_entry entry = load_of(&hash_code, name), got;
	struct bytes out = {0};
	size_t pos = 0;

	entry.record.payload = much;
	entry.record.len = PUBLISH_RECORD_MOST;
	assert_false(publish_entry_encode(&entry, &out));
	out.len = 0;
	entry.record.len++;
	assert_true(publish_entry_encode(&entry, &out));
	assert_int_equal(publish_entry_next(out.data, out.len, &pos, &got), 1);
	assert_int_equal(got.flags, PUBLISH_CUT);
	assert_int_equal(got.record.kind, WIRE_METHOD_LOAD);
	assert_int_equal(got.record.len, 0);
	assert_int_equal(got.addr, hash_code.addr);
	check_text(got.texts[PUBLISH_METHOD], "hashCode");
	bytes_fini(&out);
	free(much);
}

/* Each copy ends where its memory ends, so that a read behind it is seen by ASan. */
static void what_is_cut_short_is_refused(void **state)
{
	char name[CODE_NAME_MAX_BYTES];
	const struct publish_entry entry = load_of(&hash_code, name);
	struct publish_entry got;
	struct bytes out = {0};

	publish_entry_encode(&entry, &out);
	for (size_t len = 1; len < out.len; len++) {
		char *const copy = malloc(len);
		size_t pos = 0;

		memcpy(copy, out.data, len);
		assert_int_equal(publish_entry_next(copy, len, &pos, &got), -EBADMSG);
		free(copy);
	}
	bytes_fini(&out);
}

static void lengths_that_contradict_are_refused(void **state)
{
	static const size_t lengths[] = {0, 40, 42, 72, 90, 100, 105, 122};
	char name[CODE_NAME_MAX_BYTES];
	const struct publish_entry entry = load_of(&hash_code, name);
	struct bytes out = {0};

	publish_entry_encode(&entry, &out);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		char *const copy = malloc(out.len);
		struct publish_entry got;
		size_t pos = 0;

		memcpy(copy, out.data, out.len);
		copy[lengths[i]] ^= 3;
		assert_int_equal(publish_entry_next(copy, out.len, &pos, &got), -EBADMSG);
		free(copy);
	}
	bytes_fini(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_encoded_is_read_again),
		cmocka_unit_test(bytes_are_those_of_the_documentation),
		cmocka_unit_test(stub_has_its_name_alone),
		cmocka_unit_test(record_that_is_too_long_is_left_out),
		cmocka_unit_test(what_is_cut_short_is_refused),
		cmocka_unit_test(lengths_that_contradict_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
