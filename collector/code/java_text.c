// SPDX-License-Identifier: Apache-2.0
/*
 * Converts texts from JVMTI, see java_text.h. Modified UTF-8 differs from UTF-8 in two
 * ways: NUL is C0 80, and a character beyond U+FFFF is two surrogates of three bytes each,
 * ED A0..AF 80..BF and ED B0..BF 80..BF. Any other encoding that is longer than needed is neither
 * UTF-8 nor modified UTF-8.
 */
#include "code/java_text.h"

#include "base/utf8.h"

#include <stdbool.h>
#include <stdint.h>

static bool is_tail(unsigned char c)
{
	return (c & 0xc0) == 0x80;
}

/* Reads the UTF-16 unit at p and returns its length in bytes, or 0 if no unit is there. */
static size_t unit_at(const unsigned char *p, size_t left, uint32_t *ret)
{
	if (p[0] < 0x80) {
		*ret = p[0];
		return 1;
	}
	if (left >= 2 && (p[0] & 0xe0) == 0xc0 && is_tail(p[1])) {
		*ret = (uint32_t)(p[0] & 0x1f) << 6 | (p[1] & 0x3f);
		return *ret == 0 || *ret >= 0x80 ? 2 : 0;
	}
	if (left >= 3 && (p[0] & 0xf0) == 0xe0 && is_tail(p[1]) && is_tail(p[2])) {
		*ret = (uint32_t)(p[0] & 0x0f) << 12 | (uint32_t)(p[1] & 0x3f) << 6 | (p[2] & 0x3f);
		return *ret >= 0x800 ? 3 : 0;
	}
	return 0;
}

size_t java_text_to_utf8(const char *text, size_t len, char *ret)
{
	const unsigned char *p = (const unsigned char *)text, *end = p + len;
	char *out = ret;

	while (p < end) {
		uint32_t c = 0, low = 0;
		const size_t n = unit_at(p, (size_t)(end - p), &c);

		p += n ? n : 1;
		if (n == 0)
			c = '?';
		if (c >= 0xd800 && c < 0xdc00 && p < end &&
		    unit_at(p, (size_t)(end - p), &low) == 3 && low >= 0xdc00 && low < 0xe000) {
			c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
			p += 3;
		} else if (c >= 0xd800 && c < 0xe000) {
			c = '?';
		}
		out += utf8_encode(c ? c : '?', out);
	}
	return (size_t)(out - ret);
}

/* The UTF-8 character of four bytes at p, or 0. */
static uint32_t long_at(const unsigned char *p, size_t left)
{
	if (left < 4 || (p[0] & 0xf8) != 0xf0 || !is_tail(p[1]) || !is_tail(p[2]) || !is_tail(p[3]))
		return 0;
	return (uint32_t)(p[0] & 0x07) << 18 | (uint32_t)(p[1] & 0x3f) << 12 |
	       (uint32_t)(p[2] & 0x3f) << 6 | (p[3] & 0x3f);
}

static void put_unit(uint32_t unit, char *ret)
{
	ret[0] = (char)(0xe0 | unit >> 12);
	ret[1] = (char)(0x80 | (unit >> 6 & 0x3f));
	ret[2] = (char)(0x80 | (unit & 0x3f));
}

size_t java_text_from_utf8(const char *text, size_t len, char *ret, size_t size)
{
	const unsigned char *p = (const unsigned char *)text, *const end = p + len;
	size_t n = 0;

	while (p < end) {
		const uint32_t c = long_at(p, (size_t)(end - p));
		const bool is_pair = c >= 0x10000 && c < 0x110000;

		if (size - n < (is_pair ? 6 : 1))
			break;
		if (is_pair) {
			put_unit(0xd800 + ((c - 0x10000) >> 10), ret + n);
			put_unit(0xdc00 + ((c - 0x10000) & 0x3ff), ret + n + 3);
		} else {
			ret[n] = (char)*p;
		}
		n += is_pair ? 6 : 1;
		p += is_pair ? 4 : 1;
	}
	return n;
}

void java_text_strip_class(const char **text, size_t *len)
{
	if (*len >= 2 && (*text)[0] == 'L' && (*text)[*len - 1] == ';') {
		++*text;
		*len -= 2;
	}
}
