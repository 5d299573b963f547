// SPDX-License-Identifier: Apache-2.0
/*
 * Entries of published messages, see publish_entry.h:
 *
 *    0 u32  length of the entry, with this field
 *    4 u32  PID          8 u64  start time in clock ticks
 *   16 u64  time        24 u64  address
 *   32 u32  size        36 u8   kind of code     37 u8  compile level
 *   38 u16  flags       40 u16  length of the texts
 *   42      five texts: u16 length, bytes
 *   then    the record: u16 kind, u16 flags, u32 length, payload
 */
#include "publish/publish_entry.h"

#include "code/code_name.h"

#include <errno.h>
#include <string.h>

#define TEXT_MOST 1024u /* names of the model are no longer */

static void put(struct bytes *out, uint64_t value, size_t n)
{
	char le[8];

	for (size_t i = 0; i < n; i++)
		le[i] = (char)(value >> (8 * i));
	bytes_add(out, le, n);
}

static uint64_t get(const uint8_t *data, size_t n)
{
	uint64_t value = 0;

	for (size_t i = n; i-- > 0;)
		value = value << 8 | data[i];
	return value;
}

static struct wire_str text_of(const char *text)
{
	struct wire_str str = wire_str_from(text);

	if (str.len > TEXT_MOST)
		str.len = TEXT_MOST;
	return str;
}

static uint8_t code_of(const struct code_range *range)
{
	switch (range->kind) {
	case CODE_JAVA:
		return PUBLISH_JAVA;
	case CODE_OSR:
		return PUBLISH_OSR;
	case CODE_NATIVE_WRAPPER:
		return PUBLISH_NATIVE_WRAPPER;
	default:
		return PUBLISH_STUB;
	}
}

void publish_entry_set_range(struct publish_entry *entry, const struct code_range *range,
			     char *name)
{
	entry->addr = range->addr;
	entry->size = range->size;
	entry->code = code_of(range);
	entry->level = range->level;
	entry->texts[PUBLISH_NAME] =
		(struct wire_str){.data = name, .len = (uint16_t)code_name(range, name)};
	entry->texts[PUBLISH_CLASS] = text_of(range->class_name);
	entry->texts[PUBLISH_METHOD] = text_of(range->class_name ? range->name : NULL);
	entry->texts[PUBLISH_SIGNATURE] = text_of(range->signature);
	entry->texts[PUBLISH_SOURCE] = text_of(range->source_file);
}

bool publish_entry_encode(const struct publish_entry *entry, struct bytes *out)
{
	const bool is_cut = entry->record.len > PUBLISH_RECORD_MOST;
	const uint32_t payload = is_cut ? 0 : entry->record.len;
	size_t texts = 0;

	for (size_t i = 0; i < PUBLISH_TEXTS; i++)
		texts += 2u + entry->texts[i].len;
	put(out, PUBLISH_ENTRY_HEAD_BYTES + texts + WIRE_RECORD_HEADER_BYTES + payload, 4);
	put(out, (uint32_t)entry->pid, 4);
	put(out, entry->start_ticks, 8);
	put(out, entry->time_ns, 8);
	put(out, entry->addr, 8);
	put(out, entry->size, 4);
	put(out, entry->code, 1);
	put(out, entry->level, 1);
	put(out, entry->flags | (is_cut ? PUBLISH_CUT : 0u), 2);
	put(out, texts, 2);
	for (size_t i = 0; i < PUBLISH_TEXTS; i++) {
		put(out, entry->texts[i].len, 2);
		bytes_add(out, entry->texts[i].data, entry->texts[i].len);
	}
	put(out, entry->record.kind, 2);
	put(out, entry->record.flags, 2);
	put(out, payload, 4);
	bytes_add(out, entry->record.payload, payload);
	return is_cut;
}

static int read_texts(const uint8_t *data, size_t len, struct publish_entry *ret)
{
	size_t pos = 0;

	for (size_t i = 0; i < PUBLISH_TEXTS; i++) {
		if (len - pos < 2 || len - pos - 2 < get(data + pos, 2))
			return -EBADMSG;
		ret->texts[i] = (struct wire_str){.data = (const char *)data + pos + 2,
						  .len = (uint16_t)get(data + pos, 2)};
		pos += 2u + ret->texts[i].len;
	}
	return pos == len ? 0 : -EBADMSG;
}

static int read_record(const uint8_t *data, size_t len, struct wire_record *ret)
{
	if (len < WIRE_RECORD_HEADER_BYTES || get(data + 4, 4) != len - WIRE_RECORD_HEADER_BYTES)
		return -EBADMSG;
	*ret = (struct wire_record){.kind = (uint16_t)get(data, 2),
				    .flags = (uint16_t)get(data + 2, 2),
				    .len = (uint32_t)get(data + 4, 4),
				    .payload = data + WIRE_RECORD_HEADER_BYTES};
	return 0;
}

int publish_entry_next(const void *data, size_t len, size_t *pos, struct publish_entry *ret)
{
	const uint8_t *const entry = (const uint8_t *)data + *pos;
	const size_t left = len - *pos;
	size_t size, texts;

	if (left == 0)
		return 0;
	if (left < PUBLISH_ENTRY_HEAD_BYTES)
		return -EBADMSG;
	size = get(entry, 4);
	texts = get(entry + 40, 2);
	if (size > left || size < PUBLISH_ENTRY_HEAD_BYTES + texts)
		return -EBADMSG;
	*ret = (struct publish_entry){
		.pid = (pid_t)get(entry + 4, 4),
		.start_ticks = get(entry + 8, 8),
		.time_ns = get(entry + 16, 8),
		.addr = get(entry + 24, 8),
		.size = (uint32_t)get(entry + 32, 4),
		.code = entry[36],
		.level = entry[37],
		.flags = (uint16_t)get(entry + 38, 2),
	};
	if (read_texts(entry + PUBLISH_ENTRY_HEAD_BYTES, texts, ret) < 0 ||
	    read_record(entry + PUBLISH_ENTRY_HEAD_BYTES + texts,
			size - PUBLISH_ENTRY_HEAD_BYTES - texts, &ret->record) < 0)
		return -EBADMSG;
	*pos += size;
	return 1;
}
