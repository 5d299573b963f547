// SPDX-License-Identifier: Apache-2.0
/* Prints the processes of a store, see history_list.h. */
#include "history/history_list.h"

#include "base/clock.h"
#include "store/store_time.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#define PLACE_BYTES 512u
#define UTC_BYTES   32u
#define SHORT_ID    12

/* The pod, or the container, or "-". */
static const char *place_of(const struct store_process *process, char ret[PLACE_BYTES])
{
	if (process->pod[0])
		snprintf(ret, PLACE_BYTES, "%s%s%s", process->name_space,
			 process->name_space[0] ? "/" : "", process->pod);
	else if (process->container_name[0])
		snprintf(ret, PLACE_BYTES, "%s", process->container_name);
	else if (process->container[0])
		snprintf(ret, PLACE_BYTES, "%.*s", SHORT_ID, process->container);
	else
		strcpy(ret, "-");
	return ret;
}

static void print_kinds(const struct store_row *row, FILE *stream)
{
	char amount[PROFILE_AMOUNT_BYTES];

	for (size_t i = 0; i < row->n_kinds; i++) {
		const struct profile_kind kind = {row->kinds[i].name, row->kinds[i].unit};

		fprintf(stream, "%s%s", i > 0 ? ", " : "  ",
			profile_kind_amount_of(&kind, row->kinds[i].samples, amount));
	}
}

static void print_label(const struct store_process *process, const char *key, FILE *stream)
{
	for (size_t i = 0; i < process->n_labels; i++)
		if (strcmp(process->labels[i].key, key) == 0)
			fprintf(stream, "  %s=%s", key, process->labels[i].value);
}

void history_list_print(const struct store_list *list, FILE *stream)
{
	char first[STORE_TIME_BYTES], last[STORE_TIME_BYTES], place[PLACE_BYTES];

	fprintf(stream, "%-19s  %-19s  %7s  %-24s  %s\n", "FROM", "TO", "PID", "POD OR CONTAINER",
		"PROCESS");
	for (size_t i = 0; i < list->n; i++) {
		const struct store_row *const row = &list->rows[i];

		fprintf(stream, "%s  %s  %7d  %-24s  %s", store_time_say(row->first_ns, first),
			store_time_say(row->last_ns, last), (int)row->process.pid,
			place_of(&row->process, place), row->process.title);
		print_kinds(row, stream);
		print_label(&row->process, "version", stream);
		print_label(&row->process, "image", stream);
		fputc('\n', stream);
	}
}

/* "2026-11-26T03:10:00Z" */
static const char *utc(uint64_t ns, char ret[UTC_BYTES])
{
	const time_t seconds = (time_t)(ns / CLOCK_NS_PER_SEC);
	struct tm tm;

	ret[0] = '\0';
	if (gmtime_r(&seconds, &tm))
		strftime(ret, UTC_BYTES, "%Y-%m-%dT%H:%M:%SZ", &tm);
	return ret;
}

json_t *history_list_labels(const struct store_process *process)
{
	json_t *object = json_object();

	for (size_t i = 0; i < process->n_labels; i++)
		json_object_set_new(object, process->labels[i].key,
				    json_string(process->labels[i].value));
	return object;
}

json_t *history_list_kinds(const struct store_row *row, const char *key)
{
	json_t *array = json_array();

	for (size_t i = 0; i < row->n_kinds; i++) {
		const struct store_row_kind *const kind = &row->kinds[i];

		json_array_append_new(array, json_pack("{s:s, s:s, s:I, s:I, s:I}", key, kind->name,
						       "unit", kind->unit, "samples",
						       (json_int_t)kind->samples, "unnamed",
						       (json_int_t)kind->unnamed, "unrooted",
						       (json_int_t)kind->unrooted));
	}
	return array;
}

static json_t *row_of(const struct store_row *row)
{
	const struct store_process *const process = &row->process;
	char started[UTC_BYTES], first[UTC_BYTES], last[UTC_BYTES];

	return json_pack("{s:s, s:s, s:s, s:i, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:o,"
			 " s:o, s:I, s:I}",
			 "first", utc(row->first_ns, first), "last", utc(row->last_ns, last),
			 "started", process->started_ns ? utc(process->started_ns, started) : "",
			 "pid", (int)process->pid, "title", process->title, "runtime",
			 process->runtime, "comm", process->comm, "container", process->container,
			 "container_name", process->container_name, "pod", process->pod, "pod_uid",
			 process->pod_uid, "namespace", process->name_space, "host", process->host,
			 "labels", history_list_labels(process), "kinds",
			 history_list_kinds(row, "kind"), "segments", (json_int_t)row->segments,
			 "bytes", (json_int_t)row->bytes);
}

int history_list_print_json(const char *dir, const struct store_list *list, FILE *stream)
{
	json_t *processes = json_array(), *name = json_string(dir), *object;
	int failed = 0;

	for (size_t i = 0; i < list->n; i++)
		failed |= json_array_append_new(processes, row_of(&list->rows[i])) != 0;
	object = json_pack("{s:o, s:o, s:I}", "store", name ? name : json_null(), "processes",
			   processes, "left_out", (json_int_t)list->left_out);
	failed |= !object || json_dumpf(object, stream, JSON_INDENT(2)) < 0;
	json_decref(object);
	fputc('\n', stream);
	return failed ? -ENOMEM : 0;
}
