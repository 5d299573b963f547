// SPDX-License-Identifier: Apache-2.0
/* JVMs as JSON and as a table, see jvm_list.h. */
#include "inspect/jvm_list.h"

#include "base/json_value.h"
#include "base/utf8.h"
#include "inspect/jvm_counters.h"
#include "inspect/jvm_names.h"
#include "inspect/outside_list.h"
#include "maps/map_outputs.h"

#include <stdlib.h>
#include <string.h>

#define SHORT_ID 12

static const char *frame_pointer_of(const struct jvm *jvm)
{
	if (jvm->hello_flags & WIRE_HELLO_FP_SET)
		return "set by the agent";
	if (jvm->hello_flags & WIRE_HELLO_FP_WAS_ON)
		return "on";
	return "off";
}

static const char *agent_of(const struct jvm *jvm)
{
	if (jvm->is_outside)
		return "none";
	return jvm->is_dialled ? "listens" : "dials";
}

/* How a probe is. Agents before the probes do not say whether their JVM has its events. */
static json_t *probe_state(const struct jvm *jvm, const char *offer, uint32_t on, uint32_t refused)
{
	int64_t is_offered;

	if (!jvm_hello_value(&jvm->hello, offer, &is_offered))
		return json_string("unknown");
	if (!is_offered)
		return json_string("not available");
	if (jvm->probes.flags & refused)
		return json_string("refused");
	return json_string(jvm->probes.flags & on ? "on" : "off");
}

static json_t *probes_of(const struct jvm *jvm)
{
	return json_pack(
		"{s:o, s:o}", "alloc",
		probe_state(jvm, "probes.alloc", WIRE_PROBES_ALLOC, WIRE_PROBES_ALLOC_REFUSED),
		"lock",
		probe_state(jvm, "probes.lock", WIRE_PROBES_LOCK, WIRE_PROBES_LOCK_REFUSED));
}

json_t *jvm_list_row(const struct process *process)
{
	const struct jvm *jvm = process->jvm;
	json_t *object = json_object();
	const struct map_output *const output = process->output;
	char map[PATH_MAX];

	if (!object)
		return NULL;
	map_output_path(process, map);
	json_object_set_new(object, "pid", json_integer(process->pid));
	json_object_set_new(object, "container", json_value_new_text(process->container_id));
	json_object_set_new(object, "state", json_value_new_text(jvm_state_name(jvm)));
	json_object_set_new(object, "agent", json_value_new_text(agent_of(jvm)));
	json_object_set_new(object, "command",
			    json_value_new_text(process_attr(process, "java.command")));
	json_object_set_new(object, "comm", json_value_new_text(process->comm));
	json_object_set_new(object, "host_name",
			    json_value_new_text(process_attr(process, "host.name")));
	json_object_set_new(object, "jvm", json_value_new_text(process_attr(process, "jvm.name")));
	json_object_set_new(object, "jvm_version",
			    json_value_new_text(process_attr(process, "jvm.version")));
	json_object_set_new(object, "agent_version",
			    json_value_new_text(process_attr(process, "agent.version")));
	json_object_set_new(object, "frame_pointer", json_value_new_text(frame_pointer_of(jvm)));
	json_object_set_new(object, "probes", probes_of(jvm));
	json_object_set_new(object, "map", json_value_new_text(map));
	jvm_counters_put(object, process);
	json_object_set_new(object, "shadowed_by",
			    json_value_new_text(output ? output->shadow_path : NULL));
	json_object_set_new(object, "shadow_is_used",
			    json_boolean(output && output->shadow_is_used));
	if (process->outside)
		json_object_set_new(object, "outside", outside_list_row(process));
	jvm_names_add(object, process);
	return object;
}

static int by_pid(const void *a, const void *b)
{
	const struct process *pa = *(const struct process *const *)a;
	const struct process *pb = *(const struct process *const *)b;

	return (pa->pid > pb->pid) - (pa->pid < pb->pid);
}

static json_t *jvms_of(const struct targets *targets)
{
	const struct process **sorted = malloc((targets->processes.count + 1) * sizeof(*sorted));
	json_t *list = json_array();
	const struct process *process;
	size_t pos = 0, n = 0;

	if (!sorted || !list) {
		free(sorted);
		json_decref(list);
		return NULL;
	}
	while ((process = targets_next(targets, &pos))) {
		if (process_is_jvm(process))
			sorted[n++] = process;
	}
	qsort(sorted, n, sizeof(*sorted), by_pid);
	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, jvm_list_row(sorted[i]));
	free(sorted);
	return list;
}

json_t *jvm_list_to_json(const struct targets *targets, json_t *collector)
{
	return jvm_list_with(jvms_of(targets), collector);
}

json_t *jvm_list_with(json_t *rows, json_t *collector)
{
	return json_pack("{s:o, s:o}", "jvms", rows, "collector", collector);
}

/* Writes at most width characters, and pads with spaces if pad. utf8.h says what becomes '?'. */
static void print_text(FILE *stream, const char *text, int width, bool pad)
{
	size_t left = strlen(text);
	int shown = 0;

	for (; left > 0 && shown < width; shown++) {
		uint32_t code;
		const size_t n = utf8_next(text, left, &code);

		if (code == UTF8_BAD)
			putc('?', stream);
		else
			fwrite(text, 1, n, stream);
		text += n;
		left -= n;
	}
	for (; pad && shown < width; shown++)
		putc(' ', stream);
}

/*
 * Adds a loss that an agent reports, which may be any number. A sum that is too large stays at
 * INT64_MAX.
 */
static void add_loss(uint64_t *sum, json_int_t value)
{
	const uint64_t count = value < 0 ? INT64_MAX : (uint64_t)value;

	*sum = *sum + count < INT64_MAX ? *sum + count : INT64_MAX;
}

static uint64_t losses_at(const json_t *object)
{
	json_t *losses = json_object_get(object, "lost_by_agent"), *value;
	uint64_t sum = 0;
	const char *key;

	add_loss(&sum, json_value_int(object, "gaps"));
	add_loss(&sum, json_value_int(object, "bad_records"));
	add_loss(&sum, json_value_int(object, "rejected"));
	add_loss(&sum, json_value_int(object, "name_limit_hits"));
	add_loss(&sum, json_value_int(object, "lost_inline_tables"));
	add_loss(&sum, json_value_int(object, "lost_frame_facts"));
	add_loss(&sum, json_value_int(object, "map_cut"));
	add_loss(&sum, json_value_int(object, "dropped_mappings"));
	json_object_foreach (losses, key, value)
		add_loss(&sum, json_integer_value(value));
	return sum;
}

static void print_shadow(const json_t *jvm, FILE *stream)
{
	const char *const path = json_value_text(jvm, "shadowed_by");

	if (!path[0])
		return;
	fprintf(stream, "%8s there is another ", "");
	print_text(stream, path, 200, false);
	if (json_is_true(json_object_get(jvm, "shadow_is_used")))
		fprintf(stream, ", which perf reads rather than our map: leave it if a second code "
				"generator of the process writes it\n");
	else
		fprintf(stream, ": perf prefers it to our map, even when it is empty: remove it\n");
}

static void print_jvm(const json_t *jvm, FILE *stream)
{
	const char *command = json_value_text(jvm, "command"),
		   *container = json_value_text(jvm, "container");

	fprintf(stream, "%8lld %6lld  ", json_value_int(jvm, "pid"),
		json_value_int(jvm, "inner_pid"));
	print_text(stream, container[0] ? container : "-", SHORT_ID, true);
	fprintf(stream, "  %-17s  %-7s  ", json_value_text(jvm, "state"),
		json_value_text(jvm, "agent"));
	print_text(stream, json_value_text(jvm, "jvm_version"), 20, true);
	fprintf(stream, " %8lld %6llu  ", json_value_int(jvm, "code_ranges"),
		(unsigned long long)losses_at(jvm));
	print_text(stream, command[0] ? command : json_value_text(jvm, "comm"), 120, false);
	putc('\n', stream);
	jvm_names_print(jvm, stream);
	print_shadow(jvm, stream);
}

/* Writes "collector: 3 refused connections, 1 broken messages", or nothing. */
static void print_counters(const json_t *counters, FILE *stream)
{
	const char *separator = "collector: ", *key;
	json_t *value;

	json_object_foreach ((json_t *)(uintptr_t)counters, key, value) {
		if (json_integer_value(value) == 0 || strcmp(key, "jitdump_written") == 0)
			continue; /* that counter is not a loss */
		fprintf(stream, "%s%lld ", separator, (long long)json_integer_value(value));
		for (const char *p = key; *p; p++)
			putc(*p == '_' ? ' ' : *p, stream);
		separator = ", ";
	}
	if (separator[0] == ',')
		putc('\n', stream);
}

void jvm_list_print(const json_t *list, FILE *stream)
{
	const json_t *jvms = json_object_get(list, "jvms");
	json_t *jvm;
	size_t i;

	if (json_array_size(jvms) > 0)
		fprintf(stream, "%8s %6s  %-12s  %-17s  %-7s  %-20s %8s %6s  %s\n", "PID", "INNER",
			"CONTAINER", "STATE", "AGENT", "JVM", "METHODS", "LOST", "COMMAND");
	json_array_foreach (jvms, i, jvm) {
		print_jvm(jvm, stream);
	}
	print_counters(json_object_get(list, "collector"), stream);
}
