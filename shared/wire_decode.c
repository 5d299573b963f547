// SPDX-License-Identifier: Apache-2.0
/*
 * Decodes the bytes of shared/README.md into structs, see wire.h. The bytes are hostile: every
 * length is checked against the bytes that are left before it is used. Strings are borrowed, never
 * copied.
 */
#include "shared/wire.h"
#include "shared/wire_varint.h"

#include <errno.h>
#include <string.h>

/* A position in bytes from outside. After a read past the end, bad stays set and reads give 0. */
struct cursor {
	const uint8_t *p;
	size_t left;
	bool bad;
};

static const uint8_t *take(struct cursor *c, size_t len)
{
	const uint8_t *p = c->p;

	if (c->bad || len > c->left) {
		c->bad = true;
		return NULL;
	}
	c->p += len;
	c->left -= len;
	return p;
}

static uint64_t take_int(struct cursor *c, size_t len)
{
	const uint8_t *p = take(c, len);
	uint64_t v = 0;

	for (size_t i = 0; p && i < len; i++)
		v |= (uint64_t)p[i] << (8 * i);
	return v;
}

static uint8_t take_u8(struct cursor *c)
{
	return (uint8_t)take_int(c, 1);
}

static uint16_t take_u16(struct cursor *c)
{
	return (uint16_t)take_int(c, 2);
}

static uint32_t take_u32(struct cursor *c)
{
	return (uint32_t)take_int(c, 4);
}

static uint64_t take_u64(struct cursor *c)
{
	return take_int(c, 8);
}

static struct wire_str take_str(struct cursor *c)
{
	const uint16_t len = take_u16(c);
	const uint8_t *p = take(c, len);

	return (struct wire_str){.data = (const char *)p, .len = p ? len : 0};
}

static uint32_t take_varint(struct cursor *c)
{
	uint32_t value;

	if (!c->bad && wire_varint_read(&c->p, &c->left, &value))
		return value;
	c->bad = true;
	return 0;
}

/* Takes all three numbers. False: they are not there in full. */
static bool take_frame(struct cursor *c, struct wire_frame *ret)
{
	struct wire_frame frame = {.size = take_varint(c)};

	frame.complete = take_varint(c);
	frame.entry = take_varint(c);
	if (c->bad)
		return false;
	*ret = frame;
	return true;
}

static struct cursor cursor_of(const struct wire_record *record)
{
	return (struct cursor){.p = record->payload, .left = record->len};
}

int wire_decode_message(const void *data, size_t len, struct wire_message *ret)
{
	struct cursor c = {.p = data, .left = len};
	const uint8_t *magic = take(&c, 4);
	struct wire_message message = {.version = take_u16(&c)};
	const uint16_t header_len = take_u16(&c);

	if (c.bad || memcmp(magic, "FGW1", 4) != 0)
		return -EBADMSG;
	if (message.version != WIRE_VERSION)
		return -EPROTONOSUPPORT;
	message.seq = take_u64(&c);
	message.time_ns = take_u64(&c);
	if (c.bad || header_len < WIRE_MESSAGE_HEADER_BYTES || header_len > len)
		return -EBADMSG;
	message.records = (const uint8_t *)data + header_len;
	message.records_len = len - header_len;
	*ret = message;
	return 0;
}

void wire_reader_init(struct wire_reader *reader, const struct wire_message *message)
{
	*reader = (struct wire_reader){.data = message->records, .len = message->records_len};
}

int wire_reader_next(struct wire_reader *reader, struct wire_record *ret)
{
	struct cursor c = {.left = reader->len - reader->pos};
	struct wire_record record;

	if (c.left == 0)
		return 0;
	c.p = reader->data + reader->pos;
	record.kind = take_u16(&c);
	record.flags = take_u16(&c);
	record.len = take_u32(&c);
	record.payload = take(&c, record.len);
	if (c.bad)
		return -EBADMSG;
	reader->pos = reader->len - c.left;
	*ret = record;
	return 1;
}

static struct wire_attr take_attr(struct cursor *c)
{
	struct wire_attr attr;

	attr.key = take_str(c);
	attr.text = take_str(c);
	return attr;
}

static struct wire_value take_value(struct cursor *c)
{
	struct wire_value value;

	value.key = take_str(c);
	value.value = (int64_t)take_u64(c);
	return value;
}

int wire_decode_hello(const struct wire_record *record, struct wire_hello *ret)
{
	struct cursor c = cursor_of(record);
	struct wire_hello hello = {.pid = take_u32(&c)};

	hello.flags = take_u32(&c);
	hello.loaded_ns = take_u64(&c);
	hello.monotonic_ns = take_u64(&c);
	hello.realtime_ns = take_u64(&c);
	hello.buffer_bytes = take_u32(&c);
	hello.n_attrs = take_u16(&c);
	hello.n_values = take_u16(&c);
	hello.items = c.p;
	hello.items_len = c.left;
	for (uint16_t i = 0; i < hello.n_attrs && !c.bad; i++)
		take_attr(&c);
	hello.attrs_len = hello.items_len - c.left;
	for (uint16_t i = 0; i < hello.n_values && !c.bad; i++)
		take_value(&c);
	if (c.bad)
		return -EBADMSG;
	hello.items_len -= c.left;
	*ret = hello;
	return 0;
}

static struct cursor hello_items(const struct wire_hello *hello, size_t pos)
{
	return (struct cursor){.p = hello->items + pos, .left = hello->items_len - pos};
}

bool wire_hello_next_attr(const struct wire_hello *hello, size_t *pos, struct wire_attr *ret)
{
	struct cursor c = hello_items(hello, *pos);

	if (*pos >= hello->attrs_len)
		return false;
	*ret = take_attr(&c);
	*pos = hello->items_len - c.left;
	return true;
}

bool wire_hello_next_value(const struct wire_hello *hello, size_t *pos, struct wire_value *ret)
{
	struct cursor c;

	if (*pos == 0)
		*pos = hello->attrs_len;
	if (*pos >= hello->items_len)
		return false;
	c = hello_items(hello, *pos);
	*ret = take_value(&c);
	*pos = hello->items_len - c.left;
	return true;
}

int wire_decode_resync(const struct wire_record *record, struct wire_resync *ret)
{
	struct cursor c = cursor_of(record);
	struct wire_resync resync = {.time_ns = take_u64(&c)};

	resync.epoch = take_u32(&c);
	resync.complete = take_u32(&c) != 0;
	if (c.bad)
		return -EBADMSG;
	*ret = resync;
	return 0;
}

/*
 * Reads the first section 2. If the section is cut short, there are no frame facts, and the record
 * is otherwise used.
 */
static void find_frame(struct wire_method_load *load)
{
	const uint8_t *data;
	size_t pos = 0;
	uint16_t tag;
	uint32_t len;

	while (wire_section_next(load->sections, load->sections_len, &pos, &tag, &data, &len) > 0) {
		struct cursor c = {.p = data, .left = len};

		if (tag != WIRE_SECTION_FRAME)
			continue;
		load->frame_is_broken = !take_frame(&c, &load->frame);
		return;
	}
}

int wire_decode_method_load(const struct wire_record *record, struct wire_method_load *ret)
{
	struct cursor c = cursor_of(record);
	struct wire_method_load load = {.time_ns = take_u64(&c)};

	load.addr = take_u64(&c);
	load.size = take_u32(&c);
	load.level = take_u8(&c);
	load.code_kind = take_u8(&c);
	take_u16(&c);
	load.class_sig = take_str(&c);
	load.method = take_str(&c);
	load.method_sig = take_str(&c);
	load.source_file = take_str(&c);
	if (c.bad)
		return -EBADMSG;
	load.sections = c.p;
	load.sections_len = c.left;
	find_frame(&load);
	*ret = load;
	return 0;
}

int wire_decode_method_unload(const struct wire_record *record, struct wire_method_unload *ret)
{
	struct cursor c = cursor_of(record);
	struct wire_method_unload unload = {.time_ns = take_u64(&c)};

	unload.addr = take_u64(&c);
	if (c.bad)
		return -EBADMSG;
	*ret = unload;
	return 0;
}

int wire_decode_stub(const struct wire_record *record, struct wire_stub *ret)
{
	struct cursor c = cursor_of(record);
	struct wire_stub stub = {.time_ns = take_u64(&c)};

	stub.addr = take_u64(&c);
	stub.size = take_u32(&c);
	stub.name = take_str(&c);
	if (c.bad)
		return -EBADMSG;
	/* An older agent sends nothing behind the name. */
	stub.frame_is_broken = c.left > 0 && !take_frame(&c, &stub.frame);
	*ret = stub;
	return 0;
}

int wire_decode_loss(const struct wire_record *record, struct wire_loss *ret)
{
	struct cursor c = cursor_of(record);
	struct wire_loss loss = {.time_ns = take_u64(&c)};
	const uint16_t n = take_u16(&c);

	for (uint16_t i = 0; i < n && !c.bad; i++) {
		const uint16_t reason = take_u16(&c);
		const uint64_t count = take_u64(&c);

		if (reason > 0 && reason < WIRE_LOSS_REASONS)
			loss.count[reason] = count;
	}
	if (c.bad)
		return -EBADMSG;
	*ret = loss;
	return 0;
}

int wire_decode_bye(const struct wire_record *record, struct wire_bye *ret)
{
	struct cursor c = cursor_of(record);
	struct wire_bye bye = {.time_ns = take_u64(&c)};

	bye.reason = take_u16(&c);
	if (c.bad)
		return -EBADMSG;
	*ret = bye;
	return 0;
}

int wire_decode_thread(const struct wire_record *record, struct wire_thread *ret)
{
	struct cursor c = cursor_of(record);
	struct wire_thread thread = {.time_ns = take_u64(&c)};

	thread.tid = take_u32(&c);
	thread.name = take_str(&c);
	if (c.bad)
		return -EBADMSG;
	*ret = thread;
	return 0;
}

int wire_decode_probes(const struct wire_record *record, struct wire_probes *ret)
{
	struct cursor c = cursor_of(record);
	struct wire_probes probes = {.time_ns = take_u64(&c)};

	probes.flags = take_u32(&c);
	probes.alloc_interval = take_u32(&c);
	probes.alloc_events = take_u64(&c);
	probes.alloc_bytes = take_u64(&c);
	probes.lock_events = take_u64(&c);
	probes.lock_ns = take_u64(&c);
	if (c.left > 0) { /* agents before these members do not send them */
		probes.live_objects = take_u32(&c);
		probes.live_level = take_u32(&c);
	}
	if (c.bad)
		return -EBADMSG;
	*ret = probes;
	return 0;
}

int wire_section_next(const uint8_t *sections, size_t len, size_t *pos, uint16_t *ret_tag,
		      const uint8_t **ret_data, uint32_t *ret_len)
{
	struct cursor c = {.p = sections + *pos, .left = len - *pos};
	const uint8_t *data;
	uint16_t tag;
	uint32_t section_len;

	if (c.left == 0)
		return 0;
	tag = take_u16(&c);
	take_u16(&c);
	section_len = take_u32(&c);
	data = take(&c, section_len);
	if (c.bad)
		return -EBADMSG;
	*pos = len - c.left;
	*ret_tag = tag;
	*ret_data = data;
	*ret_len = section_len;
	return 1;
}

const char *wire_loss_reason_name(uint16_t reason)
{
	static const char *const names[] = {
		[WIRE_LOSS_BUFFER_FULL] = "buffer full",
		[WIRE_LOSS_TOO_LARGE] = "record too large",
		[WIRE_LOSS_NO_MEMORY] = "no memory",
		[WIRE_LOSS_JVMTI] = "JVMTI error",
		[WIRE_LOSS_DISCONNECT] = "connection lost",
	};

	if (reason == 0 || reason >= WIRE_LOSS_REASONS)
		return "unknown";
	return names[reason];
}
