// SPDX-License-Identifier: Apache-2.0
/*
 * The bytes that subscribers read, as entries of a message. An entry lies within its own length,
 * and encoded again it is the same bytes. A line of JSON is one line, and means what the entry
 * says. The texts of an entry, as the names of a JVM's code, make an entry that is bounded and
 * whole again.
 */
#include "fuzzer.h"

#include "base/utf8.h"
#include "code/code_name.h"
#include "publish/publish_entry.h"
#include "publish/publish_json.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MOST 1024u /* of a text that the model has */

static void check(bool is)
{
	if (!is)
		abort();
}

static void check_inside(const void *part, size_t len, const uint8_t *begin, const uint8_t *end)
{
	const uint8_t *const at = part;

	check(at >= begin && at <= end && len <= (size_t)(end - at));
}

static bool is_same_text(struct wire_str a, struct wire_str b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

/* But for the record, which may have been cut. */
static void check_same(const struct publish_entry *a, const struct publish_entry *b)
{
	check(a->pid == b->pid && a->start_ticks == b->start_ticks && a->time_ns == b->time_ns);
	check(a->addr == b->addr && a->size == b->size && a->code == b->code);
	check(a->level == b->level && a->record.kind == b->record.kind);
	check(a->record.flags == b->record.flags);
	for (size_t i = 0; i < PUBLISH_TEXTS; i++)
		check(is_same_text(a->texts[i], b->texts[i]));
}

static void check_again(const struct publish_entry *entry, const uint8_t *bytes, size_t len)
{
	struct publish_entry again;
	struct bytes out = {0};
	size_t pos = 0;

	if (!publish_entry_encode(entry, &out)) {
		check(out.len == len && memcmp(out.data, bytes, len) == 0);
	} else {
		check(entry->record.len > PUBLISH_RECORD_MOST);
		check(out.len == len - entry->record.len);
		check(publish_entry_next(out.data, out.len, &pos, &again) == 1 && pos == out.len);
		check_same(entry, &again);
		check(again.record.len == 0 && again.flags == (entry->flags | PUBLISH_CUT));
	}
	bytes_fini(&out);
}

/* ---- JSON ---- */

static void check_member(const json_t *object, const char *key, struct wire_str text)
{
	static char clean[UINT16_MAX + 1];
	const json_t *const value = json_object_get(object, key);

	check((value != NULL) == (text.len > 0));
	if (!value)
		return;
	check(utf8_clean(text.data, text.len, clean, sizeof(clean)));
	check(json_is_string(value) && strcmp(json_string_value(value), clean) == 0);
}

static void check_load(const json_t *object, const struct publish_entry *entry)
{
	const char *const addr = json_string_value(json_object_get(object, "addr"));
	char *end;

	check(addr && strtoull(addr, &end, 16) == entry->addr && !*end);
	check(json_integer_value(json_object_get(object, "size")) == entry->size);
	check_member(object, "name", entry->texts[PUBLISH_NAME]);
	check_member(object, "class", entry->texts[PUBLISH_CLASS]);
	check_member(object, "method", entry->texts[PUBLISH_METHOD]);
	check_member(object, "signature", entry->texts[PUBLISH_SIGNATURE]);
	check_member(object, "source", entry->texts[PUBLISH_SOURCE]);
}

static void check_json(const struct publish_entry *entry)
{
	const uint16_t kind = entry->record.kind;
	struct bytes line = {0};
	json_t *object;
	int err;

	err = publish_json_line(entry, &line);
	if (err) {
		check(err == -EINVAL && line.len == 0);
		check(kind != WIRE_METHOD_LOAD && kind != WIRE_METHOD_UNLOAD && kind != WIRE_STUB);
		bytes_fini(&line);
		return;
	}
	check(line.len > 0 && memchr(line.data, '\n', line.len) == line.data + line.len - 1);
	object = json_loadb(line.data, line.len, JSON_REJECT_DUPLICATES, NULL);
	check(json_is_string(json_object_get(object, "event")));
	check(json_integer_value(json_object_get(object, "pid")) == (json_int_t)entry->pid);
	check((uint64_t)json_integer_value(json_object_get(object, "time_ns")) == entry->time_ns);
	if (kind == WIRE_METHOD_LOAD || kind == WIRE_STUB)
		check_load(object, entry);
	json_decref(object);
	bytes_fini(&line);
}

/* ---- entries of a model's code ---- */

static char *text_of(struct wire_str text)
{
	char *const ret = strndup(text.data, text.len);

	check(ret != NULL);
	return ret;
}

static void check_cut(struct wire_str text, const char *of)
{
	const size_t len = strlen(of);

	check(text.len == (len < TEXT_MOST ? len : TEXT_MOST));
	check(text.len == 0 || memcmp(text.data, of, text.len) == 0);
}

static void check_made(const struct publish_entry *from)
{
	char *const class_name = text_of(from->texts[PUBLISH_CLASS]);
	char *const method = text_of(from->texts[PUBLISH_METHOD]);
	char *const signature = text_of(from->texts[PUBLISH_SIGNATURE]);
	char *const source = text_of(from->texts[PUBLISH_SOURCE]);
	const struct code_range range = {.addr = from->addr,
					 .size = from->size,
					 .kind = from->code % (CODE_NATIVE_WRAPPER + 1),
					 .level = from->level,
					 .class_name = class_name[0] ? class_name : NULL,
					 .name = method,
					 .signature = signature,
					 .source_file = source};
	struct publish_entry entry = {.pid = from->pid, .record = from->record}, again;
	char name[CODE_NAME_MAX_BYTES];
	struct bytes out = {0};
	size_t pos = 0;

	publish_entry_set_range(&entry, &range, name);
	publish_entry_encode(&entry, &out);
	check(publish_entry_next(out.data, out.len, &pos, &again) == 1 && pos == out.len);
	check_same(&entry, &again);
	check(again.texts[PUBLISH_NAME].len > 0 &&
	      again.texts[PUBLISH_NAME].len <= CODE_NAME_MAX_BYTES);
	check_cut(again.texts[PUBLISH_CLASS], class_name);
	check_cut(again.texts[PUBLISH_METHOD], class_name[0] ? method : "");
	check_cut(again.texts[PUBLISH_SIGNATURE], signature);
	check_cut(again.texts[PUBLISH_SOURCE], source);
	bytes_fini(&out);
	free(source);
	free(signature);
	free(method);
	free(class_name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct publish_entry entry;
	size_t pos = 0, begin = 0;
	int got;

	while ((got = publish_entry_next(data, size, &pos, &entry)) > 0) {
		check(pos <= size && pos - begin >= PUBLISH_ENTRY_HEAD_BYTES);
		for (size_t i = 0; i < PUBLISH_TEXTS; i++)
			check_inside(entry.texts[i].data, entry.texts[i].len, data + begin,
				     data + pos);
		check_inside(entry.record.payload, entry.record.len, data + begin, data + pos);
		check_again(&entry, data + begin, pos - begin);
		check_json(&entry);
		check_made(&entry);
		begin = pos;
	}
	check(got == 0 ? pos == size : got == -EBADMSG && pos == begin);
	return 0;
}
