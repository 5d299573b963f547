// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   rows of the view -> lines of text
 * units:   columns of a terminal; a wide character takes two
 * threads: the one whose locale says what can be printed
 * errors:  kept in the bytes
 * source:  wcwidth(3), Unicode as encode/text.h
 *
 * A line contains only text of the locale's character set, as far as that is known. Control
 * characters, marks that change the direction of text, and characters without a width become '?'.
 */
#ifndef FG_TOP_TOP_LINES_H
#define FG_TOP_TOP_LINES_H

#include "encode/bytes.h"
#include "top/top_view.h"

#include <stddef.h>

#define TOP_ANY_WIDTH 100000u /* only the columns are cut */

/* Writes the heads of the columns. */
void top_line_head(const struct top_view *view, unsigned width, struct bytes *out);
/* Writes a row. Returns the position of the name in the line, in bytes. */
size_t top_line_row(const struct top_view *view, const struct top_row *row, unsigned width,
		    struct bytes *out);
/*
 * Writes what is shown: "methods by self: 345, 12 match /foo/ with 12.3 %", and the thread or
 * process, if one is chosen.
 */
void top_line_state(const struct top_view *view, unsigned width, struct bytes *out);

/*
 * Adds text, cut to width and, if pads, filled up to it with spaces. Returns the columns that it
 * takes.
 */
unsigned top_text_fit(const char *text, unsigned width, bool pads, struct bytes *out);

#endif
