// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   bytes of UTF-8 <-> code points; text from outside -> text that is safe to show
 * units:   bytes, code points
 * threads: any
 * errors:  none; what must not be shown is replaced
 * source:  RFC 3629; Unicode 15 (23.1 controls, 9 bidirectional, 23.7 non-characters), XML 1.0
 *          section 2.2 (Char)
 *
 * Harmful are control characters, the marks that reverse the order in which text is shown, line and
 * paragraph separators, the byte order mark, and non-characters. Surrogates, forms that are longer
 * than needed and what lies beyond U+10FFFF are no UTF-8. Java's own form of UTF-8 is another
 * encoding, see code/java_text.h.
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
 * The character that text begins with, and its length in bytes, 0 if len is. UTF8_BAD for what must
 * not be shown: a harmful character, or one byte that is no UTF-8.
 */
size_t utf8_next(const char *text, size_t len, uint32_t *ret);
/* Not terminated; the length, or 0 for what is no character. */
size_t utf8_encode(uint32_t code, char ret[UTF8_MAX_BYTES]);

bool utf8_is_harmful(uint32_t code);

/*
 * A harmful character, and every byte that is no UTF-8, becomes '?'; the text is cut at a whole
 * character. Into ret of size bytes, terminated; ret may be text, or begin before it. Returns
 * whether all of it had room.
 */
bool utf8_clean(const char *text, size_t len, char *ret, size_t size);

/*
 * How many bytes of a text of len bytes remain if it may have max: never half a character, unless
 * the text is no UTF-8.
 */
size_t utf8_cut(const char *text, size_t len, size_t max);

#endif
