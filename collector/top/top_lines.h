// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   rows of the view -> lines of text
 * units:   columns of a terminal; wide characters take two
 * threads: one: the locale's, which says what can be printed
 * errors:  kept in the bytes
 * source:  wcwidth(3), Unicode as encode/text.h
 *
 * A line has no byte that is not text in the locale's character set, as far as it is known: what a
 * name has of controls, of marks that change the direction, or without a width, is '?'.
 */
#ifndef FG_TOP_TOP_LINES_H
#define FG_TOP_TOP_LINES_H

#include "encode/bytes.h"
#include "top/top_view.h"

#include <stddef.h>

#define TOP_ANY_WIDTH 100000u /* nothing is cut but what stands in columns */

/* The heads of the columns. */
void top_line_head(const struct top_view *view, unsigned width, struct bytes *out);
/* Returns the byte at which the name begins, in bytes of this line. */
size_t top_line_row(const struct top_view *view, const struct top_row *row, unsigned width,
		    struct bytes *out);
/* "methods by self: 345, 12 match /foo/ with 12.3 %", and whose, if not of all */
void top_line_state(const struct top_view *view, unsigned width, struct bytes *out);

/* text cut to width; with pad, filled up to it with spaces. Returns the columns it takes. */
unsigned top_text_fit(const char *text, unsigned width, bool pads, struct bytes *out);

#endif
