// SPDX-License-Identifier: Apache-2.0
/* Counts times in cells, see web_heat.h. */
#include "web/web_heat.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "store/store_steps.h"
#include "store/store_times.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct heat {
	struct store_range range;
	unsigned columns, rows;
	uint64_t *cells;
	/* How many segments cover the cell more than the cell before; has one more. */
	int64_t *covers;
	uint64_t finest_ns; /* the longest step of a time that was added; 0: none was */
};

static size_t cells_of(const struct heat *heat)
{
	return (size_t)heat->columns * heat->rows;
}

size_t web_heat_part(const struct store_range *range, size_t n, uint64_t at_ns)
{
	__extension__ typedef unsigned __int128 uint128;

	return (size_t)((uint128)(at_ns - range->from_ns) * n / (range->to_ns - range->from_ns));
}

/*
 * Whether cells consist of whole steps of the index, or of so many that a part of a step more or
 * less does not matter.
 */
static bool is_coarse(const struct heat *heat)
{
	const uint64_t length = heat->range.to_ns - heat->range.from_ns;
	const uint64_t cell = length / cells_of(heat);

	return cell >= 20 * STORE_STEP_NS ||
	       (cell >= STORE_STEP_NS && cell % STORE_STEP_NS == 0 &&
		length % cells_of(heat) == 0 && heat->range.from_ns % STORE_STEP_NS == 0);
}

static void begin(void *arg)
{
	struct heat *const heat = arg;

	memset(heat->cells, 0, sizeof(*heat->cells) * cells_of(heat));
	heat->finest_ns = 0;
}

static void add_time(void *arg, const struct store_time *time)
{
	struct heat *const heat = arg;
	uint64_t *const cell =
		&heat->cells[web_heat_part(&heat->range, cells_of(heat), time->at_ns)];

	if (__builtin_add_overflow(*cell, time->weight, cell))
		*cell = UINT64_MAX;
	if (time->step_ns > heat->finest_ns)
		heat->finest_ns = time->step_ns;
}

/* Notes the cells in which something was recorded, if it were nothing. */
static void add_span(void *arg, const struct store_span *span)
{
	struct heat *const heat = arg;
	const struct store_range *const range = &heat->range;
	const uint64_t from = span->start_ns > range->from_ns ? span->start_ns : range->from_ns;
	const uint64_t to = span->end_ns < range->to_ns ? span->end_ns : range->to_ns;

	if (from >= to)
		return;
	heat->covers[web_heat_part(range, cells_of(heat), from)]++;
	heat->covers[web_heat_part(range, cells_of(heat), to - 1) + 1]--;
}

static int cover(const struct web_context *context, const struct store_reader *reader,
		 const struct store_list *list, const char *kind, struct heat *heat)
{
	int err = 0;

	for (size_t i = 0; !err && i < list->n; i++) {
		if (context->is_over && context->is_over(context->arg))
			return -ECANCELED;
		err = store_times_read_spans(reader, &heat->range, list->rows[i].process.id, kind,
					     add_span, heat);
	}
	return err;
}

/* null: nothing was recorded then. */
static json_t *cells_to_json(const struct heat *heat, uint64_t *ret_total, uint64_t *ret_max)
{
	json_t *cells = json_array();
	int64_t covers = 0;

	*ret_total = *ret_max = 0;
	for (size_t i = 0; i < cells_of(heat); i++) {
		const uint64_t weight = heat->cells[i];

		covers += heat->covers[i];
		json_array_append_new(cells, covers > 0 || weight > 0
						     ? json_integer((json_int_t)weight)
						     : json_null());
		*ret_total += weight;
		*ret_max = weight > *ret_max ? weight : *ret_max;
	}
	return cells;
}

static int write_heat(const struct web_context *context, const struct heat *heat,
		      const struct store_row_kind *kind, uint64_t untimed,
		      struct web_answer *answer)
{
	const double length_ms = (double)(heat->range.to_ns - heat->range.from_ns) / 1e6;
	uint64_t total, max;
	json_t *const cells = cells_to_json(heat, &total, &max);

	return web_answer_json(
		answer, context->pool,
		json_pack("{s:I, s:I, s:I, s:s, s:s, s:i, s:i, s:f, s:f, s:f, s:I, s:I, s:I, s:o}",
			  "from_ms", WEB_MS(heat->range.from_ns), "to_ms",
			  WEB_MS(heat->range.to_ns), "now_ms", WEB_MS(context->now_ns), "kind",
			  kind ? kind->name : "", "unit", kind ? kind->unit : "", "columns",
			  (int)heat->columns, "rows", (int)heat->rows, "column_ms",
			  length_ms / heat->columns, "row_ms", length_ms / (double)cells_of(heat),
			  "finest_ms", (double)heat->finest_ns / 1e6, "max", (json_int_t)max,
			  "total", (json_int_t)total, "untimed", (json_int_t)untimed, "cells",
			  cells));
}

static void warn(const struct store_reading *reading)
{
	if (reading->missing + reading->damaged > 0)
		log_warning("%llu of %llu files of the range are damaged or not there",
			    (unsigned long long)(reading->missing + reading->damaged),
			    (unsigned long long)(reading->missing + reading->damaged +
						 reading->segments));
}

/* A range without a begin begins with the first samples. */
static int prepare(const struct store_reader *reader, const struct store_query *query,
		   struct store_list *list, struct store_range *ret)
{
	uint64_t first = UINT64_MAX;
	int err = store_reader_list(reader, query, list);

	*ret = query->range;
	for (size_t i = 0; !err && i < list->n; i++)
		if (list->rows[i].first_ns < first)
			first = list->rows[i].first_ns;
	if (ret->from_ns == 0 && first < ret->to_ns)
		ret->from_ns = first - first % STORE_STEP_NS; /* sums of the index begin there */
	return err;
}

static int answer_heat(const struct web_context *context, const struct web_query *query,
		       const struct store_reader *reader, struct web_answer *answer)
{
	const size_t n = (size_t)query->columns * query->rows;
	_cleanup_free_ uint64_t *cells = calloc(n, sizeof(*cells));
	_cleanup_free_ int64_t *covers = calloc(n + 1, sizeof(*covers));
	_cleanup_(store_list_fini) struct store_list list = {0};
	struct store_query asked = web_context_query(context, query, &query->after);
	struct heat heat = {
		.columns = query->columns, .rows = query->rows, .cells = cells, .covers = covers};
	struct store_times times = {.begin = begin, .add = add_time, .arg = &heat};
	const struct store_row_kind *kind;
	struct store_reading reading;
	uint64_t untimed = 0;
	int err = cells && covers ? prepare(reader, &asked, &list, &heat.range) : -ENOMEM;

	if (err)
		return err;
	kind = web_store_kind(&list, query->kind);
	if (kind) {
		asked.range = heat.range;
		asked.kind = kind->name;
		times.may_be_coarse = is_coarse(&heat);
		err = store_times_read(reader, &asked, &times, &reading, &untimed);
		if (!err)
			err = cover(context, reader, &list, kind->name, &heat);
		if (err)
			return err;
		warn(&reading);
	}
	return write_heat(context, &heat, kind, untimed, answer);
}

int web_heat_answer(const struct web_context *context, const struct web_query *query,
		    struct web_answer *answer)
{
	struct store_reader reader;
	int err = web_context_open(context, &reader);

	if (err)
		return err;
	err = answer_heat(context, query, &reader, answer);
	store_reader_close(&reader);
	return err;
}
