// SPDX-License-Identifier: Apache-2.0
/* Writes fields of protobuf messages, see proto_out.h. */
#include "push/proto_out.h"

#include <pb_encode.h>
#include <string.h>

static bool add(pb_ostream_t *stream, const pb_byte_t *data, size_t len)
{
	struct bytes *const out = stream->state;

	bytes_add(out, data, len);
	return !out->failed;
}

static pb_ostream_t stream_to(struct bytes *out)
{
	return (pb_ostream_t){add, out, SIZE_MAX, 0, NULL};
}

void proto_put_number(struct bytes *out, uint32_t field, uint64_t value)
{
	pb_ostream_t stream = stream_to(out);

	if (value &&
	    (!pb_encode_tag(&stream, PB_WT_VARINT, field) || !pb_encode_varint(&stream, value)))
		out->failed = true;
}

void proto_put_fixed64(struct bytes *out, uint32_t field, uint64_t value)
{
	pb_ostream_t stream = stream_to(out);

	if (value &&
	    (!pb_encode_tag(&stream, PB_WT_64BIT, field) || !pb_encode_fixed64(&stream, &value)))
		out->failed = true;
}

void proto_put_bytes(struct bytes *out, uint32_t field, const void *data, size_t len)
{
	pb_ostream_t stream = stream_to(out);

	if (!pb_encode_tag(&stream, PB_WT_STRING, field) ||
	    !pb_encode_varint(&stream, (uint64_t)len) || (len > 0 && !add(&stream, data, len)))
		out->failed = true;
}

void proto_put_text(struct bytes *out, uint32_t field, const char *text)
{
	proto_put_bytes(out, field, text, strlen(text));
}

void proto_put_message(struct bytes *out, uint32_t field, struct bytes *message)
{
	if (message->failed)
		out->failed = true;
	proto_put_bytes(out, field, message->data, message->len);
	message->len = 0;
}
