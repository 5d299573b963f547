// SPDX-License-Identifier: Apache-2.0
/* The table as a JSON object, see top_print.h. */
#include "top/top_print.h"

#include "base/json_value.h"
#include "container/place_name.h"
#include "encode/text.h"

static void put_text(json_t *object, const char *key, const char *text)
{
	struct bytes clean = {0};

	text_clean(&clean, text ? text : "", UTF8_REPLACEMENT);
	json_object_set_new(object, key, json_string(bytes_text(&clean)));
	bytes_fini(&clean);
}

/* Rounds to a thousandth, so that lines are short and do not differ between machines. */
static void put_percent(json_t *object, const char *key, uint64_t part, uint64_t whole)
{
	const double percent = whole ? 100.0 * (double)part / (double)whole : 0;

	json_object_set_new(object, key,
			    json_real((double)(uint64_t)(percent * 1000 + 0.5) / 1000));
}

static void put_owner(json_t *object, const struct timeline_process *process)
{
	char called[PLACE_NAME_BYTES];

	json_value_put_count(object, "pid", (uint64_t)process->pid);
	put_text(object, "jvm", process->title);
	timeline_process_write_called(process, called, sizeof(called));
	put_text(object, "called", called);
	put_text(object, "container", process->container);
}

/* To three digits; nothing where it is not known. */
static void put_cores(json_t *object, const struct top_view *view, uint64_t samples)
{
	const double cores = (double)samples * view->sample_cores;

	if (view->sample_cores > 0)
		json_object_set_new(object, "cores",
				    json_real((double)(uint64_t)(cores * 1000 + 0.5) / 1000));
}

static void put_hottest(json_t *object, const struct top_table *table, const struct top_row *row)
{
	if (row->best == TOP_NONE)
		json_object_set_new(object, "hottest", json_null());
	else
		put_text(object, "hottest", table->methods[row->best].name);
}

static json_t *row_to_json(const struct top_view *view, const struct top_row *row)
{
	const struct top_table *table = &view->table;
	json_t *object = json_object();

	put_text(object, "name", row->name);
	json_value_put_count(object, "self", row->self);
	json_value_put_count(object, "total", row->total);
	put_cores(object, view, row->self);
	put_percent(object, "self_percent", row->self, table->samples);
	put_percent(object, "total_percent", row->total, table->samples);
	if (view->mode == TOP_METHODS)
		json_object_set_new(object, "kind", json_string(frame_kind_word(row->kind)));
	else
		put_hottest(object, table, row);
	if (view->mode == TOP_THREADS)
		json_value_put_count(object, "tid",
				     (uint64_t)view->timeline->threads[row->thread].tid);
	if (view->mode == TOP_PROCESSES)
		json_value_put_count(object, "threads", table->processes[row->process].threads);
	put_owner(object, &view->timeline->processes[row->process]);
	return object;
}

static json_t *quality_to_json(const struct top_facts *facts)
{
	const struct profile_quality *quality = &facts->figures;
	json_t *object = json_object();

	json_value_put_count(object, "samples", quality->samples);
	json_value_put_count(object, "lost", quality->lost_samples);
	json_value_put_count(object, "unnamed", quality->unnamed_samples);
	json_value_put_count(object, "unnamed_java", quality->unnamed_java_samples);
	json_value_put_count(object, "unrooted", quality->unrooted_samples);
	json_value_put_count(object, "heapless", quality->heapless_samples);
	json_value_put_count(object, "stackless", quality->stackless_samples);
	json_value_put_count(object, "overflow", quality->overflow_samples);
	json_value_put_count(object, "untimed", facts->untimed);
	return object;
}

/* Weights of all stacks by the state of their thread. */
static void put_waits(json_t *object, const struct waits *waits)
{
	json_t *states = json_object();

	for (int state = 0; state < WAIT_STATES; state++)
		json_value_put_count(states, wait_state_word((enum wait_state)state),
				     waits->by_state[state]);
	json_value_put_count(states, "idle", waits->idle);
	json_object_set_new(object, "states", states);
}

json_t *top_to_json(const struct top_view *view, const struct top_facts *facts, size_t most_rows)
{
	const size_t n = view->n_rows < most_rows ? view->n_rows : most_rows;
	json_t *object = json_object(), *rows = json_array();

	json_object_set_new(object, "time_unix_s", json_real(facts->time_unix_s));
	json_object_set_new(object, "window_s", json_real(facts->window_s));
	put_text(object, "target", facts->target);
	put_text(object, "kind", facts->kind->name);
	put_text(object, "unit", facts->kind->unit);
	put_text(object, "event", facts->event);
	json_value_put_count(object, "hz", facts->hz);
	json_value_put_count(object, "jvms", facts->jvms);
	json_object_set_new(object, "quality", quality_to_json(facts));
	json_value_put_count(object, "samples", view->table.samples);
	put_cores(object, view, view->table.samples);
	put_waits(object, &view->table.waits);
	put_text(object, "view", top_mode_word(view->mode));
	for (size_t i = 0; i < n; i++)
		json_array_append_new(rows, row_to_json(view, &view->rows[i]));
	json_value_put_count(object, "rows_left_out", view->n_own - n);
	json_object_set_new(object, "rows", rows);
	return object;
}
