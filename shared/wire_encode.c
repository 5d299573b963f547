// SPDX-License-Identifier: Apache-2.0
/*
 * Encodes structs as the bytes of shared/README.md, see wire.h.
 *
 * Every record is first measured, then written whole; a record that does not fit leaves the buffer
 * as it was and sets overflow. No memory is allocated, so encoders may run in a JVMTI callback.
 */
#include "shared/wire.h"
#include "shared/wire_varint.h"

#include <errno.h>
#include <string.h>

#define SECTION_HEADER_BYTES 8u

static uint8_t *put_u16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)v;
	p[1] = (uint8_t)(v >> 8);
	return p + 2;
}

static uint8_t *put_u32(uint8_t *p, uint32_t v)
{
	return put_u16(put_u16(p, (uint16_t)v), (uint16_t)(v >> 16));
}

static uint8_t *put_u64(uint8_t *p, uint64_t v)
{
	return put_u32(put_u32(p, (uint32_t)v), (uint32_t)(v >> 32));
}

static uint8_t *put_bytes(uint8_t *p, const void *data, size_t len)
{
	if (len > 0)
		memcpy(p, data, len);
	return p + len;
}

static uint8_t *put_varint(uint8_t *p, uint32_t v)
{
	return p + wire_varint_write(p, v);
}

static uint8_t *put_frame(uint8_t *p, const struct wire_frame *frame)
{
	return put_varint(put_varint(put_varint(p, frame->size), frame->complete), frame->entry);
}

static size_t varint_bytes(uint32_t v)
{
	uint8_t bytes[WIRE_VARINT_MAX_BYTES];

	return wire_varint_write(bytes, v);
}

static size_t frame_bytes(const struct wire_frame *frame)
{
	return varint_bytes(frame->size) + varint_bytes(frame->complete) +
	       varint_bytes(frame->entry);
}

static uint8_t *put_str(uint8_t *p, struct wire_str s)
{
	return put_bytes(put_u16(p, s.len), s.data, s.len);
}

static size_t str_bytes(struct wire_str s)
{
	return 2u + s.len;
}

struct wire_str wire_str_from(const char *text)
{
	size_t len = text ? strlen(text) : 0;

	if (len > WIRE_STRING_MAX_BYTES)
		len = WIRE_STRING_MAX_BYTES;
	return (struct wire_str){.data = text, .len = (uint16_t)len};
}

static void greeting(uint8_t out[WIRE_SP_GREETING_BYTES], uint16_t protocol)
{
	const uint8_t bytes[WIRE_SP_GREETING_BYTES] = {
		0, 'S', 'P', 0, (uint8_t)(protocol >> 8), (uint8_t)protocol, 0, 0};

	memcpy(out, bytes, sizeof(bytes));
}

void wire_encode_greeting(uint8_t out[WIRE_SP_GREETING_BYTES], uint16_t protocol)
{
	greeting(out, protocol);
}

int wire_check_greeting(const uint8_t in[WIRE_SP_GREETING_BYTES], uint16_t protocol)
{
	uint8_t expected[WIRE_SP_GREETING_BYTES];

	greeting(expected, protocol);
	return memcmp(in, expected, sizeof(expected)) == 0 ? 0 : -EPROTO;
}

void wire_encode_frame(uint8_t out[WIRE_SP_FRAME_HEADER_BYTES], uint64_t message_len)
{
	out[0] = 1;
	for (int i = 0; i < 8; i++)
		out[1 + i] = (uint8_t)(message_len >> (56 - 8 * i));
}

void wire_encode_message(uint8_t out[WIRE_MESSAGE_HEADER_BYTES], uint64_t seq, uint64_t time_ns)
{
	uint8_t *p = put_bytes(out, "FGW1", 4);

	p = put_u16(p, WIRE_VERSION);
	p = put_u16(p, WIRE_MESSAGE_HEADER_BYTES);
	p = put_u64(p, seq);
	put_u64(p, time_ns);
}

/*
 * Makes room for a record and writes its header. Returns where the payload goes. NULL: no room, and
 * overflow is set.
 */
static uint8_t *record_begin(struct wire_buf *buf, uint16_t kind, uint16_t flags, size_t payload)
{
	const size_t need = WIRE_RECORD_HEADER_BYTES + payload;
	uint8_t *p;

	if (payload > WIRE_MESSAGE_MAX_BYTES || need > buf->size - buf->len) {
		buf->overflow = true;
		return NULL;
	}
	p = buf->data + buf->len;
	buf->len += need;
	p = put_u16(p, kind);
	p = put_u16(p, flags);
	return put_u32(p, (uint32_t)payload);
}

bool wire_encode_hello(struct wire_buf *buf, const struct wire_hello *hello,
		       const struct wire_attr *attrs, const struct wire_value *values)
{
	size_t payload = 40;
	uint8_t *p;

	for (uint16_t i = 0; i < hello->n_attrs; i++)
		payload += str_bytes(attrs[i].key) + str_bytes(attrs[i].text);
	for (uint16_t i = 0; i < hello->n_values; i++)
		payload += str_bytes(values[i].key) + 8;
	p = record_begin(buf, WIRE_HELLO, 0, payload);
	if (!p)
		return false;
	p = put_u32(p, hello->pid);
	p = put_u32(p, hello->flags);
	p = put_u64(p, hello->loaded_ns);
	p = put_u64(p, hello->monotonic_ns);
	p = put_u64(p, hello->realtime_ns);
	p = put_u32(p, hello->buffer_bytes);
	p = put_u16(p, hello->n_attrs);
	p = put_u16(p, hello->n_values);
	for (uint16_t i = 0; i < hello->n_attrs; i++)
		p = put_str(put_str(p, attrs[i].key), attrs[i].text);
	for (uint16_t i = 0; i < hello->n_values; i++)
		p = put_u64(put_str(p, values[i].key), (uint64_t)values[i].value);
	return true;
}

bool wire_encode_resync(struct wire_buf *buf, enum wire_kind begin_or_end,
			const struct wire_resync *resync)
{
	uint8_t *p = record_begin(buf, (uint16_t)begin_or_end, 0, 16);

	if (!p)
		return false;
	p = put_u64(p, resync->time_ns);
	p = put_u32(p, resync->epoch);
	put_u32(p, begin_or_end == WIRE_RESYNC_END && resync->complete);
	return true;
}

static bool is_known(const struct wire_frame *frame)
{
	return frame->size || frame->complete || frame->entry;
}

static size_t frame_section_bytes(const struct wire_frame *frame)
{
	return is_known(frame) ? SECTION_HEADER_BYTES + frame_bytes(frame) : 0;
}

static uint8_t *put_section_header(uint8_t *p, uint16_t tag, uint32_t len)
{
	return put_u32(put_u16(put_u16(p, tag), 0), len);
}

static uint8_t *put_frame_section(uint8_t *p, const struct wire_frame *frame)
{
	if (!is_known(frame))
		return p;
	p = put_section_header(p, WIRE_SECTION_FRAME, (uint32_t)frame_bytes(frame));
	return put_frame(p, frame);
}

static size_t method_load_payload(const struct wire_method_load *load)
{
	return 24 + str_bytes(load->class_sig) + str_bytes(load->method) +
	       str_bytes(load->method_sig) + str_bytes(load->source_file) +
	       frame_section_bytes(&load->frame) + load->sections_len;
}

size_t wire_method_load_bytes(const struct wire_method_load *load)
{
	return WIRE_RECORD_HEADER_BYTES + method_load_payload(load);
}

bool wire_encode_method_load(struct wire_buf *buf, uint16_t flags,
			     const struct wire_method_load *load)
{
	uint8_t *p = record_begin(buf, WIRE_METHOD_LOAD, flags, method_load_payload(load));

	if (!p)
		return false;
	p = put_u64(p, load->time_ns);
	p = put_u64(p, load->addr);
	p = put_u32(p, load->size);
	*p++ = load->level;
	*p++ = load->code_kind;
	p = put_u16(p, 0);
	p = put_str(p, load->class_sig);
	p = put_str(p, load->method);
	p = put_str(p, load->method_sig);
	p = put_str(p, load->source_file);
	p = put_frame_section(p, &load->frame);
	put_bytes(p, load->sections, load->sections_len);
	return true;
}

bool wire_encode_method_unload(struct wire_buf *buf, const struct wire_method_unload *unload)
{
	uint8_t *p = record_begin(buf, WIRE_METHOD_UNLOAD, 0, 16);

	if (!p)
		return false;
	p = put_u64(p, unload->time_ns);
	put_u64(p, unload->addr);
	return true;
}

static size_t stub_payload(const struct wire_stub *stub)
{
	return 20 + str_bytes(stub->name) + frame_bytes(&stub->frame);
}

size_t wire_stub_bytes(const struct wire_stub *stub)
{
	return WIRE_RECORD_HEADER_BYTES + stub_payload(stub);
}

bool wire_encode_stub(struct wire_buf *buf, uint16_t flags, const struct wire_stub *stub)
{
	uint8_t *p = record_begin(buf, WIRE_STUB, flags, stub_payload(stub));

	if (!p)
		return false;
	p = put_u64(p, stub->time_ns);
	p = put_u64(p, stub->addr);
	p = put_u32(p, stub->size);
	p = put_str(p, stub->name);
	put_frame(p, &stub->frame);
	return true;
}

bool wire_encode_loss(struct wire_buf *buf, const struct wire_loss *loss)
{
	const uint16_t n = WIRE_LOSS_REASONS - 1;
	uint8_t *p = record_begin(buf, WIRE_LOSS, 0, 10 + 10u * n);

	if (!p)
		return false;
	p = put_u64(p, loss->time_ns);
	p = put_u16(p, n);
	for (uint16_t reason = 1; reason <= n; reason++)
		p = put_u64(put_u16(p, reason), loss->count[reason]);
	return true;
}

bool wire_encode_bye(struct wire_buf *buf, const struct wire_bye *bye)
{
	uint8_t *p = record_begin(buf, WIRE_BYE, 0, 10);

	if (!p)
		return false;
	put_u16(put_u64(p, bye->time_ns), bye->reason);
	return true;
}

bool wire_encode_thread(struct wire_buf *buf, const struct wire_thread *thread)
{
	uint8_t *p = record_begin(buf, WIRE_THREAD, 0, 12 + str_bytes(thread->name));

	if (!p)
		return false;
	p = put_u64(p, thread->time_ns);
	p = put_u32(p, thread->tid);
	put_str(p, thread->name);
	return true;
}

bool wire_encode_probes(struct wire_buf *buf, const struct wire_probes *probes)
{
	uint8_t *p = record_begin(buf, WIRE_PROBES, 0, 56);

	if (!p)
		return false;
	p = put_u64(p, probes->time_ns);
	p = put_u32(p, probes->flags);
	p = put_u32(p, probes->alloc_interval);
	p = put_u64(p, probes->alloc_events);
	p = put_u64(p, probes->alloc_bytes);
	p = put_u64(p, probes->lock_events);
	p = put_u64(p, probes->lock_ns);
	p = put_u32(p, probes->live_objects);
	put_u32(p, probes->live_level);
	return true;
}

bool wire_encode_section(struct wire_buf *buf, uint16_t tag, const void *data, uint32_t len)
{
	uint8_t *p;

	if (len > WIRE_MESSAGE_MAX_BYTES || SECTION_HEADER_BYTES + len > buf->size - buf->len) {
		buf->overflow = true;
		return false;
	}
	p = buf->data + buf->len;
	buf->len += SECTION_HEADER_BYTES + len;
	put_bytes(put_section_header(p, tag, len), data, len);
	return true;
}
