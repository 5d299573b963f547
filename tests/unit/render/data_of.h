// SPDX-License-Identifier: Apache-2.0
/* What the tests of SVG and HTML share: the data in a file, unpacked, and its numbers. */
#ifndef FG_TESTS_DATA_OF_H
#define FG_TESTS_DATA_OF_H

#include "profile_of.h"

#include <zlib.h>

/* Of what the fixture has drawn. */
#define HAS(text)   assert_non_null(strstr(fixture->drawn, (text)))
#define LACKS(text) assert_null(strstr(fixture->drawn, (text)))

struct data {
	unsigned char bytes[65536];
	size_t len;
	size_t at;
};

static inline void decode_base64(const char *text, unsigned char *out, size_t *ret_len)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint32_t bits = 0;
	unsigned count = 0;

	*ret_len = 0;
	for (; *text != '<'; text++) {
		const char *const digit = *text == '\n' ? NULL : strchr(digits, *text);

		if (!digit)
			continue;
		bits = bits << 6 | (uint32_t)(digit - digits);
		count += 6;
		if (count < 8)
			continue;
		count -= 8;
		out[(*ret_len)++] = (unsigned char)(bits >> count);
	}
}

/* The data behind the first open of text. */
static inline void unpack(const char *text, const char *open, struct data *data)
{
	static unsigned char packed[65536];
	uLongf len = sizeof(data->bytes);
	size_t packed_len;

	text = strstr(text, open);
	assert_non_null(text);
	decode_base64(text + strlen(open), packed, &packed_len);
	assert_int_equal(uncompress(data->bytes, &len, packed, packed_len), Z_OK);
	data->len = len;
	data->at = 0;
}

static inline uint64_t varint(struct data *data)
{
	uint64_t value = 0;

	for (unsigned shift = 0;; shift += 7) {
		assert_true(data->at < data->len);
		value |= (uint64_t)(data->bytes[data->at] & 127) << shift;
		if (data->bytes[data->at++] < 128)
			return value;
	}
}

static inline void check_varints(struct data *data, const uint64_t *expected, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_int_equal(varint(data), expected[i]);
}

#endif
