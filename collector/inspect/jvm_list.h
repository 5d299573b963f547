// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the JVMs known -> JSON -> a table
 * units:   PIDs as the collector sees them, counts
 * threads: one
 * errors:  NULL when memory is out
 * source:  none
 */
#ifndef FG_INSPECT_JVM_LIST_H
#define FG_INSPECT_JVM_LIST_H

#include "inspect/diagnose.h"
#include "live/engine.h"

#include <jansson.h>
#include <stdio.h>

/*
 * An object, owned by the caller: "jvms", an array of objects rising by PID, and "collector",
 * counters of what was refused or given up and belongs to no JVM. In it are objects that are no
 * losses by themselves: "stacks", how they ended ("ends", by name) and were made; "unwind_tables"
 * and "symbol_tables", what is kept of files; "files", what is held of these; "recordings", what
 * samples waited for and what was heard of processes; "native_lines", what was read of DWARF;
 * "foreign_maps", what was read of the perf maps that other runtimes write; "kernel", what is known
 * of its symbols; "watch", what a daemon samples by itself and writes; "kept", what is known of all
 * processes, with its limits; "self", what this process takes.
 */
json_t *jvm_list_to_json(const struct targets *targets, const struct engine_stats *stats);

/*
 * Leaves in list those that options ask for by PID or by names; of a name that several fit, all. 0;
 * -EAGAIN if that is none, and why.
 */
int jvm_list_select(json_t *list, const struct recording_options *options, struct targets *targets,
		    const char *socket_path, char ret_why[DIAGNOSE_BYTES]);

/* For people: the JVMs, and those of its own counters that are not 0; controls are shown as '?'. */
void jvm_list_print(const json_t *list, FILE *stream);

#endif
