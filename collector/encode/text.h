// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   names from outside -> text that is safe to write
 * units:   bytes of UTF-8, code points
 * threads: any
 * errors:  none; what must not be written is replaced
 * source:  XML 1.0 section 2.4 (markup)
 *
 * What must not be written is what base/utf8.h calls bad: each of that becomes one mark.
 */
#ifndef FG_ENCODE_TEXT_H
#define FG_ENCODE_TEXT_H

#include "base/utf8.h"
#include "encode/bytes.h"

#include <stdint.h>
#include <stdio.h>

#define TEXT_END 0u
#define TEXT_BAD UTF8_BAD

/* The next code point of *text, which is moved past it; TEXT_BAD for what must not be written. */
uint32_t text_next(const char **text);

/* text with mark for everything bad. */
void text_clean(struct bytes *out, const char *text, const char *mark);

/* As text_clean with U+FFFD, and markup escaped; fit for XML content and quoted attributes. */
void text_write_xml(FILE *stream, const char *text);

#endif
