// SPDX-License-Identifier: Apache-2.0
/* A growing text, see bytes.h. */
#include "encode/bytes.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_SIZE 256u

static bool grow(struct bytes *bytes, size_t len)
{
	size_t size = bytes->size ? bytes->size : FIRST_SIZE;
	char *data;

	if (bytes->failed)
		return false;
	while (size - bytes->len <= len && size <= SIZE_MAX / 2)
		size *= 2;
	data = size - bytes->len > len ? realloc(bytes->data, size) : NULL;
	if (!data) {
		bytes->failed = true;
		return false;
	}
	bytes->data = data;
	bytes->size = size;
	return true;
}

/* Makes room for len more bytes and a terminator. */
static inline bool reserve(struct bytes *bytes, size_t len)
{
	return (!bytes->failed && len < bytes->size - bytes->len) || grow(bytes, len);
}

void bytes_add(struct bytes *bytes, const void *data, size_t len)
{
	if (len == 0 || !reserve(bytes, len))
		return;
	memcpy(bytes->data + bytes->len, data, len);
	bytes->len += len;
}

void bytes_add_char(struct bytes *bytes, char c)
{
	if (reserve(bytes, 1))
		bytes->data[bytes->len++] = c;
}

void bytes_add_varint(struct bytes *bytes, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		bytes_add_char(bytes, (char)(0x80 | (value & 0x7f)));
	bytes_add_char(bytes, (char)value);
}

const char *bytes_text(struct bytes *bytes)
{
	if (!reserve(bytes, 0))
		return "";
	bytes->data[bytes->len] = '\0';
	return bytes->data;
}

void bytes_fini(struct bytes *bytes)
{
	free(bytes->data);
	*bytes = (struct bytes){0};
}
