// SPDX-License-Identifier: Apache-2.0
/* The rows of the screen, and what keys do, see top_view.h. */
#include "top/top_view.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/utf8.h"
#include "top/top_callers.h"
#include "top/top_owner.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEED	   7
#define HOW_FILTER (REG_EXTENDED | REG_NOSUB | REG_ICASE)

static const char *const mode_words[] = {"methods", "threads", "jvms"};
static const char *const sort_words[] = {"self", "total", "name", "jvm"};

const char *top_mode_word(enum top_mode mode)
{
	return mode < TOP_MODES ? mode_words[mode] : NULL;
}

const char *top_sort_word(enum top_sort sort)
{
	return sort < TOP_SORTS ? sort_words[sort] : NULL;
}

void top_view_init(struct top_view *view)
{
	*view = (struct top_view){.seed = quick_hash_seed(SEED)};
}

void top_view_fini(struct top_view *view)
{
	top_table_fini(&view->table);
	free(view->rows);
	if (view->has_regex)
		regfree(&view->regex);
	*view = (struct top_view){0};
}

/* ---- rows ---- */

static uint64_t key_of(const struct top_view *view, uint64_t place, const char *name)
{
	return quick_hash_mix(view->seed, place, quick_hash_text(view->seed, name, strlen(name)));
}

static bool is_open(const struct top_view *view, uint64_t key)
{
	for (size_t i = 0; i < view->n_open; i++) {
		if (view->open[i] == key)
			return true;
	}
	return false;
}

static int add_row(struct top_view *view, const struct top_row *row)
{
	if (ARRAY_RESERVE(view->rows, view->rows_size, view->n_rows + 1) < 0)
		return -ENOMEM;
	view->rows[view->n_rows] = *row;
	view->rows[view->n_rows++].is_open = is_open(view, row->key);
	return 0;
}

static bool matches(const struct top_view *view, const struct top_row *row)
{
	const struct timeline_process *process = &view->timeline->processes[row->process];
	if (!view->has_regex || regexec(&view->regex, row->name, 0, NULL, 0) == 0)
		return true;
	return view->mode == TOP_PROCESSES && top_owner_matches(process, &view->regex);
}

static int add_own_row(struct top_view *view, const struct top_row *row)
{
	view->n_own++;
	if (!matches(view, row))
		return 0;
	view->n_matching++;
	view->matching_self += row->self;
	return add_row(view, row);
}

static int add_methods(struct top_view *view)
{
	const struct top_table *table = &view->table;
	int err = 0;

	for (uint32_t i = 0; !err && i < table->n_methods; i++) {
		const struct top_method *method = &table->methods[i];
		const pid_t pid = view->timeline->processes[method->process].pid;
		const struct top_row row = {
			.key = key_of(view, (uint64_t)pid << 8, method->name),
			.name = method->name,
			.self = method->self,
			.total = method->total,
			.process = method->process,
			.thread = TOP_NONE,
			.best = i,
			.kind = top_method_kind(method),
		};

		err = add_own_row(view, &row);
	}
	return err;
}

static int add_threads(struct top_view *view)
{
	const struct timeline *timeline = view->timeline;
	int err = 0;

	for (uint32_t i = 0; !err && i < timeline->n_threads; i++) {
		const struct timeline_thread *thread = &timeline->threads[i];
		const struct top_owner *owner = &view->table.threads[i];
		const pid_t pid = timeline->processes[thread->process].pid;
		const struct top_row row = {
			.key = key_of(view, (uint64_t)pid << 32 | (uint32_t)thread->tid,
				      thread->name),
			.name = thread->name,
			.self = owner->samples,
			.total = owner->samples,
			.process = thread->process,
			.thread = i,
			.best = owner->method,
		};

		if (owner->samples > 0)
			err = add_own_row(view, &row);
	}
	return err;
}

static int add_processes(struct top_view *view)
{
	const struct timeline *timeline = view->timeline;
	int err = 0;

	for (uint32_t i = 0; !err && i < timeline->n_processes; i++) {
		const struct top_owner *owner = &view->table.processes[i];
		const struct top_row row = {
			.key = quick_hash_mix(view->seed, (uint64_t)timeline->processes[i].pid, 1),
			.name = timeline->processes[i].title,
			.self = owner->samples,
			.total = owner->samples,
			.process = i,
			.thread = TOP_NONE,
			.best = owner->method,
		};

		if (owner->samples > 0)
			err = add_own_row(view, &row);
	}
	return err;
}

static int compare(uint64_t a, uint64_t b)
{
	return (a < b) - (a > b); /* descending */
}

static int by_sort(const void *a, const void *b, void *arg)
{
	const struct top_row *x = a, *y = b;
	const struct top_view *view = arg;
	int order = 0;

	if (view->sort == TOP_BY_SELF)
		order = compare(x->self, y->self);
	else if (view->sort == TOP_BY_TOTAL)
		order = compare(x->total, y->total);
	else if (view->sort == TOP_BY_PROCESS)
		order = compare(view->table.processes[x->process].samples,
				view->table.processes[y->process].samples);
	if (!order && view->sort == TOP_BY_PROCESS)
		order = compare(y->process, x->process);
	if (!order && view->sort != TOP_BY_NAME)
		order = compare(x->self, y->self);
	if (!order && view->sort != TOP_BY_NAME)
		order = compare(x->total, y->total);
	if (!order)
		order = strcmp(x->name, y->name);
	if (!order)
		order = compare(y->key, x->key);
	return view->is_reversed ? -order : order;
}

static int add_callers(struct top_view *view, const struct top_row *of,
		       const struct top_place *places, size_t n)
{
	struct top_callers callers;
	int err = top_callers_find(&view->table, places, n, &callers);

	for (size_t i = 0; !err && i < callers.n_callers; i++) {
		const struct top_caller *caller = &callers.callers[i];
		struct top_row row = *of;

		row.key = key_of(view, of->key, caller->name);
		row.name = caller->name;
		row.self = 0;
		row.total = caller->samples;
		row.kind = caller->kind;
		row.depth = of->depth + 1;
		row.best = TOP_NONE;
		err = add_row(view, &row);
		if (!err && is_open(view, row.key) && row.depth < TOP_MAX_DEPTH)
			err = add_callers(view, &row, callers.places + caller->first,
					  caller->count);
	}
	top_callers_fini(&callers);
	return err;
}

/* Adds the callers of open rows behind their rows, which are sorted already. */
static int add_open(struct top_view *view)
{
	struct top_row *own = view->rows;
	const size_t n_own = view->n_rows;
	int err = 0;

	if (view->n_open == 0 || view->mode != TOP_METHODS)
		return 0;
	view->rows = NULL;
	view->n_rows = view->rows_size = 0;
	for (size_t i = 0; !err && i < n_own; i++) {
		struct top_place *places = NULL;
		size_t n = 0;

		err = add_row(view, &own[i]);
		if (err || !own[i].is_open)
			continue;
		err = top_places_of(&view->table, &view->table.methods[own[i].best], &places, &n);
		if (!err)
			err = add_callers(view, &own[i], places, n);
		free(places);
	}
	free(own);
	return err;
}

/*
 * Keeps the cursor on its row if the row still exists. A cursor on the first row stays on the first
 * row.
 */
static void place_cursor(struct top_view *view)
{
	size_t at = view->cursor < view->n_rows ? view->cursor
		    : view->n_rows		? view->n_rows - 1
						: 0;

	for (size_t i = 0; view->cursor > 0 && i < view->n_rows; i++) {
		if (view->rows[i].key == view->cursor_key) {
			at = i;
			break;
		}
	}
	view->cursor = at;
	if (at < view->n_rows)
		view->cursor_key = view->rows[at].key;
}

static int make_rows(struct top_view *view)
{
	int err;

	view->n_rows = view->n_own = view->n_matching = 0;
	view->matching_self = 0;
	if (!view->timeline)
		return 0;
	if (view->mode == TOP_THREADS)
		err = add_threads(view);
	else if (view->mode == TOP_PROCESSES)
		err = add_processes(view);
	else
		err = add_methods(view);
	if (view->n_rows > 0) /* without rows there is no array */
		qsort_r(view->rows, view->n_rows, sizeof(*view->rows), by_sort, view);
	if (!err)
		err = add_open(view);
	if (err)
		view->n_rows = 0;
	place_cursor(view);
	return err;
}

static int make_all(struct top_view *view)
{
	int err = 0;

	top_table_fini(&view->table);
	view->n_rows = 0;
	if (view->profile)
		err = top_table_make(view->profile, view->timeline, &view->choice, &view->table);
	return err ? err : make_rows(view);
}

int top_view_show(struct top_view *view, const struct profile *profile,
		  const struct timeline *timeline)
{
	view->profile = profile;
	view->timeline = timeline;
	return make_all(view);
}

/* ---- keys ---- */

int top_view_set_filter(struct top_view *view, const char *text)
{
	regex_t regex;
	int failed = 0;

	if (text[0])
		failed = regcomp(&regex, text, HOW_FILTER);
	if (failed) {
		regerror(failed, &regex, view->note, sizeof(view->note));
		return -EINVAL;
	}
	if (view->has_regex)
		regfree(&view->regex);
	view->has_regex = text[0] != '\0';
	if (view->has_regex)
		view->regex = regex;
	if (text != view->filter)
		snprintf(view->filter, sizeof(view->filter), "%s", text);
	view->note[0] = '\0';
	return 0;
}

static void toggle_open(struct top_view *view, uint64_t key)
{
	for (size_t i = 0; i < view->n_open; i++) {
		if (view->open[i] == key) {
			view->open[i] = view->open[--view->n_open];
			return;
		}
	}
	if (view->n_open == TOP_MAX_OPEN)
		snprintf(view->note, sizeof(view->note),
			 "callers of %u rows are shown already: close some, C closes all",
			 TOP_MAX_OPEN);
	else
		view->open[view->n_open++] = key;
}

static void set_mode(struct top_view *view, enum top_mode mode)
{
	view->mode = mode;
	view->cursor = view->first = 0;
}

/* Opens the callers of a method, or shows the methods of a thread or of a process. */
static int enter(struct top_view *view)
{
	const struct top_row *row = &view->rows[view->cursor];

	if (view->cursor >= view->n_rows)
		return 0;
	if (view->mode == TOP_METHODS) {
		toggle_open(view, row->key);
		return make_rows(view);
	}
	view->choice.pid = view->timeline->processes[row->process].pid;
	view->choice.tid = view->mode == TOP_THREADS ? view->timeline->threads[row->thread].tid : 0;
	set_mode(view, TOP_METHODS);
	return make_all(view);
}

/* Takes back the last choice: a thread, a process, a view, the filter. */
static int go_back(struct top_view *view)
{
	if (view->choice.tid || view->choice.pid) {
		set_mode(view, view->choice.tid ? TOP_THREADS : TOP_PROCESSES);
		view->choice.pid = view->choice.tid = 0;
	} else if (view->mode != TOP_METHODS) {
		set_mode(view, TOP_METHODS);
	} else {
		top_view_set_filter(view, "");
	}
	return make_all(view);
}

static void move_to(struct top_view *view, size_t row)
{
	if (view->n_rows == 0)
		return;
	view->cursor = row < view->n_rows ? row : view->n_rows - 1;
	view->cursor_key = view->rows[view->cursor].key;
}

static bool move(struct top_view *view, uint32_t key, size_t page)
{
	const size_t at = view->cursor;

	switch (key) {
	case TOP_KEY_UP:
		move_to(view, at > 0 ? at - 1 : 0);
		return true;
	case TOP_KEY_DOWN:
		move_to(view, at + 1);
		return true;
	case TOP_KEY_PAGE_UP:
		move_to(view, at > page ? at - page : 0);
		return true;
	case TOP_KEY_PAGE_DOWN:
		move_to(view, at + page);
		return true;
	case TOP_KEY_HOME:
		move_to(view, 0);
		return true;
	case TOP_KEY_END:
		move_to(view, view->n_rows);
		return true;
	default:
		return false;
	}
}

/* The right key opens the row, the left key closes it. */
static int open_row(struct top_view *view, bool opens)
{
	if (view->mode != TOP_METHODS || view->cursor >= view->n_rows ||
	    view->rows[view->cursor].is_open == opens)
		return 0;
	return enter(view);
}

static int toggle_mode(struct top_view *view, enum top_mode mode)
{
	set_mode(view, view->mode == mode ? TOP_METHODS : mode);
	return make_rows(view);
}

static int sort_by(struct top_view *view, int sort)
{
	view->sort = (enum top_sort)((sort + TOP_SORTS) % TOP_SORTS);
	view->cursor = view->first = 0;
	return make_rows(view);
}

static void open_prompt(struct top_view *view)
{
	view->has_prompt = true;
	memcpy(view->old_filter, view->filter, sizeof(view->filter));
}

/* Adds one code point, as UTF-8. */
static void type(char text[TOP_FILTER_BYTES], uint32_t code)
{
	char bytes[UTF8_MAX_BYTES];
	const size_t at = strlen(text), n = utf8_is_harmful(code) ? 0 : utf8_encode(code, bytes);

	if (n == 0 || at + n >= TOP_FILTER_BYTES)
		return;
	memcpy(text + at, bytes, n);
	text[at + n] = '\0';
}

static void erase(char *text)
{
	const size_t len = strlen(text);

	if (len > 0)
		text[utf8_cut(text, len, len - 1)] = '\0';
}

/*
 * Handles a key in the prompt. An incomplete expression leaves the last filter that could be read.
 */
static int prompt_key(struct top_view *view, uint32_t key)
{
	if (key == TOP_KEY_ENTER) {
		if (top_view_set_filter(view, view->filter) == 0)
			view->has_prompt = false;
		return make_rows(view);
	}
	if (key == TOP_KEY_ESCAPE) {
		view->has_prompt = false;
		memcpy(view->filter, view->old_filter, sizeof(view->filter));
	} else if (key == TOP_KEY_BACKSPACE) {
		erase(view->filter);
	} else if (key == 0x15) { /* Ctrl-U */
		view->filter[0] = '\0';
	} else {
		type(view->filter, key);
	}
	top_view_set_filter(view, view->filter);
	view->cursor = view->first = 0;
	return make_rows(view);
}

static int toggle_idle(struct top_view *view)
{
	struct wait_options *waits = &view->choice.waits;

	waits->idle = waits->idle == WAIT_IDLE_SHOWN ? WAIT_IDLE_HIDDEN : WAIT_IDLE_SHOWN;
	view->cursor = view->first = 0;
	return make_all(view);
}

static int command_key(struct top_view *view, uint32_t key)
{
	switch (key) {
	case 'q':
	case 'Q':
		view->is_done = true;
		return 0;
	case 'h':
	case '?':
		view->has_help = true;
		return 0;
	case 'p':
	case ' ':
		view->is_paused = !view->is_paused;
		return 0;
	case '/':
		open_prompt(view);
		return 0;
	case 's':
	case '>':
		return sort_by(view, (int)view->sort + 1);
	case '<':
		return sort_by(view, (int)view->sort - 1);
	case 'r':
	case 'R':
		view->is_reversed = !view->is_reversed;
		return make_rows(view);
	case 'm':
		set_mode(view, TOP_METHODS);
		return make_rows(view);
	case 't':
		return toggle_mode(view, TOP_THREADS);
	case 'j':
		return toggle_mode(view, TOP_PROCESSES);
	case 'i':
		return toggle_idle(view);
	case 'C':
		view->n_open = 0;
		return make_rows(view);
	case TOP_KEY_ENTER:
		return enter(view);
	case TOP_KEY_RIGHT:
	case TOP_KEY_LEFT:
		return open_row(view, key == TOP_KEY_RIGHT);
	case TOP_KEY_ESCAPE:
	case TOP_KEY_BACKSPACE:
		return go_back(view);
	default:
		return 0;
	}
}

int top_view_key(struct top_view *view, uint32_t key, size_t page)
{
	int err = 0;

	if (key == TOP_KEY_NONE)
		return 0;
	view->note[0] = '\0';
	if (view->has_help) {
		view->has_help = false;
		view->is_done = key == 'q';
		return 0;
	}
	if (move(view, key, page))
		; /* the keys move the cursor in the prompt too */
	else if (view->has_prompt)
		err = prompt_key(view, key);
	else
		err = command_key(view, key);
	top_view_scroll(view, page);
	return err;
}

void top_view_scroll(struct top_view *view, size_t page)
{
	if (page == 0)
		page = 1;
	if (view->cursor < view->first)
		view->first = view->cursor;
	if (view->cursor >= view->first + page)
		view->first = view->cursor - page + 1;
	if (view->n_rows <= page)
		view->first = 0;
	else if (view->first > view->n_rows - page)
		view->first = view->n_rows - page;
}
