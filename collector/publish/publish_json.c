// SPDX-License-Identifier: Apache-2.0
/* Makes JSON of entries, see publish_json.h. */
#include "publish/publish_json.h"

#include "base/json_value.h"
#include "base/utf8.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_number(json_t *object, const char *key, uint64_t value)
{
	json_object_set_new(object, key, json_integer((json_int_t)value));
}

static void put_text(json_t *object, const char *key, struct wire_str text)
{
	char clean[UINT16_MAX + 1];

	if (text.len == 0)
		return;
	utf8_clean(text.data, text.len, clean, sizeof(clean));
	json_object_set_new(object, key, json_string(clean));
}

static void put_addr(json_t *object, uint64_t addr)
{
	char text[2 + 16 + 1];

	snprintf(text, sizeof(text), "0x%" PRIx64, addr);
	json_object_set_new(object, "addr", json_string(text));
}

static const char *code_name_of(uint8_t code)
{
	static const char *const names[] = {[PUBLISH_NO_CODE] = "unknown",
					    [PUBLISH_STUB] = "stub",
					    [PUBLISH_JAVA] = "java",
					    [PUBLISH_OSR] = "osr",
					    [PUBLISH_NATIVE_WRAPPER] = "native"};

	return code < sizeof(names) / sizeof(*names) ? names[code] : names[PUBLISH_NO_CODE];
}

static void put_load(json_t *object, const struct publish_entry *entry)
{
	static const char *const keys[PUBLISH_TEXTS] = {"name", "class", "method", "signature",
							"source"};

	put_addr(object, entry->addr);
	put_number(object, "size", entry->size);
	json_object_set_new(object, "kind", json_string(code_name_of(entry->code)));
	if (entry->level != CODE_LEVEL_UNKNOWN)
		put_number(object, "level", entry->level);
	for (size_t i = 0; i < PUBLISH_TEXTS; i++)
		put_text(object, keys[i], entry->texts[i]);
	if (entry->record.flags & WIRE_FLAG_RESYNC)
		json_object_set_new(object, "resync", json_true());
}

static int put_resync(json_t *object, const struct publish_entry *entry)
{
	struct wire_resync resync;
	const int err = wire_decode_resync(&entry->record, &resync);

	if (err)
		return -EINVAL;
	put_number(object, "epoch", resync.epoch);
	if (entry->record.kind == WIRE_RESYNC_END)
		json_object_set_new(object, "complete", json_boolean(resync.complete));
	return 0;
}

static const char *event_of(uint16_t kind)
{
	switch (kind) {
	case WIRE_METHOD_LOAD:
	case WIRE_STUB:
		return "load";
	case WIRE_METHOD_UNLOAD:
		return "drop";
	case WIRE_RESYNC_BEGIN:
		return "begin";
	case WIRE_RESYNC_END:
		return "end";
	default:
		return NULL;
	}
}

int publish_json_put(json_t *object, struct bytes *out)
{
	char *const text = object ? json_dumps(object, JSON_COMPACT) : NULL;

	json_decref(object);
	if (!text)
		return -ENOMEM;
	bytes_add(out, text, strlen(text));
	bytes_add_char(out, '\n');
	free(text);
	return out->failed ? -ENOMEM : 0;
}

int publish_json_line(const struct publish_entry *entry, struct bytes *out)
{
	const char *const event = event_of(entry->record.kind);
	json_t *const object = event ? json_object() : NULL;
	int err = 0;

	if (!event)
		return -EINVAL;
	if (!object)
		return -ENOMEM;
	json_object_set_new(object, "event", json_string(event));
	put_number(object, "pid", (uint64_t)entry->pid);
	put_number(object, "start_ticks", entry->start_ticks);
	put_number(object, "time_ns", entry->time_ns);
	if (entry->record.kind == WIRE_METHOD_LOAD || entry->record.kind == WIRE_STUB)
		put_load(object, entry);
	else if (entry->record.kind == WIRE_METHOD_UNLOAD)
		put_addr(object, entry->addr);
	else
		err = put_resync(object, entry);
	if (!err)
		return publish_json_put(object, out);
	json_decref(object);
	return err;
}
