// SPDX-License-Identifier: Apache-2.0
/* A growing text, see bytes.h. */
#include "encode/bytes.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

/* Makes room for len more bytes and a terminator. */
static inline bool reserve(struct bytes *bytes, size_t len)
{
	if (!bytes->failed)
		bytes->failed = len >= SIZE_MAX - bytes->len ||
				ARRAY_RESERVE(bytes->data, bytes->size, bytes->len + len + 1) < 0;
	return !bytes->failed;
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
