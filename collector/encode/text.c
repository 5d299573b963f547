// SPDX-License-Identifier: Apache-2.0
/* Walks over texts that end with NUL, see text.h. */
#include "encode/text.h"

#include <string.h>

uint32_t text_next(const char **text)
{
	uint32_t code;

	if (**text == '\0')
		return TEXT_END;
	*text += utf8_next(*text, strnlen(*text, UTF8_MAX_BYTES), &code);
	return code;
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
		return UTF8_REPLACEMENT;
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
	const char *run = text; /* start of the text that is written unchanged */

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
