// SPDX-License-Identifier: Apache-2.0
/*
 * Reads the parameters of a request, see web_query.h. A row of a table says which paths take a
 * parameter. A name that begins with "before-" is of the side before.
 */
#include "web/web_query.h"

#include "base/clock.h"
#include "base/log.h"
#include "draw/draw_wait_options.h"
#include "store/store_request.h"
#include "store/store_time.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BEFORE	      "before-"
#define MILLIS_DIGITS 12 /* as of 2001; fewer digits are no milliseconds */
#define DIGITS	      "0123456789"
#define NS_PER_MS     UINT64_C(1000000)

/* A parameter that is being read. */
struct reading {
	struct web_query *query;
	struct web_side *side; /* that the parameter is of */
	const char *name, *value;
	const struct row *row;
};

/* What is known of a parameter. */
struct row {
	const char *name;
	unsigned of;	 /* paths that take it */
	bool is_of_side; /* /diff takes it for the side before, too */
	int (*set)(const struct reading *reading);
	size_t at; /* where the value is set, in the side or in the query */
	enum selector_part_number part;
	unsigned most; /* the largest number */
};

static const struct {
	const char *path;
	enum web_what what;
} paths[] = {
	{WEB_API "store", WEB_STORE}, {WEB_API "processes", WEB_PROCESSES},
	{WEB_API "heat", WEB_HEAT},   {WEB_API "graph", WEB_GRAPH},
	{WEB_API "diff", WEB_DIFF},
};

int web_query_what(const char *path, enum web_what *ret)
{
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		if (strcmp(paths[i].path, path) != 0)
			continue;
		*ret = paths[i].what;
		return 0;
	}
	return -ENOENT;
}

static int bad(const struct reading *reading, const char *why)
{
	log_error("%s %.100s: %s", reading->name, reading->value, why);
	return -EINVAL;
}

static void *member_of(const struct reading *reading)
{
	char *const of = reading->row->is_of_side ? (char *)reading->side : (char *)reading->query;

	return of + reading->row->at;
}

static int set_text(const struct reading *reading)
{
	*(const char **)member_of(reading) = reading->value;
	return 0;
}

/* ---- sides ---- */

static int set_pid(const struct reading *reading)
{
	return store_request_set_pid(&reading->side->pid, reading->name, reading->value);
}

static int add_key(const struct reading *reading)
{
	struct web_side *const side = reading->side;

	if (!store_process_is_key(reading->value))
		return bad(reading, "a key of " WEB_API "processes is needed");
	if (side->n_keys == WEB_MAX_KEYS)
		return bad(reading, "more than 512 processes: select them by container, pod or "
				    "label");
	side->keys[side->n_keys++] = reading->value;
	return 0;
}

static int select_by(const struct reading *reading)
{
	return store_request_select(&reading->side->select, reading->row->part, reading->name,
				    reading->value);
}

/* ---- what is asked of both ---- */

static int set_kind(const struct reading *reading)
{
	if (!reading->value[0] || strlen(reading->value) >= PROFILE_KIND_BYTES)
		return bad(reading, "a kind of samples is needed, such as cpu");
	reading->query->kind = reading->value;
	return 0;
}

static int set_number(const struct reading *reading)
{
	const unsigned most = reading->row->most;
	const size_t len = strlen(reading->value);
	const unsigned long number = strtoul(reading->value, NULL, 10);

	if (len == 0 || len > 6 || strspn(reading->value, DIGITS) != len || number < 1 ||
	    number > most) {
		log_error("%s %.100s: a number from 1 to %u is needed", reading->name,
			  reading->value, most);
		return -EINVAL;
	}
	*(unsigned *)member_of(reading) = (unsigned)number;
	return 0;
}

/* ---- drawing ---- */

static int set_format(const struct reading *reading)
{
	char name[64];
	const int len = snprintf(name, sizeof(name), "x.%s", reading->value);

	if (len < (int)sizeof(name) && render_format_of(name, &reading->query->draw.format) == 0)
		return 0;
	log_error("%s %.100s: no such format; there are, without the dot: %s", reading->name,
		  reading->value, render_suffixes());
	return -EINVAL;
}

/* A parameter without a value is given. */
static int read_flag(const struct reading *reading, bool *ret)
{
	const char *const value = reading->value;

	if (value[0] && strcmp(value, "0") != 0 && strcmp(value, "1") != 0)
		return bad(reading, "0 or 1 is needed");
	*ret = strcmp(value, "0") != 0;
	return 0;
}

static int set_flag(const struct reading *reading)
{
	return read_flag(reading, member_of(reading));
}

static int set_levels(const struct reading *reading)
{
	const int err = read_flag(reading, &reading->query->draw.render.splits_levels);

	reading->query->draw.diff.splits_kinds = reading->query->draw.render.splits_levels;
	return err;
}

static int set_colors(const struct reading *reading)
{
	if (palette_of(reading->value, &reading->query->draw.render.palette) == 0)
		return 0;
	log_error("%s %.100s: no such colours; there are: %s", reading->name, reading->value,
		  palette_names());
	return -EINVAL;
}

static int set_states(const struct reading *reading)
{
	struct wait_options *const waits = &reading->query->draw.render.waits;

	return wait_states_parse(reading->value, &waits->states)
		       ? 0
		       : bad(reading, "running, runnable and blocked are needed, with commas "
				      "between them");
}

static int set_idle(const struct reading *reading)
{
	bool is_hidden = false;
	const int err = read_flag(reading, &is_hidden);

	reading->query->draw.render.waits.idle = is_hidden ? WAIT_IDLE_HIDDEN : WAIT_IDLE_SHOWN;
	return err;
}

static int set_width_of(const struct reading *reading)
{
	static const char *const names[] = {"after", "before", "union"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strcmp(names[i], reading->value) != 0)
			continue;
		reading->query->draw.diff.width = (enum diff_width)i;
		return 0;
	}
	return bad(reading, "one of after, before, union is needed");
}

/* ---- all of them ---- */

#define OF(what) (1u << (what))
#define OF_LISTS (OF(WEB_PROCESSES) | OF(WEB_HEAT))
#define OF_DRAWN (OF(WEB_GRAPH) | OF(WEB_DIFF))
#define OF_SIDES (OF_LISTS | OF_DRAWN)

#define QUERY(member) .at = offsetof(struct web_query, member)
#define SIDE(member)  .at = offsetof(struct web_side, member)

static const struct row rows[] = {
	{"from", OF_SIDES, true, set_text, SIDE(from)},
	{"to", OF_SIDES, true, set_text, SIDE(to)},
	{"pid", OF_SIDES, true, .set = set_pid},
	{"process", OF_SIDES, true, .set = add_key},
	{"container", OF_SIDES, true, select_by, .part = SELECTOR_CONTAINER},
	{"pod", OF_SIDES, true, select_by, .part = SELECTOR_POD},
	{"label", OF_SIDES, true, select_by, .part = SELECTOR_LABEL},
	{"comm", OF_SIDES, true, select_by, .part = SELECTOR_COMM},
	{"jvm", OF_SIDES, true, select_by, .part = SELECTOR_JVM},
	{"kind", OF_SIDES, false, .set = set_kind},
	{"buckets", OF(WEB_PROCESSES), false, set_number, QUERY(buckets), .most = WEB_MAX_BUCKETS},
	{"columns", OF(WEB_HEAT), false, set_number, QUERY(columns), .most = WEB_MAX_CELLS},
	{"rows", OF(WEB_HEAT), false, set_number, QUERY(rows), .most = WEB_MAX_CELLS},
	{"format", OF_DRAWN, false, .set = set_format},
	{"title", OF_DRAWN, false, set_text, QUERY(draw.render.title)},
	{"colors", OF_DRAWN, false, .set = set_colors},
	{"java-only", OF_DRAWN, false, set_flag, QUERY(draw.render.java_only)},
	{"fold-frameworks", OF_DRAWN, false, set_flag, QUERY(draw.render.folds_frameworks)},
	{"thread-starts", OF_DRAWN, false, set_flag, QUERY(draw.render.shows_starts)},
	{"split-levels", OF_DRAWN, false, .set = set_levels},
	{"inverted", OF_DRAWN, false, set_flag, QUERY(draw.render.is_inverted)},
	{"reverse", OF_DRAWN, false, set_flag, QUERY(is_reversed)},
	{"state", OF_DRAWN, false, .set = set_states},
	{"hide-idle", OF_DRAWN, false, .set = set_idle},
	{"no-normalize", OF(WEB_DIFF), false, set_flag, QUERY(draw.diff.is_raw)},
	{"width-of", OF(WEB_DIFF), false, .set = set_width_of},
};

static int read_one(struct web_query *query, const struct web_parameter *parameter)
{
	const bool is_before =
		query->what == WEB_DIFF && strncmp(parameter->name, BEFORE, strlen(BEFORE)) == 0;
	const char *const name = parameter->name + (is_before ? strlen(BEFORE) : 0);
	struct reading reading = {
		.query = query,
		.side = is_before ? &query->before : &query->after,
		.name = parameter->name,
		.value = parameter->value,
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (strcmp(rows[i].name, name) != 0 || !(rows[i].of & OF(query->what)) ||
		    (is_before && !rows[i].is_of_side))
			continue;
		if (strlen(parameter->value) > WEB_MAX_TEXT)
			return bad(&reading, "is longer than 1,024 bytes");
		reading.row = &rows[i];
		return rows[i].set(&reading);
	}
	log_error("%.100s: there is no such parameter here", parameter->name);
	return -EINVAL;
}

/* A time as commands take it, or milliseconds since 1970. after_ns: see store_time.h. */
static int time_of(const char *text, uint64_t now_ns, uint64_t after_ns, uint64_t *ret)
{
	const size_t len = strlen(text);
	unsigned long long ms;

	if (len < MILLIS_DIGITS || strspn(text, DIGITS) != len)
		return store_time_parse(text, now_ns, after_ns, ret);
	errno = 0;
	ms = strtoull(text, NULL, 10);
	if (errno || ms > WEB_LONG_TIME_MS)
		return -EINVAL;
	*ret = ms * NS_PER_MS;
	return 0;
}

static int bad_time(const char *prefix, const char *name, const char *text)
{
	log_error("%s%s %.100s: no such time; times are milliseconds since 1970, or "
		  "as " STORE_TIME_FORMS,
		  prefix, name, text);
	return -EINVAL;
}

static int set_range(struct web_side *side, const char *prefix, uint64_t now_ns)
{
	struct store_range *const range = &side->range;

	*range = (struct store_range){0, now_ns};
	if (side->from && time_of(side->from, now_ns, 0, &range->from_ns) < 0)
		return bad_time(prefix, "from", side->from);
	if (side->to && time_of(side->to, now_ns, range->from_ns, &range->to_ns) < 0)
		return bad_time(prefix, "to", side->to);
	if (!side->to && range->from_ns >= now_ns) /* in the future, where nothing is */
		range->to_ns = range->from_ns + 1;
	if (range->from_ns >= range->to_ns) {
		log_error("%sto %.100s: is not after %sfrom: there is nothing between them", prefix,
			  side->to, prefix);
		return -EINVAL;
	}
	return 0;
}

/*
 * What the side before does not say is that of the side after, as diff has it. But a key is of one
 * process, so that names beside it, of another side, would only be another process's.
 */
static void complete(const struct web_side *after, struct web_side *before)
{
	struct selector select = after->select;

	if (before->n_keys > 0)
		return;
	if (selector_is_empty(&before->select) && before->pid == 0) {
		memcpy(before->keys, after->keys, sizeof(before->keys));
		before->n_keys = after->n_keys;
	}

	if (before->select.container[0])
		selector_copy_containers(&select, &before->select);
	if (before->select.pod[0])
		selector_copy_pods(&select, &before->select);
	if (before->select.comm[0])
		memcpy(select.comm, before->select.comm, sizeof(select.comm));
	if (before->select.jvm[0])
		memcpy(select.jvm, before->select.jvm, sizeof(select.jvm));
	if (before->select.n_labels > 0) {
		memcpy(select.labels, before->select.labels, sizeof(select.labels));
		select.n_labels = before->select.n_labels;
	}
	before->select = select;
	before->pid = before->pid ? before->pid : after->pid;
}

/* The range before lasts as long as the range after unless its end is given. */
static int set_range_before(struct web_query *query, uint64_t now_ns)
{
	const struct store_range *const after = &query->after.range;
	struct web_side *const before = &query->before;

	if (!before->from && before->to) {
		log_error("before-to goes with before-from");
		return -EINVAL;
	}
	before->range = *after;
	if (!before->from)
		return 0;
	if (!before->to) { /* only the begin is to be read */
		if (time_of(before->from, now_ns, 0, &before->range.from_ns) < 0)
			return bad_time(BEFORE, "from", before->from);
		before->range.to_ns = before->range.from_ns + (after->to_ns - after->from_ns);
		return 0;
	}
	return set_range(before, BEFORE, now_ns);
}

/* Whether nothing was said of the side before. */
static bool is_same_side(const struct web_side *before)
{
	return !before->from && !before->to && before->pid == 0 && before->n_keys == 0 &&
	       selector_is_empty(&before->select);
}

static int finish(struct web_query *query, uint64_t now_ns)
{
	int err = set_range(&query->after, "", now_ns);

	if (!err && query->what == WEB_HEAT &&
	    query->columns * (uint64_t)query->rows > WEB_MAX_CELLS) {
		log_error("columns and rows: more than %u cells", WEB_MAX_CELLS);
		return -EINVAL;
	}
	if (!err && (OF(query->what) & OF_DRAWN) && !query->after.from) {
		log_error("from says from when on samples of the store are drawn, such as "
			  "from=03:10 or from=-1h");
		return -EINVAL;
	}
	if (err || query->what != WEB_DIFF)
		return err;
	if (!render_can_compare(query->draw.format)) {
		log_error("format: %s has one count a stack, so no place for a comparison: svg, "
			  "html, pb.gz and folded have two",
			  render_suffix(query->draw.format) + 1);
		return -EINVAL;
	}
	if (is_same_side(&query->before)) {
		log_error("diff compares two sides: before-from, or another parameter that begins "
			  "with before-, says what was before");
		return -EINVAL;
	}
	complete(&query->after, &query->before);
	return set_range_before(query, now_ns);
}

int web_query_parse(enum web_what what, const struct web_parameters *parameters, uint64_t now_ns,
		    struct web_query *ret)
{
	const bool is_diff = what == WEB_DIFF;
	int err = 0;

	*ret = (struct web_query){
		.what = what,
		.buckets = WEB_BUCKETS,
		.columns = WEB_COLUMNS,
		.rows = WEB_ROWS,
		.draw = {.command = is_diff ? DRAW_DIFF : DRAW_RENDER,
			 .to_stdout = true,
			 .format = RENDER_HTML,
			 .diff = {.width = is_diff ? DIFF_WIDTH_UNION : DIFF_WIDTH_AFTER,
				  .is_raw = !is_diff}},
	};
	for (size_t i = 0; !err && i < parameters->n; i++)
		err = read_one(ret, &parameters->all[i]);
	if (!err)
		err = finish(ret, now_ns);
	if (!err)
		ret->draw.kind = ret->kind;
	return err;
}

struct store_query web_query_of(const struct web_query *query, const struct web_side *side)
{
	return (struct store_query){
		.range = side->range,
		.pid = side->pid,
		.select = side->select,
		.kind = query->kind,
		.keys = side->keys,
		.n_keys = side->n_keys,
	};
}
