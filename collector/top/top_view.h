// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a window's samples, and keys -> the rows that are on the screen
 * units:   samples; rows from 0
 * threads: one
 * errors:  -ENOMEM: the rows of before are gone, there are none
 * source:  the keys that users of top, htop and perf top know
 *
 * No terminal is in it: keys are code points or one of enum top_key, and rows are painted by
 * whoever likes. Life cycle: init, then show whenever there are new samples (but not while it
 * is_paused), key whenever there was one, fini. What is open, chosen and under the cursor is
 * remembered by names and PIDs, so that it stays when shares change.
 */
#ifndef FG_TOP_TOP_VIEW_H
#define FG_TOP_TOP_VIEW_H

#include "top/top_table.h"

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TOP_MAX_OPEN	 256u /* rows whose callers are shown */
#define TOP_MAX_DEPTH	 128u /* of callers of callers */
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
	uint64_t key;	  /* the same for the same thing in every window */
	const char *name; /* not clean; lives as long as what was shown */
	uint64_t self, total;
	uint32_t process, thread; /* numbers in the timeline; thread TOP_NONE if of a process */
	uint32_t best;		  /* of a thread or process: its hottest method, or TOP_NONE */
	uint32_t depth;		  /* of a caller: from 1 */
	enum frame_kind kind;	  /* of a method */
	bool is_open;
};

struct top_view {
	enum top_mode mode;
	enum top_sort sort;
	bool is_reversed, is_paused, has_help, is_done;
	bool has_prompt; /* the filter is being typed */
	struct top_choice choice;
	char filter[TOP_FILTER_BYTES], old_filter[TOP_FILTER_BYTES];
	char note[TOP_NOTE_BYTES]; /* what went wrong with the last key, or "" */
	struct top_table table;
	struct top_row *rows;
	size_t n_rows, rows_size;
	size_t n_own;		/* rows that are no callers, before the filter */
	size_t n_matching;	/* and behind it */
	uint64_t matching_self; /* samples */
	size_t cursor, first;	/* first: at the top of the screen */
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

/* Borrows both until the next show or fini. */
int top_view_show(struct top_view *view, const struct profile *profile,
		  const struct timeline *timeline);
/* page: rows on the screen. */
int top_view_key(struct top_view *view, uint32_t key, size_t page);
/* -EINVAL with a note of what is wrong; "" is none. */
int top_view_set_filter(struct top_view *view, const char *text);
/* Moves first so that the cursor is among page rows. */
void top_view_scroll(struct top_view *view, size_t page);

const char *top_mode_word(enum top_mode mode);
const char *top_sort_word(enum top_sort sort);

#endif
