// SPDX-License-Identifier: Apache-2.0
/*
 * UTF-8, byte by byte:
 *   0xxxxxxx                             U+0000..U+007F
 *   110xxxxx 10xxxxxx                    U+0080..U+07FF
 *   1110xxxx 10xxxxxx 10xxxxxx           U+0800..U+FFFF without the surrogates D800..DFFF
 *   11110xxx 10xxxxxx 10xxxxxx 10xxxxxx  U+10000..U+10FFFF
 * Longer forms than needed are no UTF-8.
 */
#include "encode/text.h"

#include <string.h>

struct code_range {
	uint32_t first;
	uint32_t last;
};

static const struct code_range unwanted[] = {
	{0x0001, 0x001f}, /* controls */
	{0x007f, 0x009f}, /* DEL, controls */
	{0x061c, 0x061c}, /* Arabic letter mark */
	{0x200e, 0x200f}, /* direction marks */
	{0x2028, 0x202e}, /* separators, embeddings, overrides */
	{0x2066, 0x2069}, /* isolates */
	{0xd800, 0xdfff}, /* surrogates */
	{0xfdd0, 0xfdef}, /* non-characters */
};

static bool is_unwanted(uint32_t code)
{
	if ((code & 0xfffe) == 0xfffe)
		return true;
	for (size_t i = 0; i < sizeof(unwanted) / sizeof(*unwanted); i++)
		if (code >= unwanted[i].first && code <= unwanted[i].last)
			return true;
	return false;
}

uint32_t text_next(const char **text)
{
	static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
	const unsigned char *p = (const unsigned char *)*text;
	const int tail = *p < 0x80 ? 0 : *p < 0xc0 ? -1 : *p < 0xe0 ? 1 : *p < 0xf0 ? 2 : 3;
	uint32_t code;

	if (*p == '\0')
		return TEXT_END;
	(*text)++;
	if (tail == 0)
		return *p < 0x20 || *p == 0x7f ? TEXT_BAD : *p;
	if (tail < 0 || *p > 0xf4)
		return TEXT_BAD;
	code = *p & (0x3fu >> tail);
	for (int i = 1; i <= tail; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return TEXT_BAD;
		code = code << 6 | (p[i] & 0x3f);
	}
	if (code < least[tail] || code > 0x10ffff)
		return TEXT_BAD;
	*text = (const char *)p + 1 + tail;
	return is_unwanted(code) ? TEXT_BAD : code;
}

void text_clean(struct bytes *out, const char *text, const char *mark)
{
	for (const char *from = text;; from = text) {
		const uint32_t code = text_next(&text);

		if (code == TEXT_END)
			return;
		if (code == TEXT_BAD)
			bytes_add(out, mark, strlen(mark));
		else
			bytes_add(out, from, (size_t)(text - from));
	}
}

static const char *escape_of(uint32_t code)
{
	switch (code) {
	case TEXT_BAD:
		return "\xef\xbf\xbd"; /* U+FFFD */
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

void text_write_xml(FILE *stream, const char *text)
{
	const char *run = text; /* of what is written as it is */

	for (;;) {
		const char *const from = text;
		const uint32_t code = text_next(&text);
		const char *const escape = code == TEXT_END ? NULL : escape_of(code);

		if (code != TEXT_END && !escape)
			continue;
		if (from > run)
			fwrite(run, 1, (size_t)(from - run), stream);
		if (code == TEXT_END)
			return;
		fputs(escape, stream);
		run = text;
	}
}
