// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   ncurses and its terminfo -> its functions, for the screen of top
 * units:   as of the library
 * threads: any for load; otherwise as of the library
 * errors:  NULL, or why the library cannot be loaded
 * source:  ncurses
 *
 * In place of the library's own headers, see lazy/lazy_library.h. Four are variables, whose macros
 * stand for what the pointers point to.
 */
#ifndef FG_LAZY_LAZY_NCURSES_H
#define FG_LAZY_LAZY_NCURSES_H

#include "lazy/lazy_library.h"

#include <ncurses.h>
#include <term.h>

#define LAZY_NCURSES(X)                                                                            \
	X(COLS)                                                                                    \
	X(LINES)                                                                                   \
	X(cur_term)                                                                                \
	X(stdscr)                                                                                  \
	X(cbreak)                                                                                  \
	X(curs_set)                                                                                \
	X(delscreen)                                                                               \
	X(endwin)                                                                                  \
	X(has_colors)                                                                              \
	X(init_pair)                                                                               \
	X(keypad)                                                                                  \
	X(newterm)                                                                                 \
	X(nodelay)                                                                                 \
	X(noecho)                                                                                  \
	X(nonl)                                                                                    \
	X(set_escdelay)                                                                            \
	X(set_term)                                                                                \
	X(setupterm)                                                                               \
	X(start_color)                                                                             \
	X(use_default_colors)                                                                      \
	X(waddnstr)                                                                                \
	X(wattr_off)                                                                               \
	X(wattr_on)                                                                                \
	X(werase)                                                                                  \
	X(wget_wch)                                                                                \
	X(wmove)                                                                                   \
	X(wrefresh)

extern struct lazy_ncurses {
	LAZY_NCURSES(LAZY_MEMBER)
} lazy_ncurses;

/* Before the first use of any. */
const char *lazy_ncurses_load(void);

#define COLS		   (*lazy_ncurses.COLS)
#define LINES		   (*lazy_ncurses.LINES)
#define cur_term	   (*lazy_ncurses.cur_term)
#define stdscr		   (*lazy_ncurses.stdscr)
#define cbreak		   lazy_ncurses.cbreak
#define curs_set	   lazy_ncurses.curs_set
#define delscreen	   lazy_ncurses.delscreen
#define endwin		   lazy_ncurses.endwin
#define has_colors	   lazy_ncurses.has_colors
#define init_pair	   lazy_ncurses.init_pair
#define keypad		   lazy_ncurses.keypad
#define newterm		   lazy_ncurses.newterm
#define nodelay		   lazy_ncurses.nodelay
#define noecho		   lazy_ncurses.noecho
#define nonl		   lazy_ncurses.nonl
#define set_escdelay	   lazy_ncurses.set_escdelay
#define set_term	   lazy_ncurses.set_term
#define setupterm	   lazy_ncurses.setupterm
#define start_color	   lazy_ncurses.start_color
#define use_default_colors lazy_ncurses.use_default_colors
#define waddnstr	   lazy_ncurses.waddnstr
#define wattr_off	   lazy_ncurses.wattr_off
#define wattr_on	   lazy_ncurses.wattr_on
#define werase		   lazy_ncurses.werase
#define wget_wch	   lazy_ncurses.wget_wch
#define wmove		   lazy_ncurses.wmove
#define wrefresh	   lazy_ncurses.wrefresh

#endif
