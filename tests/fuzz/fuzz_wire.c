// SPDX-License-Identifier: Apache-2.0
/* Every decoder on every record of a message, and every string and section of it touched. */
#include "fuzzer.h"

#include "shared/wire.h"

#include <stdlib.h>

static volatile unsigned sink;

static void touch(const void *data, size_t len)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < len; i++)
		sink += p[i];
}

static void touch_str(struct wire_str s)
{
	touch(s.data, s.len);
}

static void on_hello(const struct wire_record *record)
{
	struct wire_hello hello;
	struct wire_attr attr;
	struct wire_value value;
	size_t pos = 0, n = 0;

	if (wire_decode_hello(record, &hello) < 0)
		return;
	for (; wire_hello_next_attr(&hello, &pos, &attr); n++) {
		touch_str(attr.key);
		touch_str(attr.text);
	}
	if (n != hello.n_attrs)
		abort();
	pos = n = 0;
	for (; wire_hello_next_value(&hello, &pos, &value); n++)
		touch_str(value.key);
	if (n != hello.n_values)
		abort();
}

/* Facts that are not whole are none. */
static void on_frame(const struct wire_frame *frame, bool is_broken)
{
	if (is_broken && (frame->size || frame->complete || frame->entry))
		abort();
}

/* Within the bytes or not, whatever the section's tag says. */
static void on_inline(const uint8_t *data, size_t len)
{
	struct wire_inline table;
	struct wire_method method;
	struct wire_region region;
	struct wire_inline_frame frame;

	if (wire_inline_init(&table, data, len) < 0)
		return;
	while (wire_inline_next_method(&table, &method) > 0) {
		struct wire_line line = {0};
		size_t pos = 0;
		uint32_t n = 0;

		touch_str(method.class_sig);
		touch_str(method.name);
		touch_str(method.sig);
		touch_str(method.source_file);
		for (; wire_method_next_line(&method, &pos, &line); n++)
			sink += line.line;
		if (n != method.n_lines)
			abort();
	}
	while (wire_inline_next_region(&table, &region) > 0) {
		while (wire_inline_next_frame(&table, &frame) > 0) {
			if (frame.method >= table.n_methods)
				abort();
		}
	}
}

static void on_load(const struct wire_record *record)
{
	struct wire_method_load load;
	const uint8_t *data;
	size_t pos = 0;
	uint16_t tag;
	uint32_t len;

	if (wire_decode_method_load(record, &load) < 0)
		return;
	touch_str(load.class_sig);
	touch_str(load.method);
	touch_str(load.method_sig);
	touch_str(load.source_file);
	on_frame(&load.frame, load.frame_is_broken);
	while (wire_section_next(load.sections, load.sections_len, &pos, &tag, &data, &len) > 0) {
		touch(data, len);
		on_inline(data, len);
	}
	on_inline(load.sections, load.sections_len); /* so that any bytes reach it */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct wire_message message;
	struct wire_reader reader;
	struct wire_record record;
	struct wire_resync resync;
	struct wire_method_unload unload;
	struct wire_stub stub;
	struct wire_loss loss;
	struct wire_bye bye;
	struct wire_thread thread;
	struct wire_probes probes;

	if (wire_decode_message(data, size, &message) < 0)
		return 0;
	wire_reader_init(&reader, &message);
	while (wire_reader_next(&reader, &record) > 0) {
		touch(record.payload, record.len);
		/* Whatever the kind says: no decoder may trust it. */
		on_hello(&record);
		on_load(&record);
		wire_decode_resync(&record, &resync);
		wire_decode_method_unload(&record, &unload);
		wire_decode_loss(&record, &loss);
		wire_decode_bye(&record, &bye);
		wire_decode_probes(&record, &probes);
		if (wire_decode_stub(&record, &stub) == 0) {
			touch_str(stub.name);
			on_frame(&stub.frame, stub.frame_is_broken);
		}
		if (wire_decode_thread(&record, &thread) == 0)
			touch_str(thread.name);
	}
	return 0;
}
