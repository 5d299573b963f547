// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   bytes of UTF-8 <-> code points; text from outside -> text that is safe to show
 * units:   bytes, code points
 * threads: any
 * errors:  none; bad characters are replaced
 * source:  RFC 3629; Unicode 15 (23.1 controls, 9 bidirectional, 23.7 non-characters), XML 1.0
 *          section 2.2 (Char)
 *
 * Harmful characters are control characters, marks that change the direction of text, separators of
 * lines and paragraphs, the byte order mark, and non-characters. Bytes that encode a surrogate, a
 * character in a longer form than needed, or a number above U+10FFFF are not UTF-8. A harmful
 * character, or a byte that is not UTF-8, is bad. Java's modified UTF-8 is another encoding, see
 * code/java_text.h.
 */
#ifndef FG_BASE_UTF8_H
#define FG_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UTF8_MAX_BYTES	 4
#define UTF8_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

#define UTF8_BAD UINT32_MAX

/*
 * Decodes the character at the begin of text, and returns the character's length in bytes; 0 if len
 * is 0. *ret is UTF8_BAD for a harmful character, and for one byte that is not UTF-8.
 */
size_t utf8_next(const char *text, size_t len, uint32_t *ret);
/* Returns the length in bytes; 0: code is no character. ret is not terminated. */
size_t utf8_encode(uint32_t code, char ret[UTF8_MAX_BYTES]);

bool utf8_is_harmful(uint32_t code);

/*
 * Copies text into ret of size bytes, terminated, with '?' for everything bad. A text that is too
 * long is cut between characters. ret may be text, or begin in front of text. Returns whether the
 * whole text had room.
 */
bool utf8_clean(const char *text, size_t len, char *ret, size_t size);

/*
 * The length at which a text of len bytes is to be cut so that it has at most max bytes. No
 * character is cut in half, unless the text is not UTF-8.
 */
size_t utf8_cut(const char *text, size_t len, size_t max);

/*
 * What a character is in ASCII, whatever the locale. Bytes of longer characters are none of it.
 */
static inline bool ascii_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool ascii_is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The value of a hexadecimal digit in lower case, as the kernel and engines write it; -1: none. */
static inline int ascii_hex_lower(char c)
{
	if (ascii_is_digit(c))
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The value of a hexadecimal digit; -1: none. */
static inline int ascii_hex(char c)
{
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : ascii_hex_lower(c);
}

#endif
