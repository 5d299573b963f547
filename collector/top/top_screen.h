// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the view -> a terminal; its keys -> code points and enum top_key
 * units:   columns and rows of the terminal
 * threads: one, of which there is one screen
 * errors:  -ENOTTY without a terminal, -EOPNOTSUPP if it cannot place the cursor
 * source:  ncurses(3x); no-color.org
 *
 * It paints and reads, and nothing else: what keys do is top_view.h's. Between open and close the
 * terminal is the screen's. ncurses gives it back when the process is stopped (SIGTSTP), and takes
 * it again, as large as it is then, when it goes on.
 */
#ifndef FG_TOP_TOP_SCREEN_H
#define FG_TOP_TOP_SCREEN_H

#include "top/top_print.h"
#include "top/top_view.h"

/* setlocale has been called. Colours unless NO_COLOR says otherwise, or there are none. */
int top_screen_open(void);
void top_screen_close(void); /* legal when it is not open */

/* Rows of the table that there is room for. */
size_t top_screen_page(void);
/* The next key that waits, or TOP_KEY_NONE; *ret_is_resized: the size has changed. */
uint32_t top_screen_key(bool *ret_is_resized);
void top_screen_paint(const struct top_view *view, const struct top_facts *facts);

#endif
