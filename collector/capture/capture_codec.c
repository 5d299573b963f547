// SPDX-License-Identifier: Apache-2.0
/* Encodes and decodes numbers, texts and bytes of a capture's records, see capture_codec.h. */
#include "capture/capture_codec.h"

#include "base/utf8.h"
#include "capture/capture_format.h"

#include <string.h>

const char *const capture_late[CAPTURE_LATE] = {"still loading", "put off",
						"its process does not answer",
						"too many open files", "out of memory"};

unsigned capture_late_of(const char *reason)
{
	for (unsigned i = 0; i < CAPTURE_LATE; i++) {
		if (strcmp(reason, capture_late[i]) == 0)
			return i;
	}
	return 0;
}

void capture_put_text(struct bytes *bytes, const char *text)
{
	size_t len = text ? strlen(text) : 0;

	if (len >= CAPTURE_MAX_TEXT)
		len = utf8_cut(text, len, CAPTURE_MAX_TEXT - 1);
	capture_put_data(bytes, text, len);
}

void capture_put_data(struct bytes *bytes, const void *data, size_t len)
{
	bytes_add_varint(bytes, len);
	bytes_add(bytes, data, len);
}

void capture_put_signed(struct bytes *bytes, int64_t value)
{
	/* cppcheck-suppress shiftTooManyBitsSigned ; gcc and clang shift the sign in */
	bytes_add_varint(bytes, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

static void fail(struct capture_cursor *cursor)
{
	cursor->failed = true;
	cursor->at = cursor->end;
}

uint64_t capture_get(struct capture_cursor *cursor)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t byte;

		if (cursor->at == cursor->end)
			break;
		byte = *cursor->at++;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	fail(cursor);
	return 0;
}

uint64_t capture_get_up_to(struct capture_cursor *cursor, uint64_t max)
{
	const uint64_t value = capture_get(cursor);

	if (value <= max)
		return value;
	fail(cursor);
	return 0;
}

int64_t capture_get_signed(struct capture_cursor *cursor)
{
	const uint64_t value = capture_get(cursor);

	return (int64_t)(value >> 1 ^ (0 - (value & 1)));
}

bool capture_get_bool(struct capture_cursor *cursor)
{
	return capture_get_up_to(cursor, 1) != 0;
}

const uint8_t *capture_get_data(struct capture_cursor *cursor, size_t max, size_t *ret_len)
{
	const size_t len = (size_t)capture_get_up_to(cursor, max);
	const uint8_t *data = cursor->at;

	*ret_len = 0;
	if (len > (size_t)(cursor->end - cursor->at)) {
		fail(cursor);
		return cursor->end;
	}
	cursor->at += len;
	*ret_len = len;
	return data;
}

void capture_get_text(struct capture_cursor *cursor, char *ret, size_t size)
{
	size_t len;
	const uint8_t *data = capture_get_data(cursor, size - 1, &len);

	if (memchr(data, '\0', len)) {
		fail(cursor);
		len = 0;
	}
	memcpy(ret, data, len);
	ret[len] = '\0';
}
