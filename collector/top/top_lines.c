// SPDX-License-Identifier: Apache-2.0
/*
 * Lines of a table that fits its width, see top_lines.h. In a narrow width columns are left out,
 * the least telling first.
 */
#include "top/top_lines.h"

#include "container/place_name.h"
#include "encode/text.h"
#include "render/label.h"
#include "top/top_owner.h"

#include <stdio.h>
#include <string.h>
#include <wchar.h>

#define BAD	      '?'
#define CUT	      ".."
#define SHARE_COLUMNS 7u
#define CORES_COLUMNS 8u
#define KIND_COLUMNS  7u
#define PID_COLUMNS   8u
#define SHORT_ID      6
#define OWNER_MOST    30u
#define THREAD_MOST   32u
/* The least width of the window at which a column is shown. */
#define WIDTH_OF_TOTAL 24u
#define WIDTH_OF_KIND  36u
#define WIDTH_OF_OWNER 56u
#define WIDTH_OF_CORES 100u /* beside TOTAL% */

static unsigned columns_of(uint32_t code)
{
	const int columns = code == TEXT_BAD ? 0 : wcwidth((wchar_t)code);

	return columns > 0 ? (unsigned)columns : 0;
}

/* The columns that text takes on the screen. The count stops beyond enough. */
static unsigned measure(const char *text, unsigned enough)
{
	unsigned columns = 0;
	uint32_t code;

	while (columns <= enough && (code = text_next(&text)) != TEXT_END)
		columns += columns_of(code) ? columns_of(code) : 1;
	return columns;
}

unsigned top_text_fit(const char *text, unsigned width, bool pads, struct bytes *out)
{
	const bool is_cut = measure(text, width) > width;
	const unsigned room = is_cut && width >= 2 * strlen(CUT) ? width - 2 : width;
	unsigned at = 0;

	for (;;) {
		const char *from = text;
		const uint32_t code = text_next(&text);
		const unsigned columns = code == TEXT_END ? 0 : columns_of(code);

		if (code == TEXT_END || at + (columns ? columns : 1) > room)
			break;
		if (columns)
			bytes_add(out, from, (size_t)(text - from));
		else
			bytes_add_char(out, BAD);
		at += columns ? columns : 1;
	}
	if (is_cut && room < width) {
		bytes_add(out, CUT, strlen(CUT));
		at += 2;
	}
	for (; pads && at < width; at++)
		bytes_add_char(out, ' ');
	return at;
}

static void add_share(struct bytes *out, uint64_t part, uint64_t whole)
{
	char text[32];
	const int n = snprintf(text, sizeof(text), "%6.2f ",
			       whole ? 100.0 * (double)part / (double)whole : 0);

	bytes_add(out, text, (size_t)n);
}

static unsigned cores_columns(const struct top_view *view, unsigned width)
{
	const unsigned least = view->mode == TOP_METHODS ? WIDTH_OF_CORES : WIDTH_OF_OWNER;

	return view->sample_cores > 0 && width >= least ? CORES_COLUMNS : 0;
}

/* Writes how many cores the samples are, in columns that may be 0. */
static void add_cores(const struct top_view *view, uint64_t samples, unsigned columns,
		      struct bytes *out)
{
	const double cores = (double)samples * view->sample_cores;
	char text[32];

	snprintf(text, sizeof(text), "%7.*f ", cores < 99.995 ? 2 : 0, cores);
	if (columns > 0)
		top_text_fit(text, columns, true, out);
}

static void add_blank(struct bytes *out, unsigned n)
{
	while (n-- > 0)
		bytes_add_char(out, ' ');
}

static void add_number(struct bytes *out, long number, int columns)
{
	char text[32];
	const int n = snprintf(text, sizeof(text), "%*ld ", columns - 1, number);

	bytes_add(out, text, (size_t)n);
}

static const char *kind_text(enum frame_kind kind)
{
	switch (kind) {
	case FRAME_INTERPRETED:
		return "interp";
	case FRAME_INLINED:
	case FRAME_NATIVE_INLINED:
		return "inline";
	case FRAME_NATIVE_WRAPPER:
		return "jni";
	case FRAME_UNKNOWN:
	case FRAME_LABEL:
		return "-";
	default:
		return frame_kind_word(kind);
	}
}

static unsigned owner_columns(unsigned width)
{
	const unsigned columns = (width - 22) / 3;

	if (width < WIDTH_OF_OWNER)
		return 0;
	return columns < OWNER_MOST ? columns : OWNER_MOST;
}

/*
 * Writes "shop-1: app.jar". Where both have no room, the place is cut first, but keeps a half:
 * either may be what people look for.
 */
static unsigned fit_called(const struct timeline_process *process, unsigned columns,
			   struct bytes *out)
{
	const char *const place = timeline_process_place(process);
	char name[PLACE_NAME_BYTES];
	unsigned program, at;

	timeline_process_write_called(process, name, sizeof(name));
	program = measure(process->title, columns / 2);
	if (measure(name, columns) <= columns || !place[0] || columns < program + 8)
		return top_text_fit(name, columns, false, out);
	program = program > columns / 2 ? columns / 2 : program;
	at = top_text_fit(place, columns - program - 2, false, out);
	bytes_add(out, ": ", 2);
	return at + 2 + top_text_fit(process->title, program, false, out);
}

/*
 * Writes "shop-1: app.jar ", "Main 3f2a81 " or "Main 4711 ". The name is cut first, because the
 * number distinguishes processes of one name.
 */
static void add_owner(const struct timeline *timeline, const struct timeline_process *process,
		      unsigned columns, struct bytes *out)
{
	char id[TOP_OWNER_ID_BYTES];
	unsigned at, room;

	if (columns == 0)
		return;
	top_owner_write_id(timeline, process, id);
	room = columns > 2 * SHORT_ID ? (unsigned)strlen(id) : 0;
	at = fit_called(process, columns - 1 - room, out);
	if (room)
		at += top_text_fit(id, room, false, out);
	add_blank(out, columns - at);
}

static unsigned rest(unsigned width, unsigned used)
{
	return width > used ? width - used : 0;
}

/* Writes the part of the name that says most. label_fit needs clean text. */
static void add_name(const char *name, enum frame_kind kind, unsigned columns, struct bytes *out)
{
	struct bytes clean = {0}, label = {0};
	const char *fitting = NULL;

	text_clean(&clean, name, "?");
	if (columns >= LABEL_MIN_COLUMNS && columns < TOP_ANY_WIDTH / 2)
		fitting = label_fit(&label, bytes_text(&clean), kind_of(kind, name), columns);
	if (!fitting || !*fitting)
		fitting = bytes_text(&clean);
	top_text_fit(fitting, columns, false, out);
	bytes_fini(&clean);
	bytes_fini(&label);
}

/*
 * Writes a method's line. A caller is indented to the right of its callee, and also has a share of
 * all samples.
 */
static size_t method_line(const struct top_view *view, const struct top_row *row, unsigned width,
			  struct bytes *out)
{
	const unsigned owner = owner_columns(width);
	const unsigned cores = cores_columns(view, width);
	const unsigned most = width / 3;
	unsigned used = SHARE_COLUMNS + cores, indent;
	size_t name_at;

	if (row->depth > 0) {
		add_blank(out, SHARE_COLUMNS + cores);
	} else {
		add_share(out, row->self, view->table.samples);
		add_cores(view, row->self, cores, out);
	}
	if (width >= WIDTH_OF_TOTAL) {
		add_share(out, row->total, view->table.samples);
		used += SHARE_COLUMNS;
	}
	if (width >= WIDTH_OF_KIND)
		used += top_text_fit(kind_text(row->kind), KIND_COLUMNS - 1, true, out) + 1;
	if (width >= WIDTH_OF_KIND)
		bytes_add_char(out, ' ');
	if (owner && row->depth == 0)
		add_owner(view->timeline, &view->timeline->processes[row->process], owner, out);
	else
		add_blank(out, owner);
	used += owner;
	name_at = out->len;
	indent = row->depth > 0 ? 2 * row->depth : 0;
	indent = indent < most ? indent : most;
	add_blank(out, indent);
	if (row->depth > 0) {
		bytes_add(out, "< ", 2);
		indent += 2;
	}
	add_name(row->name, row->kind, rest(width, used + indent), out);
	return name_at;
}

static const char *best_name(const struct top_view *view, const struct top_row *row,
			     enum frame_kind *ret_kind)
{
	*ret_kind = FRAME_LABEL;
	if (row->best == TOP_NONE || row->best >= view->table.n_methods)
		return "";
	*ret_kind = top_method_kind(&view->table.methods[row->best]);
	return view->table.methods[row->best].name;
}

static unsigned thread_columns(unsigned width)
{
	return width / 4 < THREAD_MOST ? width / 4 : THREAD_MOST;
}

static size_t thread_line(const struct top_view *view, const struct top_row *row, unsigned width,
			  struct bytes *out)
{
	const struct timeline_process *process = &view->timeline->processes[row->process];
	const unsigned owner = owner_columns(width), cores = cores_columns(view, width);
	unsigned used = SHARE_COLUMNS + cores + PID_COLUMNS + owner;
	enum frame_kind kind;
	const char *best = best_name(view, row, &kind);
	size_t name_at;

	add_share(out, row->self, view->table.samples);
	add_cores(view, row->self, cores, out);
	add_number(out, view->timeline->threads[row->thread].tid, PID_COLUMNS);
	if (owner)
		add_owner(view->timeline, process, owner, out);
	used += top_text_fit(row->name, thread_columns(width), true, out) + 1;
	bytes_add_char(out, ' ');
	name_at = out->len;
	add_name(best, kind, rest(width, used), out);
	return name_at;
}

static size_t process_line(const struct top_view *view, const struct top_row *row, unsigned width,
			   struct bytes *out)
{
	const struct timeline_process *process = &view->timeline->processes[row->process];
	const unsigned owner = owner_columns(width) ? owner_columns(width) : thread_columns(width);
	const unsigned cores = cores_columns(view, width);
	unsigned used = SHARE_COLUMNS + cores + PID_COLUMNS + owner;
	enum frame_kind kind;
	const char *best = best_name(view, row, &kind);
	size_t name_at;

	add_share(out, row->self, view->table.samples);
	add_cores(view, row->self, cores, out);
	add_number(out, process->pid, PID_COLUMNS);
	if (width >= WIDTH_OF_OWNER) {
		add_number(out, view->table.processes[row->process].threads, PID_COLUMNS);
		used += PID_COLUMNS;
	}
	add_owner(view->timeline, process, owner, out);
	name_at = out->len;
	add_name(best, kind, rest(width, used), out);
	return name_at;
}

/*
 * Cuts the line, which must not wrap. Parts that are never left out may be too wide for a narrow
 * window.
 */
static void cut(struct bytes *out, unsigned width)
{
	const char *const text = bytes_text(out);
	const char *end = text;
	unsigned at = 0;

	for (;;) {
		const char *next = end;
		const uint32_t code = text_next(&next);

		at += columns_of(code);
		if (code == TEXT_END || at > width)
			break;
		end = next;
	}
	out->len = (size_t)(end - text);
}

size_t top_line_row(const struct top_view *view, const struct top_row *row, unsigned width,
		    struct bytes *out)
{
	size_t name_at;

	out->len = 0;
	if (view->mode == TOP_THREADS)
		name_at = thread_line(view, row, width, out);
	else if (view->mode == TOP_PROCESSES)
		name_at = process_line(view, row, width, out);
	else
		name_at = method_line(view, row, width, out);
	cut(out, width);
	return name_at < out->len ? name_at : out->len;
}

static void add_head(const char *text, unsigned columns, struct bytes *out)
{
	if (columns > 0)
		top_text_fit(text, columns, true, out);
}

static void method_head(const struct top_view *view, unsigned width, struct bytes *out)
{
	add_head(" SELF%", SHARE_COLUMNS, out);
	add_head("  CORES", cores_columns(view, width), out);
	add_head("TOTAL%", width >= WIDTH_OF_TOTAL ? SHARE_COLUMNS : 0, out);
	add_head("KIND", width >= WIDTH_OF_KIND ? KIND_COLUMNS : 0, out);
	add_head("JVM", owner_columns(width), out);
}

void top_line_head(const struct top_view *view, unsigned width, struct bytes *out)
{
	const unsigned owner = owner_columns(width);

	out->len = 0;
	if (view->mode == TOP_THREADS) {
		add_head("SHARE%", SHARE_COLUMNS, out);
		add_head("  CORES", cores_columns(view, width), out);
		add_head("    TID", PID_COLUMNS, out);
		add_head("JVM", owner, out);
		add_head("THREAD", thread_columns(width) + 1, out);
		add_head("HOTTEST METHOD", 14, out);
	} else if (view->mode == TOP_PROCESSES) {
		add_head("SHARE%", SHARE_COLUMNS, out);
		add_head("  CORES", cores_columns(view, width), out);
		add_head("    PID", PID_COLUMNS, out);
		add_head("THREADS", width >= WIDTH_OF_OWNER ? PID_COLUMNS : 0, out);
		add_head("JVM", owner ? owner : thread_columns(width), out);
		add_head("HOTTEST METHOD", 14, out);
	} else {
		method_head(view, width, out);
		add_head("METHOD", 6, out);
	}
}

/* The name that the thread had last. */
static const char *thread_name(const struct timeline *timeline, const struct top_choice *choice)
{
	for (size_t i = 0; i < timeline->n_threads; i++) {
		const struct timeline_thread *thread = &timeline->threads[i];

		if (thread->tid == choice->tid &&
		    timeline->processes[thread->process].pid == choice->pid)
			return timeline->threads[thread->latest].name;
	}
	return "[gone]";
}

/* Writes what the process of the PID is called. */
static void write_called_of(const struct timeline *timeline, pid_t pid, char *ret, size_t size)
{
	ret[0] = '\0';
	for (size_t i = 0; i < timeline->n_processes; i++) {
		if (timeline->processes[i].pid == pid)
			timeline_process_write_called(&timeline->processes[i], ret, size);
	}
}

static int state_of_choice(const struct top_view *view, char *text, size_t size)
{
	const struct top_choice *choice = &view->choice;
	char called[PLACE_NAME_BYTES];

	if (!choice->pid || !view->timeline)
		return 0;
	if (choice->tid)
		return snprintf(text, size, ", of thread %d %.40s of PID %d", (int)choice->tid,
				thread_name(view->timeline, choice), (int)choice->pid);
	write_called_of(view->timeline, choice->pid, called, sizeof(called));
	return snprintf(text, size, ", of PID %d %.40s", (int)choice->pid, called);
}

void top_line_state(const struct top_view *view, unsigned width, struct bytes *out)
{
	const double share = view->table.samples ? 100.0 * (double)view->matching_self /
							   (double)view->table.samples
						 : 0;
	char text[512];
	int n;

	out->len = 0;
	n = snprintf(text, sizeof(text), "%s by %s%s: %zu", top_mode_word(view->mode),
		     top_sort_word(view->sort), view->is_reversed ? ", reversed" : "", view->n_own);
	n += state_of_choice(view, text + n, sizeof(text) - (size_t)n);
	if (view->has_regex)
		snprintf(text + n, sizeof(text) - (size_t)n, ", %zu match /%s/ with %.1f %%",
			 view->n_matching, view->filter, share);
	top_text_fit(text, width, false, out);
}
