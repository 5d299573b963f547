// SPDX-License-Identifier: Apache-2.0
/*
 * Names of JVMs for 'fgcollect list', see jvm_names.h. The texts were cleaned when they were read.
 */
#include "inspect/jvm_names.h"

#include "base/json_value.h"
#include "base/utf8.h"
#include "container/place_name.h"

#include <string.h>

#define MAX_SHOWN_LABELS 8

void jvm_names_add(json_t *jvm, const struct process *process)
{
	const struct workload *workload = &process->workload;
	json_t *labels = json_object();
	char title[512], clean[512];

	for (size_t i = 0; i < workload->labels.count; i++)
		json_object_set_new(labels, workload->labels.labels[i].key,
				    json_string(workload->labels.labels[i].value));
	process_title(process, title, sizeof(title));
	utf8_clean(title, strlen(title), clean, sizeof(clean));
	json_object_set_new(jvm, "container_name", json_string(workload->container));
	json_object_set_new(jvm, "pod", json_string(workload->pod));
	json_object_set_new(jvm, "namespace", json_string(workload->name_space));
	json_object_set_new(jvm, "labels", labels);
	json_object_set_new(jvm, "main_class", json_string(clean));
}

void jvm_names_write_called(const json_t *jvm, char *ret, size_t size)
{
	const struct place_name name = {
		.pod = json_value_text(jvm, "pod"),
		.container = json_value_text(jvm, "container_name"),
		.service = json_value_text(json_object_get(jvm, "labels"), WORKLOAD_SERVICE),
		.program = json_value_text(jvm, "main_class"),
	};
	char called[PLACE_NAME_BYTES];

	place_name_write(&name, called, sizeof(called));
	utf8_clean(called, strlen(called), ret, size);
}

/*
 * Cleans and writes the text. The list may come from another process, which may not have cleaned
 * it.
 */
static void print(FILE *stream, const char *text)
{
	char clean[LABEL_KEY_BYTES];

	utf8_clean(text, strlen(text), clean, sizeof(clean));
	fputs(clean, stream);
}

static void print_labels(json_t *labels, const char *separator, FILE *stream)
{
	size_t shown = 0;
	const char *key;
	json_t *value;

	json_object_foreach (labels, key, value) {
		if (shown++ == MAX_SHOWN_LABELS) {
			fprintf(stream, " and %zu more",
				json_object_size(labels) - MAX_SHOWN_LABELS);
			return;
		}
		fputs(shown == 1 ? separator : " ", stream);
		fputs(shown == 1 ? "labels " : "", stream);
		print(stream, key);
		fputc('=', stream);
		print(stream, json_string_value(value) ? json_string_value(value) : "");
	}
}

void jvm_names_print(const json_t *jvm, FILE *stream)
{
	const char *name = json_value_text(jvm, "container_name"),
		   *pod = json_value_text(jvm, "pod");
	const char *name_space = json_value_text(jvm, "namespace");
	json_t *labels = json_object_get(jvm, "labels");

	if (!name[0] && !pod[0] && json_object_size(labels) == 0)
		return;
	fprintf(stream, "%16s", "");
	if (name[0]) {
		fputs(" container ", stream);
		print(stream, name);
	}
	if (pod[0]) {
		fputs(name[0] ? ", pod " : " pod ", stream);
		print(stream, name_space);
		fputs(name_space[0] ? "/" : "", stream);
		print(stream, pod);
	}
	print_labels(labels, name[0] || pod[0] ? ", " : " ", stream);
	fputc('\n', stream);
}
