// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the JVMs known -> JSON -> a table
 * units:   PIDs as the collector sees them, counts
 * threads: one
 * errors:  NULL when memory is out
 * source:  none
 */
#ifndef FG_APP_JVM_LIST_H
#define FG_APP_JVM_LIST_H

#include "target/targets.h"

#include <jansson.h>
#include <stdio.h>

/* An array of objects, rising by PID, owned by the caller. */
json_t *jvm_list_to_json(const struct targets *targets);

/* For people, from what jvm_list_to_json made; control characters are shown as '?'. */
void jvm_list_print(const json_t *list, FILE *stream);

#endif
