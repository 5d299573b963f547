// SPDX-License-Identifier: Apache-2.0
/*
 * Prometheus's text, see metrics.h. A metric is:
 *
 *   # HELP name text           a backslash and a newline are escaped
 *   # TYPE name counter
 *   name{label="value"} 17     backslash, quote and newline are escaped
 */
#include "serve/metrics.h"

#include "base/json_value.h"
#include "base/utf8.h"
#include "inspect/jvm_counters.h"
#include "serve/counted.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX	  "fgcollect_"
#define MAX_PATH  128
#define MAX_LABEL 200
#define BUCKETS	  "_bucket"

/* Writes at most len bytes of text. A text beyond MAX_LABEL is cut between characters. */
static void put_label_bytes(FILE *stream, const char *text, size_t len)
{
	char clean[MAX_LABEL + 1];

	len = utf8_cut(text, strnlen(text, len), MAX_LABEL);
	utf8_clean(text, len, clean, sizeof(clean));
	for (const char *c = clean; *c; c++) {
		if (*c == '\\' || *c == '"')
			putc('\\', stream);
		putc(*c, stream);
	}
}

static void put_label_value(FILE *stream, const char *text)
{
	put_label_bytes(stream, text, strlen(text));
}

static void put_head(FILE *stream, const char *name, const char *help, enum counter_kind kind)
{
	static const char *const types[] = {[COUNTER_IS_SUM] = "counter",
					    [COUNTER_IS_GAUGE] = "gauge",
					    [COUNTER_IS_HISTOGRAM] = "histogram"};
	const size_t len = strlen(name) - (kind == COUNTER_IS_HISTOGRAM ? strlen(BUCKETS) : 0);

	fprintf(stream, "# HELP " PREFIX "%.*s %s\n# TYPE " PREFIX "%.*s %s\n", (int)len, name,
		help, (int)len, name, types[kind]);
}

struct metric {
	const struct counter *counter;
	const char *label; /* whose values are the keys of an object */
};

/* Writes one sample. jvm is NULL if the sample is not of a JVM. */
static void put_sample(FILE *stream, const struct metric *metric, const json_t *jvm,
		       const char *label_value, json_int_t value)
{
	const unsigned divisor = counter_metric_divisor(metric->counter);
	const char *separator = "{";

	fprintf(stream, PREFIX "%s", metric->counter->metric);
	if (jvm) {
		fprintf(stream, "{pid=\"%lld\",container=\"",
			(long long)json_value_int(jvm, "pid"));
		put_label_value(stream, json_value_text(jvm, "container"));
		fputs("\"", stream);
		separator = ",";
	}
	if (label_value) {
		fprintf(stream, "%s%s=\"", separator, metric->label);
		put_label_value(stream, label_value);
		fputs("\"", stream);
	}
	if (jvm || label_value)
		putc('}', stream);
	if (divisor > 1)
		fprintf(stream, " %.*f\n", divisor > 1000 ? 6 : 3, (double)value / divisor);
	else
		fprintf(stream, " %lld\n", (long long)value);
}

static void put_samples(FILE *stream, const struct metric *metric, const json_t *jvm,
			const json_t *value)
{
	json_t *object = (json_t *)(uintptr_t)value, *part;
	const char *key;

	if (json_is_integer(value) || json_is_boolean(value))
		put_sample(stream, metric, jvm, NULL,
			   json_is_true(value) ? 1 : json_integer_value(value));
	json_object_foreach (object, key, part)
		put_sample(stream, metric, jvm, key, json_integer_value(part));
}

/* The value at a path such as "a.b.c". */
static const json_t *value_at(const json_t *object, const char *path)
{
	char part[MAX_PATH];

	while (object && *path) {
		const size_t len = strcspn(path, ".");

		snprintf(part, sizeof(part), "%.*s", (int)len, path);
		object = json_object_get(object, part);
		path += len + (path[len] == '.');
	}
	return object;
}

static size_t shown_jvms(const json_t *list)
{
	const size_t n = json_array_size(json_object_get(list, "jvms"));

	return n < METRICS_MAX_JVMS ? n : METRICS_MAX_JVMS;
}

static void put_jvm_metric(FILE *stream, const struct metric *metric, const json_t *list)
{
	const json_t *jvms = json_object_get(list, "jvms");

	for (size_t i = 0; i < shown_jvms(list); i++) {
		const json_t *jvm = json_array_get(jvms, i);

		put_samples(stream, metric, jvm, value_at(jvm, metric->counter->key));
	}
}

/* of_jvms: the counters of each JVM, else those of the collector. */
static void put_table(FILE *stream, const struct counters *table, bool of_jvms, const json_t *list)
{
	const json_t *const collector = json_object_get(list, "collector");

	for (size_t i = 0; i < table->n; i++) {
		const struct counter *const row = &table->rows[i];
		const struct metric metric = {row, table->label ? table->label : row->label};
		const json_t *value = of_jvms ? NULL : value_at(collector, row->key);

		if (!of_jvms && !value)
			continue;
		if (row->help)
			put_head(stream, row->metric, row->help, row->kind);
		if (of_jvms)
			put_jvm_metric(stream, &metric, list);
		else
			put_samples(stream, &metric, NULL, value);
	}
}

static void put_gauge_head(FILE *stream, const char *name, const char *help)
{
	put_head(stream, name, help, COUNTER_IS_GAUGE);
}

static void put_info_label(FILE *stream, const char *label, const char *text)
{
	fprintf(stream, ",%s=\"", label);
	put_label_value(stream, text);
	putc('"', stream);
}

/*
 * Writes a metric with value 1 for each JVM. Its labels are the JVM's names, and can be joined to
 * other metrics.
 */
static void put_info(FILE *stream, const json_t *list)
{
	const json_t *jvms = json_object_get(list, "jvms");

	put_gauge_head(stream, "jvm_info", "What is known of a JVM; always 1.");
	for (size_t i = 0; i < shown_jvms(list); i++) {
		const json_t *jvm = json_array_get(jvms, i);
		const char *command = json_value_text(jvm, "command");

		fprintf(stream, PREFIX "jvm_info{pid=\"%lld\",container=\"",
			(long long)json_value_int(jvm, "pid"));
		put_label_value(stream, json_value_text(jvm, "container"));
		putc('"', stream);
		fputs(",main=\"", stream);
		put_label_bytes(stream, command, strcspn(command, " "));
		putc('"', stream);
		put_info_label(stream, "comm", json_value_text(jvm, "comm"));
		put_info_label(stream, "container_name", json_value_text(jvm, "container_name"));
		put_info_label(stream, "pod", json_value_text(jvm, "pod"));
		put_info_label(stream, "namespace", json_value_text(jvm, "namespace"));
		put_info_label(stream, "image",
			       json_value_text(json_object_get(jvm, "labels"), "image"));
		put_info_label(stream, "state", json_value_text(jvm, "state"));
		put_info_label(stream, "jvm_version", json_value_text(jvm, "jvm_version"));
		put_info_label(stream, "agent_version", json_value_text(jvm, "agent_version"));
		fputs("} 1\n", stream);
	}
	put_gauge_head(stream, "jvms_left_out", "JVMs that have no metrics of their own here.");
	fprintf(stream, PREFIX "jvms_left_out %zu\n",
		(size_t)json_value_count(list, "jvms_left_out") + json_array_size(jvms) -
			shown_jvms(list));
}

static void put_all(FILE *stream, const json_t *list)
{
	const struct counters *table;

	for (size_t i = 0; (table = counted_table(i)); i++)
		put_table(stream, table, false, list);
	for (size_t i = 0; (table = jvm_counters_table(i)); i++)
		put_table(stream, table, true, list);
	put_info(stream, list);
	put_gauge_head(stream, "build_info", "The version of the collector; always 1.");
	fprintf(stream, PREFIX "build_info{version=\"" FG_VERSION "\"} 1\n");
}

char *metrics_text(const json_t *list, size_t *ret_len)
{
	char *text = NULL;
	FILE *stream = open_memstream(&text, ret_len);
	bool is_bad;

	if (!stream)
		return NULL;
	put_all(stream, list);
	is_bad = ferror(stream) != 0;
	if (fclose(stream) != 0 || is_bad) {
		free(text);
		return NULL;
	}
	return text;
}
