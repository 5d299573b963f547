// SPDX-License-Identifier: Apache-2.0
/*
 * Answers with what the index of a store has, see web_store.h. No segment is read: a line of a
 * process is drawn of the sums of its segments, each spread evenly over the segment's time.
 */
#include "web/web_store.h"

#include "base/cleanup.h"
#include "base/json_value.h"
#include "base/log.h"
#include "history/history_list.h"
#include "store/store_times.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A process whose last window ended so long ago is taken to be there still. */
#define LIVE_WINDOWS   5u
#define LIVE_WINDOW_NS UINT64_C(10000000000) /* where no window's length is known */

struct store_query web_context_query(const struct web_context *context,
				     const struct web_query *query, const struct web_side *side)
{
	struct store_query ret = web_query_of(query, side);

	ret.limits = context->limits;
	ret.is_over = context->is_over;
	ret.arg = context->arg;
	return ret;
}

int web_context_open(const struct web_context *context, struct store_reader *ret)
{
	char why[STORE_READER_MESSAGE];
	const int err = store_reader_open(context->dir, ret, why);

	if (err)
		log_error("%s", why);
	return err;
}

int web_store_answer(const struct web_context *context, struct web_answer *answer)
{
	struct store_overview overview;
	struct store_reader reader;
	json_t *kinds;
	int err = web_context_open(context, &reader);

	if (err)
		return err;
	err = store_reader_overview(&reader, &overview);
	store_reader_close(&reader);
	if (err)
		return err;
	kinds = json_array();
	for (size_t i = 0; i < overview.n_kinds; i++)
		json_array_append_new(kinds, json_string(overview.kinds[i]));
	return web_answer_json(
		answer, context->pool,
		json_pack("{s:o, s:s, s:I, s:I, s:I, s:I, s:o, s:I, s:I, s:I}", "host",
			  json_value_new_text(context->host), "version", FG_VERSION, "now_ms",
			  WEB_MS(context->now_ns), "first_ms", WEB_MS(overview.first_ns), "last_ms",
			  WEB_MS(overview.last_ns), "window_ms", WEB_MS(context->window_ns),
			  "kinds", kinds, "processes", (json_int_t)overview.processes, "segments",
			  (json_int_t)overview.segments, "bytes", (json_int_t)overview.bytes));
}

/* ---- processes ---- */

const struct store_row_kind *web_store_kind(const struct store_list *list, const char *asked)
{
	const struct store_row_kind *first = NULL;

	for (size_t i = 0; i < list->n; i++) {
		const struct store_row *const row = &list->rows[i];

		for (size_t k = 0; k < row->n_kinds; k++) {
			if (strcmp(row->kinds[k].name, asked ? asked : profile_kind_cpu.name) == 0)
				return &row->kinds[k];
			if (!first && !asked)
				first = &row->kinds[k];
		}
	}
	return first;
}

/* A process's line. */
struct spark {
	struct store_range range;
	double *weights; /* of buckets */
	unsigned buckets;
};

/* The begin of a bucket; of the one behind the last, the end. */
static double begin_of(const struct spark *spark, unsigned bucket)
{
	const double length = (double)(spark->range.to_ns - spark->range.from_ns);

	return (double)spark->range.from_ns + length * bucket / spark->buckets;
}

static unsigned bucket_at(const struct spark *spark, double at_ns)
{
	const double length = (double)(spark->range.to_ns - spark->range.from_ns);
	const double bucket = (at_ns - (double)spark->range.from_ns) / length * spark->buckets;

	return bucket <= 0 ? 0 : bucket >= spark->buckets ? spark->buckets - 1 : (unsigned)bucket;
}

static void add_span(void *arg, const struct store_span *span)
{
	const struct spark *const spark = arg;
	const double start = (double)span->start_ns, end = (double)span->end_ns;
	const unsigned last = bucket_at(spark, end);

	for (unsigned i = bucket_at(spark, start); i <= last; i++) {
		const double from = fmax(start, begin_of(spark, i));
		const double to = fmin(end, begin_of(spark, i + 1));

		if (to > from)
			spark->weights[i] += (double)span->weight * (to - from) / (end - start);
	}
}

static int spark_of(const struct store_reader *reader, const struct spark *spark,
		    const struct store_row *row, const char *asked, json_t **ret)
{
	const struct store_list one = {.rows = (struct store_row *)(uintptr_t)row, .n = 1};
	const struct store_row_kind *const kind = web_store_kind(&one, asked);
	int err = 0;

	memset(spark->weights, 0, spark->buckets * sizeof(*spark->weights));
	if (kind)
		err = store_times_read_spans(reader, &spark->range, row->process.id, kind->name,
					     add_span, (void *)(uintptr_t)spark);
	*ret = json_array();
	for (unsigned i = 0; i < spark->buckets; i++)
		json_array_append_new(*ret, json_integer(llround(spark->weights[i])));
	return err;
}

/* Takes spark over. */
static json_t *row_of(const struct store_row *row, bool is_live, json_t *spark)
{
	const struct store_process *const process = &row->process;
	char key[STORE_KEY_BYTES];

	return json_pack("{s:s, s:i, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:I, s:I, s:I,"
			 " s:b, s:I, s:I, s:o, s:o}",
			 "key", store_process_key(process, key), "pid", (int)process->pid, "title",
			 process->title, "runtime", process->runtime, "comm", process->comm, "host",
			 process->host, "container", process->container, "container_name",
			 process->container_name, "pod", process->pod, "namespace",
			 process->name_space, "labels", history_list_labels(process), "started_ms",
			 WEB_MS(process->started_ns), "first_ms", WEB_MS(row->first_ns), "last_ms",
			 WEB_MS(row->last_ns), "is_live", is_live, "segments",
			 (json_int_t)row->segments, "bytes", (json_int_t)row->bytes, "kinds",
			 history_list_kinds(row, "name"), "spark", spark);
}

static int compare_ids(const void *a, const void *b)
{
	const int64_t first = *(const int64_t *)a, second = *(const int64_t *)b;

	return (first > second) - (first < second);
}

/* Processes that ran a moment ago, in order of their IDs. The caller frees *ret. */
static int find_live(const struct web_context *context, const struct store_reader *reader,
		     int64_t **ret, size_t *ret_n)
{
	const uint64_t window_ns = context->window_ns ? context->window_ns : LIVE_WINDOW_NS;
	const struct store_query query = {
		.range = {context->now_ns - LIVE_WINDOWS * window_ns, UINT64_MAX}};
	_cleanup_(store_list_fini) struct store_list list = {0};
	int err = store_reader_list(reader, &query, &list);

	if (err)
		return err;
	*ret = calloc(list.n + 1, sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	for (size_t i = 0; i < list.n; i++)
		(*ret)[i] = list.rows[i].process.id;
	*ret_n = list.n;
	qsort(*ret, *ret_n, sizeof(**ret), compare_ids);
	return 0;
}

/* What a range without a begin begins with: the first samples. */
static void narrow(const struct store_list *list, struct store_range *range)
{
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < list->n; i++)
		if (list->rows[i].first_ns < first)
			first = list->rows[i].first_ns;
	if (range->from_ns == 0 && first < range->to_ns)
		range->from_ns = first;
}

/* Written as they are made, so that an answer that is too large takes no memory first. */
static int write_rows(const struct web_context *context, const struct store_reader *reader,
		      const struct store_list *list, const struct spark *spark, const char *kind,
		      FILE *stream)
{
	_cleanup_free_ int64_t *live = NULL;
	size_t n_live = 0;
	int err = find_live(context, reader, &live, &n_live);

	for (size_t i = 0; !err && i < list->n; i++) {
		const struct store_row *const row = &list->rows[i];
		const bool is_live =
			bsearch(&row->process.id, live, n_live, sizeof(*live), compare_ids) != NULL;
		json_t *line = NULL, *one;

		if (context->is_over && context->is_over(context->arg))
			return -ECANCELED;
		err = spark_of(reader, spark, row, kind, &line);
		one = row_of(row, is_live, line);
		if (i > 0)
			fputc(',', stream);
		if (!err && (!one || json_dumpf(one, stream, WEB_ANSWER_JSON) < 0))
			err = ferror(stream) ? -EFBIG : -ENOMEM;
		json_decref(one);
	}
	return err;
}

/* The object but for its last member, which is the list of processes, and its end. */
static int write_head(const struct web_context *context, const struct store_list *list,
		      const struct spark *spark, FILE *stream)
{
	const struct store_range *const range = &spark->range;
	json_t *const head = json_pack(
		"{s:I, s:I, s:f, s:I, s:I}", "from_ms", WEB_MS(range->from_ns), "to_ms",
		WEB_MS(range->to_ns), "bucket_ms",
		(double)(range->to_ns - range->from_ns) / 1e6 / (double)spark->buckets, "now_ms",
		WEB_MS(context->now_ns), "left_out", (json_int_t)list->left_out);
	_cleanup_free_ char *text = head ? json_dumps(head, WEB_ANSWER_JSON) : NULL;

	json_decref(head);
	if (!text)
		return -ENOMEM;
	fprintf(stream, "%.*s,\"processes\":[", (int)strlen(text) - 1, text);
	return 0;
}

static int list_processes(const struct web_context *context, const struct web_query *query,
			  const struct store_reader *reader, struct web_answer *answer)
{
	struct store_query asked = web_context_query(context, query, &query->after);
	_cleanup_free_ double *weights = calloc(query->buckets, sizeof(*weights));
	_cleanup_(store_list_fini) struct store_list list = {0};
	struct spark spark = {.weights = weights, .buckets = query->buckets};
	int err = weights ? store_reader_list(reader, &asked, &list) : -ENOMEM;

	narrow(&list, &asked.range);
	spark.range = asked.range;
	if (!err)
		err = web_answer_open(answer, context->pool);
	if (err)
		return err;
	err = write_head(context, &list, &spark, answer->stream);
	if (!err)
		err = write_rows(context, reader, &list, &spark, query->kind, answer->stream);
	fputs("]}\n", answer->stream);
	return web_answer_close(answer, err);
}

int web_store_answer_processes(const struct web_context *context, const struct web_query *query,
			       struct web_answer *answer)
{
	struct store_reader reader;
	int err = web_context_open(context, &reader);

	if (err)
		return err;
	err = list_processes(context, query, &reader, answer);
	store_reader_close(&reader);
	return err;
}
