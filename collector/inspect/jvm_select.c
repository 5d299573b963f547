// SPDX-License-Identifier: Apache-2.0
/* Keeps the JVMs of a list that options mean, see jvm_list_select in jvm_list.h. */
#include "inspect/jvm_list.h"

#include "base/json_value.h"

#include <errno.h>
#include <stdio.h>

static int keep_pid(json_t *jvms, pid_t pid, char ret_why[DIAGNOSE_BYTES])
{
	for (size_t i = json_array_size(jvms); i > 0; i--) {
		if (json_value_int(json_array_get(jvms, i - 1), "pid") != pid)
			json_array_remove(jvms, i - 1);
	}
	if (json_array_size(jvms) > 0)
		return 0;
	if (diagnose_is_thread(pid)) {
		diagnose_say_thread(pid, ret_why);
		return -EAGAIN;
	}
	snprintf(ret_why, DIAGNOSE_BYTES,
		 "no JVM with the agent has the PID %d: 'fgcollect list' shows those there are",
		 (int)pid);
	return -EAGAIN;
}

/* Keeps the JVMs that fit by name. A JVM that has ended is removed. */
static void keep_named(json_t *jvms, const struct selection *selection,
		       const struct targets *targets)
{
	const enum selector_fit best = selection_best(selection, targets);

	for (size_t i = json_array_size(jvms); i > 0; i--) {
		const json_int_t pid = json_value_int(json_array_get(jvms, i - 1), "pid");
		const struct process *process = targets_find(targets, (pid_t)pid);

		if (!process || !selection_could_mean(selection, best, process))
			json_array_remove(jvms, i - 1);
	}
}

static int select_one(json_t *list, const struct recording_options *options,
		      struct targets *targets, const char *socket_path,
		      char ret_why[DIAGNOSE_BYTES])
{
	json_t *jvms = json_object_get(list, "jvms");
	struct selection selection;
	int err;

	if (options->pid > 0)
		return keep_pid(jvms, options->pid, ret_why);
	if (selector_is_empty(&options->select))
		return 0;
	err = selection_init(&selection, &options->select);
	if (!err) {
		keep_named(jvms, &selection, targets);
		selection_fini(&selection);
	}
	if (err || json_array_size(jvms) == 0)
		err = diagnose_targets(options, targets, socket_path, ret_why);
	return err;
}

/* Whether the array has this very object. */
static bool has(const json_t *array, const json_t *object)
{
	bool is_there = false;

	for (size_t i = 0; i < json_array_size(array) && !is_there; i++)
		is_there = json_array_get(array, i) == object;
	return is_there;
}

/* Removes the JVMs that are not in kept, so that the others keep their order. */
static void keep(json_t *jvms, const json_t *kept)
{
	for (size_t i = json_array_size(jvms); i > 0; i--) {
		if (!has(kept, json_array_get(jvms, i - 1)))
			json_array_remove(jvms, i - 1);
	}
}

int jvm_list_select(json_t *list, const struct recording_options *options, struct targets *targets,
		    const char *socket_path, char ret_why[DIAGNOSE_BYTES])
{
	json_t *const jvms = json_object_get(list, "jvms");
	json_t *const kept = json_array();
	struct recording_options one;
	int err = 0;

	for (size_t i = 0; i < recording_alternatives(options) && !err; i++) {
		json_t *const copy = json_pack("{s:o}", "jvms", json_copy(jvms));

		recording_alternative(options, i, &one);
		err = select_one(copy, &one, targets, socket_path, ret_why);
		json_array_extend(kept, json_object_get(copy, "jvms"));
		json_decref(copy);
	}
	keep(jvms, kept);
	json_decref(kept);
	return err;
}
