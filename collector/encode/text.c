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

/* Most text is ASCII that is allowed: the length of the beginning that is. */
static size_t ascii_len(const char *text)
{
	size_t len = 0;

	while (text[len] >= ' ' && text[len] <= '~')
		len++;
	return len;
}

void text_clean(struct bytes *out, const char *text, const char *mark)
{
	for (;;) {
		const size_t len = ascii_len(text);
		const char *const from = text + len;
		uint32_t code;

		bytes_add(out, text, len);
		text = from;
		code = text_next(&text);
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

static bool is_plain(unsigned char c)
{
	return c >= ' ' && c <= '~' && c != '&' && c != '<' && c != '>' && c != '"' && c != '\'';
}

/*
 * Returns the end of what is written unchanged. *ret_escape is what is written in place of the text
 * from there to *ret_next; NULL: the text ends.
 */
static const char *find_escape(const char *text, const char **ret_escape, const char **ret_next)
{
	for (;;) {
		const char *from;
		uint32_t code;

		while (is_plain((unsigned char)*text))
			text++;
		from = text;
		code = text_next(&text);
		*ret_escape = code == TEXT_END ? NULL : escape_of(code);
		*ret_next = text;
		if (code == TEXT_END || *ret_escape)
			return from;
	}
}

void text_write_xml(FILE *stream, const char *text)
{
	const char *escape, *next;

	for (;; text = next) {
		const char *const end = find_escape(text, &escape, &next);

		if (end > text)
			fwrite(text, 1, (size_t)(end - text), stream);
		if (!escape)
			return;
		fputs(escape, stream);
	}
}

void text_add_xml(struct bytes *out, const char *text)
{
	const char *escape, *next;

	for (;; text = next) {
		const char *const end = find_escape(text, &escape, &next);

		bytes_add(out, text, (size_t)(end - text));
		if (!escape)
			return;
		bytes_add_text(out, escape);
	}
}
