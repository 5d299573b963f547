// SPDX-License-Identifier: Apache-2.0
/* Encodes the inline table of shared/README.md, part by part, see wire.h. */
#include "shared/wire.h"
#include "shared/wire_varint.h"

#include <string.h>

static void put(struct wire_buf *buf, const void *data, size_t len)
{
	if (buf->overflow || len > buf->size - buf->len) {
		buf->overflow = true;
		return;
	}
	if (len > 0)
		memcpy(buf->data + buf->len, data, len);
	buf->len += len;
}

static void put_varint(struct wire_buf *buf, uint32_t value)
{
	uint8_t bytes[WIRE_VARINT_MAX_BYTES];

	put(buf, bytes, wire_varint_write(bytes, value));
}

static void put_zigzag(struct wire_buf *buf, int32_t value)
{
	put_varint(buf, (uint32_t)value << 1 ^ (value < 0 ? UINT32_MAX : 0));
}

static void put_str(struct wire_buf *buf, struct wire_str s)
{
	const uint8_t len[2] = {(uint8_t)s.len, (uint8_t)(s.len >> 8)};

	put(buf, len, sizeof(len));
	put(buf, s.data, s.len);
}

void wire_encode_inline_count(struct wire_buf *buf, uint32_t n)
{
	put_varint(buf, n);
}

void wire_encode_inline_method(struct wire_buf *buf, const struct wire_method *method,
			       const struct wire_line *lines)
{
	struct wire_line last = {0};

	put_varint(buf, method->id << 2 | method->how);
	if (method->how == WIRE_METHOD_KNOWN)
		return;
	if (method->how == WIRE_METHOD_NAMED) {
		put_str(buf, method->class_sig);
		put_str(buf, method->name);
		put_str(buf, method->sig);
		put_str(buf, method->source_file);
	}
	put_varint(buf, method->n_lines);
	for (uint32_t i = 0; i < method->n_lines; i++) {
		put_varint(buf, lines[i].bci - last.bci);
		put_zigzag(buf, (int32_t)(lines[i].line - last.line));
		last = lines[i];
	}
}

void wire_encode_inline_region(struct wire_buf *buf, const struct wire_region *region)
{
	put_varint(buf, region->size);
	put_varint(buf, region->depth);
	put_varint(buf, region->shared);
}

void wire_encode_inline_frame(struct wire_buf *buf, const struct wire_inline_frame *frame)
{
	put_varint(buf, frame->method);
	put_varint(buf, (uint32_t)(frame->bci + 1));
}
