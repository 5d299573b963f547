// SPDX-License-Identifier: Apache-2.0
/* Claims about publish/publish_json.h. */
#include "publish/publish_json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#define TEXT(s)                                                                                    \
	(struct wire_str)                                                                          \
	{                                                                                          \
		.data = (s), .len = sizeof(s) - 1                                                  \
	}

static const struct publish_entry load = {
	.pid = 17,
	.start_ticks = 5,
	.time_ns = 6,
	.addr = UINT64_C(0xffff7f0000001000),
	.size = 256,
	.code = PUBLISH_JAVA,
	.level = 4,
	.texts = {TEXT("LA;::b"), TEXT("A"), TEXT("b"), TEXT("()V"), TEXT("A.java")},
	.record = {.kind = WIRE_METHOD_LOAD},
};

static void check_line(const struct publish_entry *entry, const char *want)
{
	struct bytes out = {0};

	assert_int_equal(publish_json_line(entry, &out), 0);
	assert_string_equal(bytes_text(&out), want);
	bytes_fini(&out);
}

static void load_has_all_that_is_known(void **state)
{
	struct publish_entry again = load;

	check_line(&load,
		   "{\"event\":\"load\",\"pid\":17,\"start_ticks\":5,\"time_ns\":6,"
		   "\"addr\":\"0xffff7f0000001000\",\"size\":256,\"kind\":\"java\",\"level\":4,"
		   "\"name\":\"LA;::b\",\"class\":\"A\",\"method\":\"b\",\"signature\":\"()V\","
		   "\"source\":\"A.java\"}\n");
	again.record.flags = WIRE_FLAG_RESYNC;
	again.level = CODE_LEVEL_UNKNOWN;
	again.code = 77;
	memset(again.texts + 1, 0, 4 * sizeof(*again.texts));
	check_line(&again, "{\"event\":\"load\",\"pid\":17,\"start_ticks\":5,\"time_ns\":6,"
			   "\"addr\":\"0xffff7f0000001000\",\"size\":256,\"kind\":\"unknown\","
			   "\"name\":\"LA;::b\",\"resync\":true}\n");
}

static void stub_is_a_load(void **state)
{
	const struct publish_entry stub = {.addr = 16,
					   .size = 8,
					   .code = PUBLISH_STUB,
					   .level = CODE_LEVEL_UNKNOWN,
					   .texts = {TEXT("Interpreter")},
					   .record = {.kind = WIRE_STUB}};

	check_line(&stub, "{\"event\":\"load\",\"pid\":0,\"start_ticks\":0,\"time_ns\":0,"
			  "\"addr\":\"0x10\",\"size\":8,\"kind\":\"stub\","
			  "\"name\":\"Interpreter\"}\n");
}

static void drop_has_its_address(void **state)
{
	const struct publish_entry drop = {.addr = 16, .record = {.kind = WIRE_METHOD_UNLOAD}};

	check_line(&drop, "{\"event\":\"drop\",\"pid\":0,\"start_ticks\":0,\"time_ns\":0,"
			  "\"addr\":\"0x10\"}\n");
}

static void marks_have_their_epoch(void **state)
{
	uint8_t bytes[64];
	struct wire_buf buf = {.data = bytes, .size = sizeof(bytes)};
	struct publish_entry mark = {0};

	wire_encode_resync(&buf, WIRE_RESYNC_END,
			   &(struct wire_resync){.epoch = 9, .complete = true});
	mark.record = (struct wire_record){
		.kind = WIRE_RESYNC_END, .payload = bytes + 8, .len = (uint32_t)(buf.len - 8)};
	check_line(&mark, "{\"event\":\"end\",\"pid\":0,\"start_ticks\":0,\"time_ns\":0,"
			  "\"epoch\":9,\"complete\":true}\n");
	mark.record.kind = WIRE_RESYNC_BEGIN;
	check_line(&mark, "{\"event\":\"begin\",\"pid\":0,\"start_ticks\":0,\"time_ns\":0,"
			  "\"epoch\":9}\n");
	mark.record.len = 3;
	assert_int_equal(publish_json_line(&mark, &(struct bytes){0}), -EINVAL);
}

static void other_kinds_are_no_events(void **state)
{
	const struct publish_entry hello = {.record = {.kind = WIRE_HELLO}};

	assert_int_equal(publish_json_line(&hello, &(struct bytes){0}), -EINVAL);
}

/* Of each byte that there is, alone and behind the first byte of a longer character. */
static void lines_are_json_whatever_a_name_has_in_it(void **state)
{
	for (unsigned c = 0; c < 256; c++) {
		const char text[] = {'a', (char)c, 'b', (char)0xe2, (char)c, '"', '\\', (char)c};
		struct publish_entry entry = load;
		struct bytes out = {0};
		json_error_t error;
		json_t *object;

		for (size_t i = 0; i < PUBLISH_TEXTS; i++)
			entry.texts[i] = (struct wire_str){.data = text, .len = sizeof(text)};
		assert_int_equal(publish_json_line(&entry, &out), 0);
		assert_ptr_equal(memchr(out.data, '\n', out.len), out.data + out.len - 1);
		object = json_loadb(out.data, out.len, 0, &error);
		assert_non_null(object);
		assert_int_equal(json_string_value(json_object_get(object, "method"))[0], 'a');
		json_decref(object);
		bytes_fini(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(load_has_all_that_is_known),
		cmocka_unit_test(stub_is_a_load),
		cmocka_unit_test(drop_has_its_address),
		cmocka_unit_test(marks_have_their_epoch),
		cmocka_unit_test(other_kinds_are_no_events),
		cmocka_unit_test(lines_are_json_whatever_a_name_has_in_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
