// SPDX-License-Identifier: Apache-2.0
/*
 * The bounded buffer between the JVM's callbacks and the socket. See buffer.h for its two runs:
 *
 *   0         second        begin            end      size
 *   | run two |    free     | run one        |  free  |
 */
#include "buffer.h"

#include "shared/wire.h"

void buffer_init(struct buffer *buffer, void *data, size_t size)
{
	*buffer = (struct buffer){.data = data, .size = data ? size : 0};
}

void buffer_resize(struct buffer *buffer, size_t size)
{
	buffer->size = size;
}

static bool fits(size_t bytes, size_t used, size_t limit)
{
	return used <= limit && bytes <= limit - used;
}

uint8_t *buffer_reserve(const struct buffer *buffer, size_t bytes)
{
	const size_t limit = buffer->begin < buffer->size ? buffer->begin : buffer->size;

	if (buffer->second == 0 && fits(bytes, buffer->end, buffer->size))
		return buffer->data + buffer->end;
	if (fits(bytes, buffer->second, limit))
		return buffer->data + buffer->second;
	return NULL;
}

void buffer_commit(struct buffer *buffer, const uint8_t *reserved, size_t bytes)
{
	if (reserved == buffer->data + buffer->end && buffer->second == 0)
		buffer->end += bytes;
	else
		buffer->second += bytes;
	buffer->n_records++;
}

static size_t record_bytes(const uint8_t *record)
{
	return WIRE_RECORD_HEADER_BYTES + ((size_t)record[4] | (size_t)record[5] << 8 |
					   (size_t)record[6] << 16 | (size_t)record[7] << 24);
}

size_t buffer_peek(const struct buffer *buffer, size_t max, const uint8_t **ret)
{
	const size_t available = buffer->end - buffer->begin;
	const uint8_t *run = available > 0 ? buffer->data + buffer->begin : NULL;
	size_t len = 0;

	while (len < available) {
		const size_t next = record_bytes(run + len);

		if (len > 0 && len + next > max)
			break;
		len += next;
	}
	*ret = run;
	return len;
}

void buffer_consume(struct buffer *buffer, size_t bytes)
{
	while (bytes > 0) {
		const size_t record = record_bytes(buffer->data + buffer->begin);

		buffer->begin += record;
		bytes -= record;
		buffer->n_records--;
	}
	if (buffer->begin == buffer->end) {
		buffer->begin = 0;
		buffer->end = buffer->second;
		buffer->second = 0;
	}
}

size_t buffer_used_end(const struct buffer *buffer)
{
	return buffer->end > buffer->second ? buffer->end : buffer->second;
}

size_t buffer_used_bytes(const struct buffer *buffer)
{
	return buffer->end - buffer->begin + buffer->second;
}
