// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   names of a JVM and its container -> JSON -> a line for people
 * units:   none
 * threads: one
 * errors:  without memory a name is missing
 * source:  process/workload.h
 */
#ifndef FG_INSPECT_JVM_NAMES_H
#define FG_INSPECT_JVM_NAMES_H

#include "process/targets.h"

#include <jansson.h>
#include <stdio.h>

/* Adds container_name, pod, namespace, labels and main_class to the object of a JVM. */
void jvm_names_add(json_t *jvm, const struct process *process);

/* Writes what people call the JVM of such an object, see container/place_name.h, into ret. */
void jvm_names_write_called(const json_t *jvm, char *ret, size_t size);

/* Prints these names on a line of their own; nothing if none is known. */
void jvm_names_print(const json_t *jvm, FILE *stream);

#endif
