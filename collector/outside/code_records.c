// SPDX-License-Identifier: Apache-2.0
/* Writes records as an agent does, see code_records.h. */
#include "outside/code_records.h"

#include "outside/blob_names.h"

#include <string.h>

#define EPOCH 1

void code_records_init(struct code_records *records, uint8_t *data, size_t size)
{
	*records = (struct code_records){.buf = {.data = data, .size = size}};
}

/* Takes back a record that did not fit. */
static bool end_record(struct code_records *records, size_t before, bool fits)
{
	if (!fits) {
		records->buf.len = before;
		records->buf.overflow = false;
	}
	return fits;
}

bool code_records_begin(struct code_records *records, uint64_t now_ns)
{
	const struct wire_resync resync = {.time_ns = now_ns, .epoch = EPOCH};

	return end_record(records, records->buf.len,
			  wire_encode_resync(&records->buf, WIRE_RESYNC_BEGIN, &resync));
}

bool code_records_end(struct code_records *records, uint64_t now_ns)
{
	const struct wire_resync resync = {.time_ns = now_ns, .epoch = EPOCH, .complete = true};

	return end_record(records, records->buf.len,
			  wire_encode_resync(&records->buf, WIRE_RESYNC_END, &resync));
}

static uint16_t flags_of(const struct code_records *records)
{
	return records->is_resync ? WIRE_FLAG_RESYNC : 0;
}

static uint8_t kind_of(const struct code_blob *blob)
{
	if (blob->kind == BLOB_NATIVE)
		return WIRE_CODE_NATIVE_WRAPPER;
	return blob->is_osr ? WIRE_CODE_OSR : WIRE_CODE_JAVA;
}

static struct wire_str text_of(const struct method_batch_entry *method,
			       enum method_batch_text which)
{
	return (struct wire_str){.data = method->texts[which], .len = method->lens[which]};
}

/*
 * HotSpot's own name of a hidden class is Foo$$Lambda+0x00007fa8...; JVMTI, from which agents have
 * their names, writes '.' instead of '+'.
 */
static void unmangle(const struct method_batch_entry *method, char ret[METHOD_BATCH_TEXT_BYTES])
{
	const size_t len = method->lens[METHOD_BATCH_CLASS];

	memcpy(ret, method->texts[METHOD_BATCH_CLASS], len);
	for (size_t i = 0; i + 3 <= len; i++) {
		if (memcmp(ret + i, "+0x", 3) == 0)
			ret[i] = '.';
	}
}

bool code_records_method(struct code_records *records, const struct code_blob *blob,
			 const struct method_batch_entry *method, const char *guest)
{
	char class_name[METHOD_BATCH_TEXT_BYTES];
	struct wire_method_load load = {
		.time_ns = records->time_ns,
		.addr = blob->code,
		.size = blob->size,
		.level = blob->level,
		.code_kind = kind_of(blob),
		.frame = blob->frame,
	};

	if (method && guest[0]) {
		load.method = wire_str_from(guest);
	} else if (method) {
		unmangle(method, class_name);
		load.class_sig = (struct wire_str){.data = class_name,
						   .len = method->lens[METHOD_BATCH_CLASS]};
		load.method = text_of(method, METHOD_BATCH_NAME);
		load.method_sig = text_of(method, METHOD_BATCH_SIGNATURE);
		load.source_file = text_of(method, METHOD_BATCH_SOURCE);
	}
	return end_record(records, records->buf.len,
			  wire_encode_method_load(&records->buf, flags_of(records), &load));
}

bool code_records_stub(struct code_records *records, const struct code_blob *blob, const char *name)
{
	const struct wire_stub stub = {
		.time_ns = records->time_ns,
		.addr = blob->code,
		.size = blob->size,
		.frame = blob->frame,
		.name = wire_str_from(name),
	};

	return end_record(records, records->buf.len,
			  wire_encode_stub(&records->buf, flags_of(records), &stub));
}

bool code_records_gone(struct code_records *records, const struct code_blob *blob)
{
	const struct wire_method_unload unload = {.time_ns = records->time_ns, .addr = blob->code};

	return end_record(records, records->buf.len,
			  wire_encode_method_unload(&records->buf, &unload));
}
