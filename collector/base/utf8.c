// SPDX-License-Identifier: Apache-2.0
/*
 * UTF-8, byte by byte:
 *   0xxxxxxx                             U+0000..U+007F
 *   110xxxxx 10xxxxxx                    U+0080..U+07FF
 *   1110xxxx 10xxxxxx 10xxxxxx           U+0800..U+FFFF without the surrogates D800..DFFF
 *   11110xxx 10xxxxxx 10xxxxxx 10xxxxxx  U+10000..U+10FFFF
 * Longer forms than needed are no UTF-8.
 */
#include "base/utf8.h"

#include <string.h>

#define LAST_CODE 0x10ffffu

struct code_range {
	uint32_t first;
	uint32_t last;
};

static const struct code_range harmful[] = {
	{0x0000, 0x001f}, /* controls */
	{0x007f, 0x009f}, /* DEL, controls */
	{0x061c, 0x061c}, /* Arabic letter mark */
	{0x200e, 0x200f}, /* direction marks */
	{0x2028, 0x202e}, /* separators, embeddings, overrides */
	{0x2066, 0x2069}, /* isolates */
	{0xfdd0, 0xfdef}, /* non-characters, as are the last two codes of each plane */
	{0xfeff, 0xfeff}, /* byte order mark */
};

static bool is_surrogate(uint32_t code)
{
	return code >= 0xd800 && code < 0xe000;
}

bool utf8_is_harmful(uint32_t code)
{
	if ((code & 0xfffe) == 0xfffe)
		return true;
	for (size_t i = 0; i < sizeof(harmful) / sizeof(*harmful); i++)
		if (code >= harmful[i].first && code <= harmful[i].last)
			return true;
	return false;
}

/* The length of a character, told by its first byte; 0: no character begins with that byte. */
static size_t length_of(unsigned char first)
{
	if (first < 0x80)
		return 1;
	return first >> 5 == 0x06 ? 2 : first >> 4 == 0x0e ? 3 : first >> 3 == 0x1e ? 4 : 0;
}

/* Returns the length of the first character; 0: text is not UTF-8. */
static size_t decode(const char *text, size_t len, uint32_t *ret)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *const p = (const unsigned char *)text;
	const size_t n = length_of(*p);
	uint32_t code;

	if (n == 0 || n > len)
		return 0;
	code = n == 1 ? *p : *p & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (p[i] & 0x3f);
	}
	if (code < least[n] || code > LAST_CODE || is_surrogate(code))
		return 0;
	*ret = code;
	return n;
}

size_t utf8_next(const char *text, size_t len, uint32_t *ret)
{
	size_t n;

	*ret = UTF8_BAD;
	if (len == 0)
		return 0;
	if (*text >= ' ' && *text <= '~') { /* most text is ASCII */
		*ret = (uint32_t)*text;
		return 1;
	}
	n = decode(text, len, ret);
	if (n == 0 || utf8_is_harmful(*ret))
		*ret = UTF8_BAD;
	return n ? n : 1;
}

size_t utf8_encode(uint32_t code, char ret[UTF8_MAX_BYTES])
{
	static const unsigned char firsts[] = {0, 0, 0xc0, 0xe0, 0xf0};
	const size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

	if (code > LAST_CODE || is_surrogate(code))
		return 0;
	for (size_t i = n - 1; i > 0; i--, code >>= 6)
		ret[i] = (char)(0x80 | (code & 0x3f));
	ret[0] = (char)(firsts[n] | code);
	return n;
}

bool utf8_clean(const char *text, size_t len, char *ret, size_t size)
{
	size_t used = 0, at = 0;

	while (at < len) {
		uint32_t code;
		const size_t n = utf8_next(text + at, len - at, &code);
		const size_t needed = code == UTF8_BAD ? 1 : n;

		if (used + needed >= size)
			break;
		if (code == UTF8_BAD)
			ret[used] = '?';
		else
			memmove(ret + used, text + at, n);
		used += needed;
		at += n;
	}
	ret[used] = '\0';
	return at == len;
}

size_t utf8_cut(const char *text, size_t len, size_t max)
{
	size_t at = max;

	if (len <= max)
		return len;
	/*
	 * A character has at most three bytes behind its first. With more, the text is not UTF-8.
	 */
	for (int i = 0; i < 3 && at > 0 && ((unsigned char)text[at] & 0xc0) == 0x80; i++)
		at--;
	return ((unsigned char)text[at] & 0xc0) == 0x80 ? max : at;
}
