// SPDX-License-Identifier: Apache-2.0
/* Labels of series, see push_labels.h. */
#include "push/push_labels.h"

#include "base/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_letter(char c)
{
	return ascii_is_letter(c) || c == '_';
}

bool push_label_is_name(const char *text)
{
	if (!is_letter(text[0]) || strlen(text) > PUSH_NAME_BYTES)
		return false;
	for (; *text; text++)
		if (!is_letter(*text) && !ascii_is_digit(*text))
			return false;
	return true;
}

static void clean_name(const char *text, char ret[PUSH_NAME_BYTES + 1])
{
	size_t len = 0;

	if (ascii_is_digit(text[0]))
		ret[len++] = '_';
	for (; *text && len < PUSH_NAME_BYTES; text++)
		ret[len++] = is_letter(*text) || ascii_is_digit(*text) ? *text : '_';
	ret[len] = '\0';
}

static size_t place_of(const struct push_labels *labels, const char *name)
{
	size_t at = 0;

	while (at < labels->count && strcmp(labels->items[at].name, name) != 0)
		at++;
	return at;
}

void push_labels_remove(struct push_labels *labels, size_t at)
{
	labels->count--;
	memmove(&labels->items[at], &labels->items[at + 1],
		(labels->count - at) * sizeof(labels->items[0]));
}

static void put(struct push_labels *labels, size_t at, const char *name, const char *value)
{
	char text[PUSH_VALUE_BYTES + 1];
	const char *kept;

	utf8_clean(value, strlen(value), text, sizeof(text));
	kept = arena_copy(&labels->texts, text, strlen(text));
	if (at == labels->count)
		name = arena_copy(&labels->texts, name, strlen(name));
	if (!kept || !name) {
		labels->failed = true;
		return;
	}
	if (at == labels->count)
		labels->items[labels->count++].name = name;
	labels->items[at].value = kept;
}

void push_labels_set(struct push_labels *labels, const char *name, const char *value)
{
	char clean[PUSH_NAME_BYTES + 1];
	size_t at;

	clean_name(name, clean);
	if (!clean[0])
		return;
	at = place_of(labels, clean);
	if (!value[0]) {
		if (at < labels->count)
			push_labels_remove(labels, at);
		return;
	}
	if (at == PUSH_LABELS_MAX) {
		labels->left_out++;
		return;
	}
	put(labels, at, clean, value);
}

const char *push_labels_find(const struct push_labels *labels, const char *name)
{
	const size_t at = place_of(labels, name);

	return at < labels->count ? labels->items[at].value : NULL;
}

void push_labels_fini(struct push_labels *labels)
{
	arena_fini(&labels->texts);
	*labels = (struct push_labels){0};
}

static const char *label_of(const struct period_graph *graph, const char *key)
{
	for (size_t i = 0; i < graph->labels.count; i++)
		if (strcmp(graph->labels.labels[i].key, key) == 0)
			return graph->labels.labels[i].value;
	return NULL;
}

/* The first of the labels that the process has, or fallback. */
static const char *first_label(const struct period_graph *graph, const char *const *keys,
			       const char *fallback)
{
	for (; *keys; keys++) {
		const char *const value = label_of(graph, *keys);

		if (value && value[0])
			return value;
	}
	return fallback;
}

static const struct timeline_process *process_of(const struct period_graph *graph)
{
	for (size_t i = 0; i < graph->n_parts; i++)
		if (graph->parts[i].timeline.n_processes > 0)
			return &graph->parts[i].timeline.processes[0];
	return NULL;
}

static void add_meta(struct push_labels *labels, const struct period_graph *graph,
		     const struct timeline_process *process)
{
	char text[32];

	snprintf(text, sizeof(text), "%d", (int)graph->pid);
	push_labels_set(labels, PUSH_META "pid", text);
	push_labels_set(labels, PUSH_META "comm", graph->comm);
	push_labels_set(labels, PUSH_META "title", period_graph_title(graph));
	push_labels_set(labels, PUSH_META "container_id", graph->container);
	push_labels_set(labels, PUSH_META "pod_uid", graph->pod_uid);
	if (process)
		push_labels_set(labels, PUSH_META "runtime", process->runtime);
	for (size_t i = 0; i < graph->labels.count; i++) {
		char name[sizeof(PUSH_META "label_") + LABEL_KEY_BYTES];

		snprintf(name, sizeof(name), PUSH_META "label_%s", graph->labels.labels[i].key);
		push_labels_set(labels, name, graph->labels.labels[i].value);
	}
}

void push_labels_add_graph(struct push_labels *labels, const struct period_graph *graph,
			   const char *host)
{
	static const char *const services[] = {"service.name", "profiles.grafana.com/service_name",
					       "resource.opentelemetry.io/service.name", NULL};
	static const char *const versions[] = {"service.version", "app.kubernetes.io/version",
					       "org.opencontainers.image.version", "version", NULL};
	const struct timeline_process *const process = process_of(graph);

	push_labels_set(labels, PUSH_SERVICE_NAME,
			first_label(graph, services, period_graph_title(graph)));
	if (process) {
		push_labels_set(labels, "namespace", process->name_space);
		push_labels_set(labels, "pod", process->pod);
		push_labels_set(labels, "container", process->container_name);
		push_labels_set(labels, "image", process->image);
	}
	push_labels_set(labels, "node", host ? host : "");
	push_labels_set(labels, "version", first_label(graph, versions, ""));
	add_meta(labels, graph, process);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(((const struct push_label *)a)->name, ((const struct push_label *)b)->name);
}

/* Whether series could not be told apart without the label. */
static bool must_stay(const char *name)
{
	return strcmp(name, PUSH_SERVICE_NAME) == 0 || strcmp(name, PUSH_THREAD) == 0;
}

/* The last label that may go. */
static size_t last_to_spare(const struct push_labels *labels)
{
	size_t last = labels->count - 1;

	while (must_stay(labels->items[last].name))
		last--;
	return last;
}

void push_labels_finish(struct push_labels *labels, const char *fallback)
{
	for (size_t i = labels->count; i-- > 0;)
		if (strncmp(labels->items[i].name, "__", 2) == 0)
			push_labels_remove(labels, i);
	if (!push_labels_find(labels, PUSH_SERVICE_NAME))
		push_labels_set(labels, PUSH_SERVICE_NAME, fallback[0] ? fallback : "unknown");
	qsort(labels->items, labels->count, sizeof(labels->items[0]), compare_names);
	while (labels->count > PUSH_LABELS_SENT) {
		push_labels_remove(labels, last_to_spare(labels));
		labels->left_out++;
	}
}
