// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the view -> a terminal; the terminal's keys -> code points and enum top_key
 * units:   columns and rows of the terminal
 * threads: one: a process has one screen
 * errors:  -ENOTTY: no terminal; -EOPNOTSUPP: the terminal cannot place the cursor
 * source:  ncurses(3x); no-color.org
 *
 * The screen paints the view and reads keys; top_view.h says what keys do. Between open and close
 * the terminal belongs to the screen. When the process is stopped (SIGTSTP), ncurses gives the
 * terminal back; when the process goes on, ncurses takes the terminal again, in its current size.
 */
#ifndef FG_TOP_TOP_SCREEN_H
#define FG_TOP_TOP_SCREEN_H

#include "top/top_print.h"
#include "top/top_view.h"

/* Call setlocale before. Uses colours unless NO_COLOR is set or the terminal has none. */
int top_screen_open(void);
void top_screen_close(void); /* legal when it is not open */

/* Number of the table's rows that fit the screen. */
size_t top_screen_page(void);
/* The next key, or TOP_KEY_NONE. *ret_is_resized: the terminal's size has changed. */
uint32_t top_screen_key(bool *ret_is_resized);
void top_screen_paint(const struct top_view *view, const struct top_facts *facts);

#endif
