// SPDX-License-Identifier: Apache-2.0
/* Every record kind there and back, every length cut short, as shared/README.md says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shared/wire.h"

static uint8_t storage[WIRE_MESSAGE_MAX_BYTES];

static struct wire_buf new_message(void)
{
	struct wire_buf buf = {.data = storage, .size = sizeof(storage)};

	wire_encode_message(storage, 7, 99);
	buf.len = WIRE_MESSAGE_HEADER_BYTES;
	return buf;
}

/* The only record of the message in buf. */
static struct wire_record only_record(const struct wire_buf *buf)
{
	struct wire_message message;
	struct wire_reader reader;
	struct wire_record record, other;

	assert_int_equal(wire_decode_message(buf->data, buf->len, &message), 0);
	assert_int_equal(message.seq, 7);
	assert_int_equal(message.time_ns, 99);
	wire_reader_init(&reader, &message);
	assert_int_equal(wire_reader_next(&reader, &record), 1);
	assert_int_equal(wire_reader_next(&reader, &other), 0);
	return record;
}

static void assert_str(struct wire_str s, const char *text)
{
	assert_int_equal(s.len, strlen(text));
	assert_memory_equal(s.data, text, s.len);
}

static struct wire_method_load some_load(void)
{
	return (struct wire_method_load){
		.time_ns = 0x1122334455667788,
		.addr = 0x7f0011223344,
		.size = 0xfedcba98,
		.level = 4,
		.code_kind = WIRE_CODE_OSR,
		.class_sig = wire_str_from("Ljava/lang/String;"),
		.method = wire_str_from("hashCode"),
		.method_sig = wire_str_from("()I"),
		.source_file = wire_str_from("String.java"),
	};
}

/* A number of one byte, one of two, one of five. */
static const struct wire_frame some_frame = {.size = 112, .complete = 300, .entry = UINT32_MAX};

static void assert_frame(struct wire_frame frame, struct wire_frame expected)
{
	assert_int_equal(frame.size, expected.size);
	assert_int_equal(frame.complete, expected.complete);
	assert_int_equal(frame.entry, expected.entry);
}

static void method_load_round_trip(void **state)
{
	struct wire_method_load load = some_load(), out;
	struct wire_buf buf = new_message();
	struct wire_record record;

	assert_true(wire_encode_method_load(&buf, WIRE_FLAG_RESYNC, &load));
	assert_int_equal(buf.len, WIRE_MESSAGE_HEADER_BYTES + wire_method_load_bytes(&load));
	record = only_record(&buf);
	assert_int_equal(record.kind, WIRE_METHOD_LOAD);
	assert_int_equal(record.flags, WIRE_FLAG_RESYNC);
	assert_int_equal(wire_decode_method_load(&record, &out), 0);
	assert_int_equal(out.time_ns, load.time_ns);
	assert_int_equal(out.addr, load.addr);
	assert_int_equal(out.size, load.size);
	assert_int_equal(out.level, 4);
	assert_int_equal(out.code_kind, WIRE_CODE_OSR);
	assert_str(out.class_sig, "Ljava/lang/String;");
	assert_str(out.method, "hashCode");
	assert_str(out.method_sig, "()I");
	assert_str(out.source_file, "String.java");
	assert_int_equal(out.sections_len, 0);
}

static void sections_round_trip(void **state)
{
	uint8_t bytes[64];
	struct wire_buf sections = {.data = bytes, .size = sizeof(bytes)};
	struct wire_buf buf = new_message();
	struct wire_method_load load = some_load(), out;
	struct wire_record record;
	const uint8_t *data;
	size_t pos = 0;
	uint16_t tag;
	uint32_t len;

	assert_true(wire_encode_section(&sections, WIRE_SECTION_INLINE, "abc", 3));
	assert_true(wire_encode_section(&sections, 999, "", 0));
	load.sections = bytes;
	load.sections_len = sections.len;
	assert_true(wire_encode_method_load(&buf, 0, &load));
	record = only_record(&buf);
	assert_int_equal(wire_decode_method_load(&record, &out), 0);
	assert_int_equal(wire_section_next(out.sections, out.sections_len, &pos, &tag, &data, &len),
			 1);
	assert_int_equal(tag, WIRE_SECTION_INLINE);
	assert_int_equal(len, 3);
	assert_memory_equal(data, "abc", 3);
	assert_int_equal(wire_section_next(out.sections, out.sections_len, &pos, &tag, &data, &len),
			 1);
	assert_int_equal(tag, 999);
	assert_int_equal(wire_section_next(out.sections, out.sections_len, &pos, &tag, &data, &len),
			 0);
	pos = 0;
	assert_int_equal(wire_section_next(out.sections, 10, &pos, &tag, &data, &len), -EBADMSG);
}

static void check_load_frame(const struct wire_record *record, struct wire_frame expected,
			     bool is_broken)
{
	struct wire_method_load out;

	assert_int_equal(wire_decode_method_load(record, &out), 0);
	assert_str(out.source_file, "String.java");
	assert_frame(out.frame, expected);
	assert_int_equal(out.frame_is_broken, is_broken);
}

static void frame_facts_of_a_load_round_trip(void **state)
{
	uint8_t bytes[64];
	struct wire_buf sections = {.data = bytes, .size = sizeof(bytes)};
	struct wire_buf buf = new_message();
	struct wire_method_load load = some_load();
	struct wire_record record;

	assert_true(wire_encode_section(&sections, WIRE_SECTION_INLINE, "abc", 3));
	load.sections = bytes;
	load.sections_len = sections.len;
	load.frame = some_frame;
	assert_true(wire_encode_method_load(&buf, 0, &load));
	assert_int_equal(buf.len, WIRE_MESSAGE_HEADER_BYTES + wire_method_load_bytes(&load));
	record = only_record(&buf);
	check_load_frame(&record, some_frame, false);
}

static void frame_facts_are_found_among_sections(void **state)
{
	uint8_t bytes[128];
	struct wire_buf sections = {.data = bytes, .size = sizeof(bytes)};
	struct wire_buf buf = new_message();
	struct wire_method_load load = some_load();
	struct wire_record record;

	/* After others, longer than known here, and said twice. */
	wire_encode_section(&sections, 999, "abc", 3);
	wire_encode_section(&sections, WIRE_SECTION_FRAME, "\x10\x05\x02later", 8);
	wire_encode_section(&sections, WIRE_SECTION_FRAME, "\x20\x05\x02", 3);
	load.sections = bytes;
	load.sections_len = sections.len;
	assert_true(wire_encode_method_load(&buf, 0, &load));
	record = only_record(&buf);
	check_load_frame(&record, (struct wire_frame){16, 5, 2}, false);
}

/* The bytes as a section 2 of their own, in memory that ends where they do. */
static void check_frame_section(const char *bytes, uint32_t len, struct wire_frame expected,
				bool is_broken)
{
	uint8_t *section = malloc(8 + len);
	struct wire_buf sections = {.data = section, .size = 8 + len};
	struct wire_buf buf = new_message();
	struct wire_method_load load = some_load();
	struct wire_record record;
	uint8_t *copy;

	assert_true(wire_encode_section(&sections, WIRE_SECTION_FRAME, bytes, len));
	load.sections = section;
	load.sections_len = sections.len;
	assert_true(wire_encode_method_load(&buf, 0, &load));
	record = only_record(&buf);
	copy = malloc(record.len);
	memcpy(copy, record.payload, record.len);
	record.payload = copy;
	check_load_frame(&record, expected, is_broken);
	free(copy);
	free(section);
}

static void cut_frame_facts_are_none_at_every_length(void **state)
{
	/* 112, 300, 2^32 - 1 */
	static const char bytes[] = "\x70\xac\x02\xff\xff\xff\xff\x0f";
	const uint32_t len = sizeof(bytes) - 1;

	for (uint32_t cut = 0; cut < len; cut++)
		check_frame_section(bytes, cut, (struct wire_frame){0}, true);
	check_frame_section(bytes, len, some_frame, false);
	/* Numbers of 33 bits, and of more than five bytes. */
	check_frame_section("\x10\x05\xff\xff\xff\xff\x1f", 7, (struct wire_frame){0}, true);
	check_frame_section("\x10\x05\x80\x80\x80\x80\x80\x00", 8, (struct wire_frame){0}, true);
}

static struct wire_stub some_stub(struct wire_frame frame)
{
	return (struct wire_stub){
		.addr = 0x1000, .size = 32, .name = wire_str_from("a stub"), .frame = frame};
}

static void frame_facts_of_a_stub_round_trip(void **state)
{
	const struct wire_stub stub = some_stub(some_frame),
			       none = some_stub((struct wire_frame){0});
	struct wire_buf buf = new_message();
	struct wire_record record;
	struct wire_stub out;

	assert_true(wire_encode_stub(&buf, 0, &stub));
	assert_int_equal(buf.len, WIRE_MESSAGE_HEADER_BYTES + wire_stub_bytes(&stub));
	record = only_record(&buf);
	assert_int_equal(wire_decode_stub(&record, &out), 0);
	assert_frame(out.frame, some_frame);
	assert_str(out.name, "a stub");
	assert_false(out.frame_is_broken);
	buf = new_message();
	assert_true(wire_encode_stub(&buf, 0, &none));
	assert_int_equal(buf.len, WIRE_MESSAGE_HEADER_BYTES + wire_stub_bytes(&none));
	record = only_record(&buf);
	assert_int_equal(wire_decode_stub(&record, &out), 0);
	assert_frame(out.frame, none.frame);
	assert_false(out.frame_is_broken);
}

/* As it is without frame facts, which an older agent says, it is whole. */
static void stubs_are_cut_at_every_length(void **state)
{
	const struct wire_stub stub = some_stub(some_frame);
	const uint32_t named = 20 + 2 + sizeof("a stub") - 1;
	struct wire_buf buf = new_message();
	struct wire_record record;
	struct wire_stub out;

	assert_true(wire_encode_stub(&buf, 0, &stub));
	record = only_record(&buf);
	for (uint32_t len = 0; len < record.len; len++) {
		struct wire_record cut = {.kind = WIRE_STUB, .len = len};
		uint8_t *copy = malloc(len + 1);

		memcpy(copy, record.payload, len);
		cut.payload = copy;
		assert_int_equal(wire_decode_stub(&cut, &out), len < named ? -EBADMSG : 0);
		if (len >= named) {
			assert_str(out.name, "a stub");
			assert_frame(out.frame, (struct wire_frame){0});
			assert_int_equal(out.frame_is_broken, len > named);
		}
		free(copy);
	}
}

/* Two methods, two regions that share their caller. */
static size_t encode_inline(uint8_t *bytes, size_t size)
{
	const struct wire_line lines[] = {{0, 20}, {4, 19}, {9, 300}};
	const struct wire_method methods[] = {
		{.id = 7, .how = WIRE_METHOD_SELF, .n_lines = 3},
		{.id = WIRE_METHOD_ID_MAX,
		 .how = WIRE_METHOD_NAMED,
		 .class_sig = wire_str_from("La;"),
		 .name = wire_str_from("b"),
		 .sig = wire_str_from("()V")},
		{.id = 3, .how = WIRE_METHOD_KNOWN},
	};
	const struct wire_region regions[] = {{200, 1, 0}, {4, 2, 1}};
	const struct wire_inline_frame frames[] = {{0, 5}, {1, WIRE_BCI_UNKNOWN}};
	struct wire_buf buf = {.data = bytes, .size = size};

	wire_encode_inline_count(&buf, 3);
	for (int i = 0; i < 3; i++)
		wire_encode_inline_method(&buf, &methods[i], lines);
	wire_encode_inline_count(&buf, 2);
	for (int i = 0; i < 2; i++) {
		wire_encode_inline_region(&buf, &regions[i]);
		wire_encode_inline_frame(&buf, &frames[i]);
	}
	return buf.overflow ? 0 : buf.len;
}

static void check_lines(const struct wire_method *method)
{
	struct wire_line line = {0};
	size_t pos = 0;

	assert_true(wire_method_next_line(method, &pos, &line));
	assert_int_equal(line.bci, 0);
	assert_int_equal(line.line, 20);
	assert_true(wire_method_next_line(method, &pos, &line));
	assert_int_equal(line.bci, 4);
	assert_int_equal(line.line, 19);
	assert_true(wire_method_next_line(method, &pos, &line));
	assert_int_equal(line.bci, 9);
	assert_int_equal(line.line, 300);
	assert_false(wire_method_next_line(method, &pos, &line));
}

static void inline_table_round_trips(void **state)
{
	uint8_t bytes[128];
	const size_t len = encode_inline(bytes, sizeof(bytes));
	struct wire_inline table;
	struct wire_method method;
	struct wire_region region;
	struct wire_inline_frame frame;

	assert_int_equal(wire_inline_init(&table, bytes, len), 0);
	assert_int_equal(table.n_methods, 3);
	assert_int_equal(wire_inline_next_method(&table, &method), 1);
	assert_int_equal(method.id, 7);
	assert_int_equal(method.how, WIRE_METHOD_SELF);
	check_lines(&method);
	assert_int_equal(wire_inline_next_method(&table, &method), 1);
	assert_int_equal(method.id, WIRE_METHOD_ID_MAX);
	assert_memory_equal(method.class_sig.data, "La;", 3);
	assert_int_equal(method.n_lines, 0);
	assert_int_equal(wire_inline_next_method(&table, &method), 1);
	assert_int_equal(method.id, 3);
	assert_int_equal(wire_inline_next_method(&table, &method), 0);
	assert_int_equal(wire_inline_next_region(&table, &region), 1);
	assert_int_equal(region.size, 200);
	assert_int_equal(wire_inline_next_frame(&table, &frame), 1);
	assert_int_equal(frame.bci, 5);
	assert_int_equal(wire_inline_next_frame(&table, &frame), 0);
	assert_int_equal(wire_inline_next_region(&table, &region), 1);
	assert_int_equal(region.shared, 1);
	assert_int_equal(wire_inline_next_frame(&table, &frame), 1);
	assert_int_equal(frame.method, 1);
	assert_int_equal(frame.bci, WIRE_BCI_UNKNOWN);
	assert_int_equal(wire_inline_next_region(&table, &region), 0);
}

/* As methods come that the agent has told before. */
static void method_without_lines_has_no_first_line(void **state)
{
	const struct wire_method known = {.id = 8, .how = WIRE_METHOD_KNOWN};
	struct wire_line line = {.bci = 1, .line = 2};
	size_t pos = 0;

	assert_false(wire_method_next_line(&known, &pos, &line));
	assert_int_equal(pos, 0);
	assert_int_equal(line.line, 2);
	pos = 1; /* behind the end, which is at 0 */
	assert_false(wire_method_next_line(&known, &pos, &line));
}

/* How many parts are read before the end or an error. */
static int walk_inline(const uint8_t *bytes, size_t len)
{
	struct wire_inline table;
	struct wire_method method;
	struct wire_region region;
	struct wire_inline_frame frame;
	int err = wire_inline_init(&table, bytes, len);

	while (!err && (err = wire_inline_next_method(&table, &method)) > 0)
		err = 0;
	while (!err && (err = wire_inline_next_region(&table, &region)) > 0) {
		while ((err = wire_inline_next_frame(&table, &frame)) > 0)
			;
	}
	return err;
}

static void cut_inline_tables_are_refused_at_every_length(void **state)
{
	uint8_t bytes[128];
	const size_t len = encode_inline(bytes, sizeof(bytes));

	assert_int_equal(walk_inline(bytes, len), 0);
	for (size_t cut = 0; cut < len; cut++) {
		uint8_t *copy = malloc(cut + 1); /* so that a sanitizer sees what is read behind */

		memcpy(copy, bytes, cut);
		assert_int_equal(walk_inline(copy, cut), -EBADMSG);
		free(copy);
	}
	for (size_t size = 0; size < len; size++)
		assert_int_equal(encode_inline(bytes, size), 0);
}

static void inline_tables_that_point_nowhere_are_refused(void **state)
{
	/* One known method, one region; then what is wrong: method 1, shared too many, depth 0. */
	const uint8_t bad_method[] = {1, 4, 1, 8, 1, 0, 1, 1};
	const uint8_t bad_shared[] = {1, 4, 1, 8, 1, 1, 0, 1};
	const uint8_t bad_depth[] = {1, 4, 1, 8, 0, 0, 0, 1};
	const uint8_t no_methods[] = {0, 0};
	const uint8_t known_without_id[] = {1, 0, 0};
	const uint8_t second_is_self[] = {2, 4, 2, 0, 0};
	const uint8_t long_number[] = {0x81, 0x80, 0x80, 0x80, 0x80, 0x00};

	assert_int_equal(walk_inline(bad_method, sizeof(bad_method)), -EBADMSG);
	assert_int_equal(walk_inline(bad_shared, sizeof(bad_shared)), -EBADMSG);
	assert_int_equal(walk_inline(bad_depth, sizeof(bad_depth)), -EBADMSG);
	assert_int_equal(walk_inline(no_methods, sizeof(no_methods)), -EBADMSG);
	assert_int_equal(walk_inline(known_without_id, sizeof(known_without_id)), -EBADMSG);
	assert_int_equal(walk_inline(second_is_self, sizeof(second_is_self)), -EBADMSG);
	assert_int_equal(walk_inline(long_number, sizeof(long_number)), -EBADMSG);
}

static void hello_round_trip(void **state)
{
	const struct wire_attr attrs[] = {
		{wire_str_from("jvm.name"), wire_str_from("OpenJDK 64-Bit Server VM")},
		{wire_str_from("label.team"), wire_str_from("")},
	};
	const struct wire_value values[] = {
		{wire_str_from("CodeBlob::_frame_size"), 44},
		{wire_str_from("constant x"), -6},
	};
	const struct wire_hello hello = {.pid = 1,
					 .flags = WIRE_HELLO_FP_SET,
					 .loaded_ns = 5,
					 .monotonic_ns = 6,
					 .realtime_ns = 7,
					 .buffer_bytes = 262144,
					 .n_attrs = 2,
					 .n_values = 2};
	struct wire_buf buf = new_message();
	struct wire_hello out;
	struct wire_record record;
	struct wire_attr attr;
	struct wire_value value;
	size_t pos = 0;

	assert_true(wire_encode_hello(&buf, &hello, attrs, values));
	record = only_record(&buf);
	assert_int_equal(wire_decode_hello(&record, &out), 0);
	assert_int_equal(out.pid, 1);
	assert_int_equal(out.flags, WIRE_HELLO_FP_SET);
	assert_int_equal(out.realtime_ns, 7);
	assert_int_equal(out.buffer_bytes, 262144);
	assert_true(wire_hello_next_attr(&out, &pos, &attr));
	assert_str(attr.text, "OpenJDK 64-Bit Server VM");
	assert_true(wire_hello_next_attr(&out, &pos, &attr));
	assert_str(attr.key, "label.team");
	assert_false(wire_hello_next_attr(&out, &pos, &attr));
	pos = 0;
	assert_true(wire_hello_next_value(&out, &pos, &value));
	assert_int_equal(value.value, 44);
	assert_true(wire_hello_next_value(&out, &pos, &value));
	assert_int_equal(value.value, -6);
	assert_str(value.key, "constant x");
	assert_false(wire_hello_next_value(&out, &pos, &value));
}

static const struct wire_probes some_probes = {
	.time_ns = 0x1122334455667788,
	.flags = WIRE_PROBES_ALLOC | WIRE_PROBES_LOCK_REFUSED,
	.alloc_interval = 524288,
	.alloc_events = 3,
	.alloc_bytes = UINT64_C(1) << 40,
	.lock_events = 5,
	.lock_ns = UINT64_C(1) << 41,
	.live_objects = 1024,
	.live_level = 3,
};

static void small_records_round_trip(void **state)
{
	struct wire_buf buf = new_message();
	struct wire_message message;
	struct wire_reader reader;
	struct wire_record record;
	struct wire_resync resync;
	struct wire_method_unload unload;
	struct wire_stub stub;
	struct wire_loss loss = {.time_ns = 3, .count = {[WIRE_LOSS_JVMTI] = 11}};
	struct wire_bye bye;
	struct wire_thread thread;
	struct wire_probes probes;

	assert_true(wire_encode_resync(&buf, WIRE_RESYNC_BEGIN,
				       &(struct wire_resync){.time_ns = 1, .epoch = 2}));
	assert_true(wire_encode_resync(
		&buf, WIRE_RESYNC_END,
		&(struct wire_resync){.time_ns = 1, .epoch = 2, .complete = true}));
	assert_true(wire_encode_method_unload(
		&buf, &(struct wire_method_unload){.time_ns = 4, .addr = 0xabc}));
	assert_true(wire_encode_stub(&buf, 0,
				     &(struct wire_stub){.time_ns = 5,
							 .addr = 0x1000,
							 .size = 32,
							 .name = wire_str_from("Interpreter")}));
	assert_true(wire_encode_loss(&buf, &loss));
	assert_true(wire_encode_thread(
		&buf, &(struct wire_thread){
			      .time_ns = 8, .tid = 77, .name = wire_str_from("http-nio-exec-1")}));
	assert_true(wire_encode_probes(&buf, &some_probes));
	assert_true(wire_encode_bye(&buf, &(struct wire_bye){.time_ns = 9, .reason = 1}));

	assert_int_equal(wire_decode_message(buf.data, buf.len, &message), 0);
	wire_reader_init(&reader, &message);
	assert_int_equal(wire_reader_next(&reader, &record), 1);
	assert_int_equal(record.kind, WIRE_RESYNC_BEGIN);
	assert_int_equal(wire_decode_resync(&record, &resync), 0);
	assert_int_equal(resync.epoch, 2);
	assert_false(resync.complete);
	assert_int_equal(wire_reader_next(&reader, &record), 1);
	assert_int_equal(wire_decode_resync(&record, &resync), 0);
	assert_true(resync.complete);
	assert_int_equal(wire_reader_next(&reader, &record), 1);
	assert_int_equal(wire_decode_method_unload(&record, &unload), 0);
	assert_int_equal(unload.addr, 0xabc);
	assert_int_equal(wire_reader_next(&reader, &record), 1);
	assert_int_equal(wire_decode_stub(&record, &stub), 0);
	assert_int_equal(stub.size, 32);
	assert_str(stub.name, "Interpreter");
	assert_int_equal(wire_reader_next(&reader, &record), 1);
	memset(&loss, 0, sizeof(loss));
	assert_int_equal(wire_decode_loss(&record, &loss), 0);
	assert_int_equal(loss.count[WIRE_LOSS_JVMTI], 11);
	assert_int_equal(loss.count[WIRE_LOSS_BUFFER_FULL], 0);
	assert_int_equal(wire_reader_next(&reader, &record), 1);
	assert_int_equal(wire_decode_thread(&record, &thread), 0);
	assert_int_equal(thread.tid, 77);
	assert_str(thread.name, "http-nio-exec-1");
	assert_int_equal(wire_reader_next(&reader, &record), 1);
	assert_int_equal(record.kind, WIRE_PROBES);
	assert_int_equal(wire_decode_probes(&record, &probes), 0);
	assert_memory_equal(&probes, &some_probes, sizeof(probes));
	record.len--;
	assert_int_equal(wire_decode_probes(&record, &probes), -EBADMSG);
	assert_int_equal(wire_reader_next(&reader, &record), 1);
	assert_int_equal(wire_decode_bye(&record, &bye), 0);
	assert_int_equal(bye.reason, WIRE_BYE_VM_DEATH);
	assert_int_equal(wire_reader_next(&reader, &record), 0);
}

static void integers_are_little_endian_and_frames_big_endian(void **state)
{
	struct wire_buf buf = new_message();
	uint8_t frame[WIRE_SP_FRAME_HEADER_BYTES], greeting[WIRE_SP_GREETING_BYTES];
	const uint8_t expected[] = {5, 0, 0, 0, 16, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0xff, 0xee};

	assert_true(wire_encode_method_unload(
		&buf, &(struct wire_method_unload){.time_ns = 0x201, .addr = 0xeeff}));
	assert_memory_equal(buf.data, "FGW1\1\0\30\0\7\0", 10);
	assert_memory_equal(buf.data + WIRE_MESSAGE_HEADER_BYTES, expected, sizeof(expected));
	wire_encode_frame(frame, 0x010203);
	assert_memory_equal(frame, "\1\0\0\0\0\0\1\2\3", 9);
	wire_encode_greeting(greeting, WIRE_SP_PUSH);
	assert_memory_equal(greeting, "\0SP\0\0\x50\0\0", 8);
	assert_int_equal(wire_check_greeting(greeting, WIRE_SP_PUSH), 0);
	assert_int_equal(wire_check_greeting(greeting, WIRE_SP_PULL), -EPROTO);
}

static void record_that_does_not_fit_changes_nothing(void **state)
{
	uint8_t small[40];
	struct wire_buf buf = {.data = small, .size = sizeof(small)};
	const struct wire_method_load load = some_load();

	assert_false(wire_encode_method_load(&buf, 0, &load));
	assert_int_equal(buf.len, 0);
	assert_true(buf.overflow);
	buf.overflow = false;
	assert_true(wire_encode_bye(&buf, &(struct wire_bye){.reason = 1}));
	assert_int_equal(buf.len, 18);
	assert_false(buf.overflow);
	/* 24 bytes would fit into an empty buffer, and 22 are left. */
	assert_false(wire_encode_method_unload(&buf, &(struct wire_method_unload){.addr = 1}));
	assert_int_equal(buf.len, 18);
	assert_true(buf.overflow);
}

static void every_cut_message_is_refused_or_ends_early(void **state)
{
	struct wire_buf buf = new_message();
	const struct wire_method_load load = some_load();
	struct wire_method_load out;
	struct wire_message message;
	struct wire_reader reader;
	struct wire_record record;

	assert_true(wire_encode_method_load(&buf, 0, &load));
	for (size_t len = 0; len < buf.len; len++) {
		const int err = wire_decode_message(buf.data, len, &message);

		if (len < WIRE_MESSAGE_HEADER_BYTES) {
			assert_int_equal(err, -EBADMSG);
			continue;
		}
		assert_int_equal(err, 0);
		wire_reader_init(&reader, &message);
		assert_int_equal(wire_reader_next(&reader, &record),
				 len == WIRE_MESSAGE_HEADER_BYTES ? 0 : -EBADMSG);
	}
	record = only_record(&buf);
	for (uint32_t len = 0; len < record.len; len++) {
		struct wire_record cut = record;

		cut.len = len;
		assert_int_equal(wire_decode_method_load(&cut, &out), -EBADMSG);
	}
}

static void other_versions_and_other_bytes_are_told_apart(void **state)
{
	struct wire_buf buf = new_message();
	struct wire_message message;

	buf.data[6] = 25; /* a header that is longer than the message */
	assert_int_equal(wire_decode_message(buf.data, buf.len, &message), -EBADMSG);
	buf.data[4] = 2;
	assert_int_equal(wire_decode_message(buf.data, buf.len, &message), -EPROTONOSUPPORT);
	buf.data[0] = 'X';
	assert_int_equal(wire_decode_message(buf.data, buf.len, &message), -EBADMSG);
}

static void longer_headers_and_payloads_are_later_versions(void **state)
{
	struct wire_buf buf = new_message();
	struct wire_message message;
	struct wire_record record;
	struct wire_bye bye;

	assert_true(wire_encode_bye(&buf, &(struct wire_bye){.time_ns = 4, .reason = 1}));
	memmove(buf.data + 32, buf.data + 24, buf.len - 24);
	buf.data[6] = 32;
	buf.len += 8;
	memset(buf.data + buf.len, 0xff, 4);
	buf.data[32 + 4] += 4; /* the payload's length */
	buf.len += 4;
	assert_int_equal(wire_decode_message(buf.data, buf.len, &message), 0);
	record = only_record(&buf);
	assert_int_equal(record.kind, WIRE_BYE);
	assert_int_equal(wire_decode_bye(&record, &bye), 0);
	assert_int_equal(bye.time_ns, 4);
}

static void too_long_text_is_cut(void **state)
{
	static char text[70001];
	struct wire_str s;

	memset(text, 'a', sizeof(text) - 1);
	s = wire_str_from(text);
	assert_int_equal(s.len, WIRE_STRING_MAX_BYTES);
	assert_int_equal(wire_str_from(NULL).len, 0);
}

static void reasons_have_names(void **state)
{
	assert_string_equal(wire_loss_reason_name(WIRE_LOSS_BUFFER_FULL), "buffer full");
	assert_string_equal(wire_loss_reason_name(0), "unknown");
	assert_string_equal(wire_loss_reason_name(WIRE_LOSS_REASONS), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(method_load_round_trip),
		cmocka_unit_test(sections_round_trip),
		cmocka_unit_test(frame_facts_of_a_load_round_trip),
		cmocka_unit_test(frame_facts_are_found_among_sections),
		cmocka_unit_test(cut_frame_facts_are_none_at_every_length),
		cmocka_unit_test(frame_facts_of_a_stub_round_trip),
		cmocka_unit_test(stubs_are_cut_at_every_length),
		cmocka_unit_test(inline_table_round_trips),
		cmocka_unit_test(method_without_lines_has_no_first_line),
		cmocka_unit_test(cut_inline_tables_are_refused_at_every_length),
		cmocka_unit_test(inline_tables_that_point_nowhere_are_refused),
		cmocka_unit_test(hello_round_trip),
		cmocka_unit_test(small_records_round_trip),
		cmocka_unit_test(integers_are_little_endian_and_frames_big_endian),
		cmocka_unit_test(record_that_does_not_fit_changes_nothing),
		cmocka_unit_test(every_cut_message_is_refused_or_ends_early),
		cmocka_unit_test(other_versions_and_other_bytes_are_told_apart),
		cmocka_unit_test(longer_headers_and_payloads_are_later_versions),
		cmocka_unit_test(too_long_text_is_cut),
		cmocka_unit_test(reasons_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
