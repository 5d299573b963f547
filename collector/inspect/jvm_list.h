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
#include "loop/engine.h"

#include <jansson.h>
#include <stdio.h>

/*
 * An object, owned by the caller. "jvms" is an array of objects, by rising PID, and "collector" is
 * the object that is given, which is taken over: what is counted of no JVM (serve/counted.h).
 */
json_t *jvm_list_to_json(const struct targets *targets, json_t *collector);
/*
 * The list with these members of "jvms". Takes rows and collector over; NULL: there is no memory.
 */
json_t *jvm_list_with(json_t *rows, json_t *collector);

/* The member of "jvms" for a process with a JVM. */
json_t *jvm_list_row(const struct process *process);

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
