// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   names from outside -> text that is safe to write
 * units:   bytes of UTF-8, code points
 * threads: any
 * errors:  none; what must not be written is replaced
 * source:  Unicode 15 (3.9 UTF-8, 23.1 controls, 9 bidirectional), XML 1.0 section 2.2 (Char)
 *
 * Not written: bytes that are no UTF-8, control characters, non-characters, line and paragraph
 * separators, and the marks that reverse the order in which text is shown. Each becomes one mark.
 */
#ifndef FG_ENCODE_TEXT_H
#define FG_ENCODE_TEXT_H

#include "encode/bytes.h"

#include <stdint.h>
#include <stdio.h>

#define TEXT_END 0u
#define TEXT_BAD UINT32_MAX

/* The next code point of *text, which is moved past it; TEXT_BAD for what must not be written. */
uint32_t text_next(const char **text);

/* text with mark for everything bad. */
void text_clean(struct bytes *out, const char *text, const char *mark);

/* As text_clean with U+FFFD, and markup escaped; fit for XML content and quoted attributes. */
void text_write_xml(FILE *stream, const char *text);

#endif
