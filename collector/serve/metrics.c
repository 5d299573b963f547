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
#include "serve/metrics_table.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX	   "fgcollect_"
#define MAX_PATH   128
#define MAX_LABEL  200
#define N_METRICS  (sizeof(metrics) / sizeof(metrics[0]))
#define JVM_PREFIX "jvm."
#define BUCKETS	   "_bucket"

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

static bool ends_with(const char *name, const char *end)
{
	const size_t len = strlen(name), end_len = strlen(end);

	return len > end_len && strcmp(name + len - end_len, end) == 0;
}

/* help is NULL for the sum and the count of a histogram, which have the head of the buckets. */
static void put_head(FILE *stream, const char *name, const char *help)
{
	const char *type = ends_with(name, "_total") ? "counter" : "gauge";
	size_t len = strlen(name);

	if (!help)
		return;
	if (ends_with(name, BUCKETS)) {
		type = "histogram";
		len -= strlen(BUCKETS);
	}
	fprintf(stream, "# HELP " PREFIX "%.*s %s\n# TYPE " PREFIX "%.*s %s\n", (int)len, name,
		help, (int)len, name, type);
}

/* Writes one sample. jvm is NULL if the sample is not of a JVM. */
static void put_sample(FILE *stream, const struct metric *metric, const json_t *jvm,
		       const char *label_value, json_int_t value)
{
	const char *separator = "{";

	fprintf(stream, PREFIX "%s", metric->name);
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
	if (metric->divisor > 1)
		fprintf(stream, " %.*f\n", metric->divisor > 1000 ? 6 : 3,
			(double)value / metric->divisor);
	else
		fprintf(stream, " %lld\n", (long long)value);
}

static void put_samples(FILE *stream, const struct metric *metric, const json_t *jvm,
			const json_t *value)
{
	json_t *object = (json_t *)(uintptr_t)value, *part;
	const char *key;

	if (json_is_integer(value))
		put_sample(stream, metric, jvm, NULL, json_integer_value(value));
	json_object_foreach (object, key, part) {
		if (json_is_integer(part))
			put_sample(stream, metric, jvm, key, json_integer_value(part));
	}
}

static const struct metric *find_metric(const char *path)
{
	for (size_t i = 0; i < N_METRICS; i++) {
		if (strcmp(metrics[i].path, path) == 0)
			return &metrics[i];
	}
	return NULL;
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

/* A metric that is not in the table. The path gives the metric its name. */
struct other_metric {
	struct metric metric;
	char name[MAX_PATH + 8], help[2 * MAX_PATH];
};

/* Turns "search_ms" into "search_seconds", because Prometheus uses seconds. Returns the divisor. */
static int use_seconds(char *name)
{
	const size_t len = strlen(name);

	if (len < 3 || strcmp(name + len - 3, "_ms") != 0)
		return 1;
	strcpy(name + len - 2, "seconds");
	return 1000;
}

static void name_other(const char *path, struct other_metric *ret)
{
	const char *from = strncmp(path, "collector.", 10) == 0 ? path + 10 : path;
	size_t n = 0;

	for (; n < MAX_PATH - 1 && from[n]; n++) {
		const char c = from[n];
		const bool is_plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9' && n > 0);

		ret->name[n] = is_plain ? c : '_';
	}
	ret->name[n] = '\0';
	snprintf(ret->help, sizeof(ret->help), "%s of fgcollect list --json.", path);
	for (char *p = ret->help; *p; p++) {
		if (*p == '\\' || (unsigned char)*p < 0x20)
			*p = '?';
	}
	ret->metric = (struct metric){.path = path,
				      .name = ret->name,
				      .help = ret->help,
				      .divisor = use_seconds(ret->name)};
}

static void put_others(FILE *stream, const json_t *object, const char *path)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)(uintptr_t)object, key, value) {
		struct other_metric other;
		char below[MAX_PATH];

		snprintf(below, sizeof(below), "%s.%s", path, key);
		if (find_metric(below))
			continue;
		if (json_is_object(value))
			put_others(stream, value, below);
		if (!json_is_integer(value))
			continue;
		name_other(below, &other);
		put_head(stream, other.name, other.help);
		put_samples(stream, &other.metric, NULL, value);
	}
}

static size_t shown_jvms(const json_t *list)
{
	const size_t n = json_array_size(json_object_get(list, "jvms"));

	return n < METRICS_MAX_JVMS ? n : METRICS_MAX_JVMS;
}

static void put_jvm_metric(FILE *stream, const struct metric *metric, const json_t *list)
{
	const json_t *jvms = json_object_get(list, "jvms");
	const char *key = metric->path + strlen(JVM_PREFIX);

	for (size_t i = 0; i < shown_jvms(list); i++) {
		const json_t *jvm = json_array_get(jvms, i);

		put_samples(stream, metric, jvm, value_at(jvm, key));
	}
}

/*
 * Writes numbers of JVMs that are not in the table. The first JVM tells which, because all JVMs
 * have the same numbers.
 */
static void put_other_jvm_metrics(FILE *stream, const json_t *list)
{
	json_t *first = json_array_get(json_object_get(list, "jvms"), 0), *value;
	const char *key;

	json_object_foreach (first, key, value) {
		struct other_metric other;
		char path[MAX_PATH];

		snprintf(path, sizeof(path), JVM_PREFIX "%s", key);
		if (find_metric(path) || strcmp(key, "pid") == 0 || !json_is_integer(value))
			continue;
		name_other(path, &other);
		put_head(stream, other.name, other.help);
		put_jvm_metric(stream, &other.metric, list);
	}
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

	put_head(stream, "jvm_info", "What is known of a JVM; always 1.");
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
	put_head(stream, "jvms_left_out", "JVMs that have no metrics of their own here.");
	fprintf(stream, PREFIX "jvms_left_out %zu\n",
		(size_t)json_value_count(list, "jvms_left_out") + json_array_size(jvms) -
			shown_jvms(list));
}

static void put_all(FILE *stream, const json_t *list)
{
	const struct metric *metric;

	for (metric = metrics; metric < metrics + N_METRICS; metric++) {
		const bool is_jvm = strncmp(metric->path, JVM_PREFIX, strlen(JVM_PREFIX)) == 0;
		const json_t *value = is_jvm ? NULL : value_at(list, metric->path);

		if (!is_jvm && !value)
			continue;
		put_head(stream, metric->name, metric->help);
		if (is_jvm)
			put_jvm_metric(stream, metric, list);
		else
			put_samples(stream, metric, NULL, value);
	}
	put_others(stream, json_object_get(list, "collector"), "collector");
	put_other_jvm_metrics(stream, list);
	put_info(stream, list);
	put_head(stream, "build_info", "The version of the collector; always 1.");
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
