// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the known JVMs -> JSON -> a table
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
 * An object, owned by the caller. "jvms" is an array of objects, by rising PID. "collector" has
 * counters of what was refused or lost and belongs to no JVM, and these objects:
 *
 * - "stacks": how stacks ended ("ends", by name) and how they were walked
 * - "unwind_tables", "symbol_tables", "probe_tables": tables of files that are kept
 * - "files": files that are held open
 * - "recordings": what samples waited for, and what the kernel reported of processes
 * - "native_lines": reading of DWARF
 * - "foreign_maps": reading of other runtimes' perf maps
 * - "kernel": the kernel's symbols
 * - "containers", "listening_agents": what is known of containers, and of agents that listen
 * - "watch": the daemon's own sampling and its graphs
 * - "kept": memory kept of all processes, with its limits
 * - "self": memory, descriptors and threads of the collector
 */
json_t *jvm_list_to_json(const struct targets *targets, const struct engine_stats *stats);
/* The list with these members of "jvms". Takes rows over; NULL: there is no memory. */
json_t *jvm_list_with(json_t *rows, const struct targets *targets,
		      const struct engine_stats *stats);

/* The member of "jvms" for a process with a JVM. */
json_t *jvm_list_row(const struct process *process, const struct targets *targets);

/*
 * Removes from list the JVMs that options do not mean by PID or by names; if several containers or
 * pods fit a name, all of them stay. 0, or -EAGAIN if none is left; ret_why then says why.
 */
int jvm_list_select(json_t *list, const struct recording_options *options, struct targets *targets,
		    const char *socket_path, char ret_why[DIAGNOSE_BYTES]);

/*
 * Prints the JVMs, and of "collector" the counters that are not 0; control characters are shown as
 * '?'.
 */
void jvm_list_print(const json_t *list, FILE *stream);

#endif
