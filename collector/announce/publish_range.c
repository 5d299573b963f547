// SPDX-License-Identifier: Apache-2.0
/* Makes records of code ranges, see publish_range.h. */
#include "announce/publish_range.h"

#include <stdio.h>

struct wire_record publish_range_record(const struct wire_buf *buf)
{
	return (struct wire_record){
		.kind = (uint16_t)(buf->data[0] | buf->data[1] << 8),
		.flags = (uint16_t)(buf->data[2] | buf->data[3] << 8),
		.payload = buf->data + WIRE_RECORD_HEADER_BYTES,
		.len = (uint32_t)(buf->len - WIRE_RECORD_HEADER_BYTES),
	};
}

static uint8_t code_kind_of(uint8_t code)
{
	return code == PUBLISH_OSR		? WIRE_CODE_OSR
	       : code == PUBLISH_NATIVE_WRAPPER ? WIRE_CODE_NATIVE_WRAPPER
						: WIRE_CODE_JAVA;
}

/* The class's name as the wire has it. */
static struct wire_str signature_of(struct wire_str name, char ret[PUBLISH_RECORD_BYTES / 4])
{
	const int len = snprintf(ret, PUBLISH_RECORD_BYTES / 4, "L%.*s;", (int)name.len, name.data);

	return (struct wire_str){.data = ret, .len = (uint16_t)len};
}

static void encode_load(const struct code_range *range, const struct publish_entry *entry,
			struct wire_buf *buf)
{
	char class_name[PUBLISH_RECORD_BYTES / 4];
	const struct wire_method_load load = {
		.time_ns = range->birth_ns,
		.addr = range->addr,
		.size = range->size,
		.level = range->level,
		.code_kind = code_kind_of(entry->code),
		.frame = {range->frame.size, range->frame.complete, range->frame.entry},
		.class_sig = signature_of(entry->texts[PUBLISH_CLASS], class_name),
		.method = entry->texts[PUBLISH_METHOD],
		.method_sig = entry->texts[PUBLISH_SIGNATURE],
		.source_file = entry->texts[PUBLISH_SOURCE],
	};

	buf->overflow |= !wire_encode_method_load(buf, WIRE_FLAG_RESYNC, &load);
}

static void encode_stub(const struct code_range *range, struct wire_buf *buf)
{
	const struct wire_stub stub = {
		.time_ns = range->birth_ns,
		.addr = range->addr,
		.size = range->size,
		.frame = {range->frame.size, range->frame.complete, range->frame.entry},
		.name = wire_str_from(range->name),
	};

	buf->overflow |= !wire_encode_stub(buf, WIRE_FLAG_RESYNC, &stub);
}

bool publish_range_set(struct publish_entry *entry, const struct code_range *range,
		       struct publish_range_room *room)
{
	struct wire_buf buf = {.data = room->record, .size = sizeof(room->record)};

	entry->time_ns = range->birth_ns;
	publish_entry_set_range(entry, range, room->name);
	if (entry->code == PUBLISH_STUB)
		encode_stub(range, &buf);
	else
		encode_load(range, entry, &buf);
	if (buf.overflow)
		return false;
	entry->record = publish_range_record(&buf);
	return true;
}
