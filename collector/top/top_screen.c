// SPDX-License-Identifier: Apache-2.0
/*
 * The terminal, see top_screen.h:
 *
 *   what is sampled, and how             summary
 *   the samples' quality                 quality
 *   what the rows are                    state, or the filter that is being typed
 *   heads of columns
 *   rows
 *   keys, or the last error              footer
 *
 * In a window of few lines, the lines above and below the rows are left out first.
 */
#include "top/top_screen.h"

#include "base/log.h"
#include "lazy/lazy_ncurses.h"
#include "top/top_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ESCAPE_MS	 25 /* wait for the other bytes of a key */
#define LINES_FOR_ALL	 8
#define LINES_FOR_HEAD	 4
#define LINES_FOR_FOOTER 6

enum {
	PAIR_NONE,
	PAIR_JAVA,
	PAIR_INLINED,
	PAIR_JVM,
	PAIR_NATIVE,
	PAIR_KERNEL,
	PAIR_BAD,
	PAIR_WAIT,
	PAIR_CLASS,
};

static const char *const help[] = {
	"fgcollect top: what code runs, in the last seconds",
	"",
	"  SELF%   samples taken in the method itself",
	"  TOTAL%  samples that had it on the stack",
	"  CORES   processor time in it, in cores (wide windows)",
	"",
	"  q          quit                     p, space   pause, and go on",
	"  up, down   move                     page up, page down, home, end",
	"  enter      show who calls it; of a thread or JVM: its methods",
	"  left, right  close, open            C          close all",
	"  esc        back to all, then without the filter",
	"  /          filter by a regular expression; enter keeps it, esc does not",
	"  s, < >     sort by self, total, name, JVM",
	"  r          reverse",
	"  t          threads and back         j          JVMs and back",
	"  m          methods                  h, ?       this help",
	"  i          idle threads, and without them (recordings of time)",
	"",
	"  any key goes on",
};

static SCREEN *screen;
static bool has_colours;

static void init_colours(void)
{
	const char *no = getenv("NO_COLOR");

	has_colours = has_colors() && !(no && *no) && start_color() == OK;
	if (!has_colours)
		return;
	use_default_colors();
	init_pair(PAIR_JAVA, COLOR_GREEN, -1);
	init_pair(PAIR_INLINED, COLOR_CYAN, -1);
	init_pair(PAIR_JVM, COLOR_YELLOW, -1);
	init_pair(PAIR_NATIVE, COLOR_RED, -1);
	init_pair(PAIR_KERNEL, COLOR_MAGENTA, -1);
	init_pair(PAIR_BAD, COLOR_RED, -1);
	init_pair(PAIR_WAIT, COLOR_BLUE, -1);
	init_pair(PAIR_CLASS, COLOR_CYAN, -1);
}

/* Whether the terminal can place the cursor. Without that no screen can be drawn. */
static bool can_place_cursor(void)
{
	int problem;

	if (setupterm(NULL, STDOUT_FILENO, &problem) != OK)
		return false;
	return cursor_address && cursor_address != (char *)-1;
}

int top_screen_open(void)
{
	const char *why;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return -ENOTTY;
	why = lazy_ncurses_load();
	if (why) {
		log_warning("there is no screen: %s", why);
		return -ELIBACC;
	}
	if (!can_place_cursor())
		return -EOPNOTSUPP;
	screen = newterm(NULL, stdout, stdin);
	if (!screen)
		return -EOPNOTSUPP;
	set_term(screen);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(ESCAPE_MS);
	curs_set(0);
	init_colours();
	return 0;
}

void top_screen_close(void)
{
	if (!screen)
		return;
	endwin();
	delscreen(screen);
	screen = NULL;
}

/* How many lines above the rows the window has room for. */
static int lines_above(void)
{
	if (LINES >= LINES_FOR_ALL)
		return 4;
	return LINES >= LINES_FOR_HEAD ? 1 : 0;
}

static int lines_below(void)
{
	return LINES >= LINES_FOR_FOOTER ? 1 : 0;
}

size_t top_screen_page(void)
{
	const int rows = LINES - lines_above() - lines_below();

	return rows > 0 ? (size_t)rows : 1;
}

static uint32_t key_of(wint_t code)
{
	static const struct {
		wint_t code;
		uint32_t key;
	} keys[] = {
		{KEY_UP, TOP_KEY_UP},	      {KEY_DOWN, TOP_KEY_DOWN},
		{KEY_LEFT, TOP_KEY_LEFT},     {KEY_RIGHT, TOP_KEY_RIGHT},
		{KEY_PPAGE, TOP_KEY_PAGE_UP}, {KEY_NPAGE, TOP_KEY_PAGE_DOWN},
		{KEY_HOME, TOP_KEY_HOME},     {KEY_END, TOP_KEY_END},
		{KEY_ENTER, TOP_KEY_ENTER},   {KEY_BACKSPACE, TOP_KEY_BACKSPACE},
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (keys[i].code == code)
			return keys[i].key;
	}
	return TOP_KEY_NONE;
}

static uint32_t key_of_character(wint_t code)
{
	switch (code) {
	case '\r':
	case '\n':
		return TOP_KEY_ENTER;
	case 0x1b:
		return TOP_KEY_ESCAPE;
	case 0x08:
	case 0x7f:
		return TOP_KEY_BACKSPACE;
	default:
		return code;
	}
}

uint32_t top_screen_key(bool *ret_is_resized)
{
	uint32_t key = TOP_KEY_NONE;
	wint_t code;

	/*
	 * Keys without a meaning are skipped, because TOP_KEY_NONE would mean that no more keys
	 * wait.
	 */
	while (key == TOP_KEY_NONE) {
		const int what = get_wch(&code);

		if (what == ERR)
			break;
		if (what == OK)
			key = key_of_character(code);
		else if (code == KEY_RESIZE)
			*ret_is_resized = true;
		else
			key = key_of(code);
	}
	return key;
}

static int colour_of(enum frame_kind kind)
{
	switch (kind) {
	case FRAME_INTERPRETED:
	case FRAME_C1:
	case FRAME_JIT:
	case FRAME_NATIVE_WRAPPER:
	case FRAME_JAVA:
		return PAIR_JAVA;
	case FRAME_INLINED:
	case FRAME_NATIVE_INLINED:
		return PAIR_INLINED;
	case FRAME_JVM:
	case FRAME_STUB:
		return PAIR_JVM;
	case FRAME_NATIVE:
		return PAIR_NATIVE;
	case FRAME_KERNEL:
		return PAIR_KERNEL;
	case FRAME_UNKNOWN:
		return PAIR_BAD;
	case FRAME_WAIT:
		return PAIR_WAIT;
	case FRAME_CLASS:
		return PAIR_CLASS;
	default:
		return PAIR_NONE;
	}
}

static void paint_text(int y, const char *text, int attributes)
{
	struct bytes line = {0};

	top_text_fit(text, (unsigned)COLS, (attributes & (int)A_REVERSE) != 0, &line);
	attron(attributes);
	mvaddstr(y, 0, bytes_text(&line));
	attroff(attributes);
	bytes_fini(&line);
}

static enum frame_kind kind_of_row(const struct top_view *view, const struct top_row *row)
{
	if (view->mode == TOP_METHODS)
		return row->kind;
	return row->best == TOP_NONE ? FRAME_LABEL
				     : top_method_kind(&view->table.methods[row->best]);
}

static void paint_row(int y, const struct top_view *view, size_t number, struct bytes *line)
{
	const struct top_row *row = &view->rows[number];
	const bool is_current = number == view->cursor;
	const size_t name_at = top_line_row(view, row, (unsigned)COLS, line);
	const attr_t colour =
		has_colours ? (attr_t)COLOR_PAIR(colour_of(kind_of_row(view, row))) : A_NORMAL;
	const char *text = bytes_text(line);

	if (is_current) {
		paint_text(y, text, (int)A_REVERSE);
		return;
	}
	mvaddnstr(y, 0, text, (int)name_at);
	attron(colour);
	addstr(text + (name_at < line->len ? name_at : line->len));
	attroff(colour);
}

static void paint_above(const struct top_view *view, const struct top_facts *facts,
			struct bytes *line)
{
	const int above = lines_above();

	if (above == 4) {
		paint_text(0, facts->summary, (int)A_BOLD);
		paint_text(1, facts->quality, (int)A_NORMAL);
		top_line_state(view, (unsigned)COLS, line);
		paint_text(2, bytes_text(line), (int)A_NORMAL);
	}
	if (above > 0) {
		top_line_head(view, (unsigned)COLS, line);
		paint_text(above - 1, bytes_text(line), (int)A_REVERSE);
	}
}

static void paint_footer(const struct top_view *view)
{
	char text[TOP_FILTER_BYTES + TOP_NOTE_BYTES + 32];

	if (view->has_prompt)
		snprintf(text, sizeof(text), "filter: %s_%s%s", view->filter,
			 view->note[0] ? "   " : "", view->note);
	else
		snprintf(text, sizeof(text), "%s",
			 view->note[0] ? view->note
				       : "q quit  h help  p pause  / filter  s sort  t threads  j "
					 "JVMs  enter callers");
	paint_text(LINES - 1, text, view->has_prompt ? (int)A_BOLD : (int)A_DIM);
}

static void paint_help(void)
{
	const int n = (int)(sizeof(help) / sizeof(help[0]));

	for (int i = 0; i < n && i < LINES; i++)
		paint_text(i, help[i], i == 0 ? (int)A_BOLD : (int)A_NORMAL);
}

void top_screen_paint(const struct top_view *view, const struct top_facts *facts)
{
	const size_t page = top_screen_page();
	struct bytes line = {0};

	erase();
	if (view->has_help) {
		paint_help();
	} else {
		paint_above(view, facts, &line);
		for (size_t i = 0; i < page && view->first + i < view->n_rows; i++)
			paint_row(lines_above() + (int)i, view, view->first + i, &line);
		if (lines_below() > 0)
			paint_footer(view);
	}
	refresh();
	bytes_fini(&line);
}
