// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   names from outside -> text that is safe to write
 * units:   bytes of UTF-8, code points
 * threads: any
 * errors:  none; characters that are not allowed are replaced
 * source:  XML 1.0 section 2.4 (markup)
 *
 * Characters that base/utf8.h calls bad are not allowed. Each of them is replaced by one mark.
 */
#ifndef FG_ENCODE_TEXT_H
#define FG_ENCODE_TEXT_H

#include "base/utf8.h"
#include "encode/bytes.h"

#include <stdint.h>
#include <stdio.h>

#define TEXT_END 0u
#define TEXT_BAD UTF8_BAD

/*
 * The next code point of *text, which is moved behind it; TEXT_END at the end, TEXT_BAD for one
 * that is not allowed.
 */
uint32_t text_next(const char **text);

/* Adds text to out, with mark for everything that is not allowed. */
void text_clean(struct bytes *out, const char *text, const char *mark);

/*
 * Writes text with U+FFFD as the mark and with markup escaped, for XML content and quoted
 * attributes.
 */
void text_write_xml(FILE *stream, const char *text);
/* The same, to the end of out. */
void text_add_xml(struct bytes *out, const char *text);

#endif
