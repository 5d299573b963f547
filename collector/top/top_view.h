// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the samples of a window, and keys -> the rows of the screen
 * units:   samples; rows from 0
 * threads: one
 * errors:  -ENOMEM: there are no rows
 * source:  the keys of top, htop and perf top
 *
 * The view knows no terminal: keys are code points or values of enum top_key, and other code paints
 * the rows. Life cycle: top_view_init, then top_view_show for new samples (not while is_paused) and
 * top_view_key for each key, then top_view_fini. Open rows, the chosen process and the cursor are
 * remembered by names and PIDs, so that they stay when shares change.
 */
#ifndef FG_TOP_TOP_VIEW_H
#define FG_TOP_TOP_VIEW_H

#include "top/top_table.h"

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TOP_MAX_OPEN	 256u /* open rows, whose callers are shown */
#define TOP_MAX_DEPTH	 128u /* levels of callers */
#define TOP_FILTER_BYTES 128u
#define TOP_NOTE_BYTES	 160u

enum top_mode { TOP_METHODS, TOP_THREADS, TOP_PROCESSES, TOP_MODES };
enum top_sort { TOP_BY_SELF, TOP_BY_TOTAL, TOP_BY_NAME, TOP_BY_PROCESS, TOP_SORTS };

enum top_key {
	TOP_KEY_NONE = 0,
	TOP_KEY_UP = 0x110000, /* above all code points */
	TOP_KEY_DOWN,
	TOP_KEY_LEFT,
	TOP_KEY_RIGHT,
	TOP_KEY_PAGE_UP,
	TOP_KEY_PAGE_DOWN,
	TOP_KEY_HOME,
	TOP_KEY_END,
	TOP_KEY_ENTER,
	TOP_KEY_ESCAPE,
	TOP_KEY_BACKSPACE,
};

struct top_row {
	uint64_t key;	  /* the same in every window for one method, thread, process or caller */
	const char *name; /* not clean; lives as long as the samples shown */
	uint64_t self, total;
	/* numbers in the timeline; thread is TOP_NONE for methods and processes */
	uint32_t process, thread;
	/* number of its method, or of the hottest method of a thread or process, or TOP_NONE */
	uint32_t best;
	uint32_t depth;	      /* 0; of a caller: its level, from 1 */
	enum frame_kind kind; /* of a method or caller */
	bool is_open;
};

struct top_view {
	enum top_mode mode;
	enum top_sort sort;
	bool is_reversed, is_paused, has_help, is_done;
	bool has_prompt; /* the filter is being typed */
	struct top_choice choice;
	char filter[TOP_FILTER_BYTES], old_filter[TOP_FILTER_BYTES];
	char note[TOP_NOTE_BYTES]; /* error of the last key, or "" */
	struct top_table table;
	struct top_row *rows;
	size_t n_rows, rows_size;
	size_t n_own;		/* rows other than callers, before the filter */
	size_t n_matching;	/* rows other than callers, after the filter */
	uint64_t matching_self; /* samples of these rows */
	size_t cursor, first;	/* first: the row at the top of the screen */
	double sample_cores;	/* the share of a core that one sample is; 0: not known */
	/* private */
	const struct profile *profile;
	const struct timeline *timeline;
	regex_t regex;
	bool has_regex;
	uint64_t seed, cursor_key;
	uint64_t open[TOP_MAX_OPEN];
	size_t n_open;
};

void top_view_init(struct top_view *view);
void top_view_fini(struct top_view *view);

/* Shows new samples. Borrows profile and timeline until the next top_view_show or top_view_fini. */
int top_view_show(struct top_view *view, const struct profile *profile,
		  const struct timeline *timeline);
/* Does what a key means. page: number of rows on the screen. */
int top_view_key(struct top_view *view, uint32_t key, size_t page);
/*
 * Sets the filter, a regular expression; "": no filter. -EINVAL: it does not parse, and note says
 * why.
 */
int top_view_set_filter(struct top_view *view, const char *text);
/* Moves first so that the cursor is among the page rows from first on. */
void top_view_scroll(struct top_view *view, size_t page);

const char *top_mode_word(enum top_mode mode);
const char *top_sort_word(enum top_sort sort);

#endif
