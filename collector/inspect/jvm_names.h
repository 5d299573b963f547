// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what a JVM and its container are called -> JSON -> a line for people
 * units:   none
 * threads: one
 * errors:  without memory, something is missing
 * source:  process/workload.h
 */
#ifndef FG_INSPECT_JVM_NAMES_H
#define FG_INSPECT_JVM_NAMES_H

#include "container/containers.h"
#include "process/process.h"

#include <jansson.h>
#include <stdio.h>

/* Adds container_name, pod, namespace, labels and main_class to the object of a JVM. */
void jvm_names_add(json_t *jvm, const struct process *process);

/* What is known of these, as a line of its own; nothing if nothing is. */
void jvm_names_print(const json_t *jvm, FILE *stream);

/* Containers that are known, and what could not be read of them. */
json_t *jvm_names_stats(const struct containers *containers);

#endif
