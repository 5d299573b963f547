// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a process with a JVM -> its numbers in the list
 * units:   those of the declarations (base/counters.h)
 * threads: the model's; the tables are constant
 * errors:  without memory a number is missing
 * source:  none
 *
 * The one list of what is counted for each JVM.
 */
#ifndef FG_INSPECT_JVM_COUNTERS_H
#define FG_INSPECT_JVM_COUNTERS_H

#include "base/counters.h"
#include "process/process.h"

/* Adds the numbers to the process's row. */
void jvm_counters_put(json_t *row, const struct process *process);
/* The table with that number; NULL: there are no more. */
const struct counters *jvm_counters_table(size_t which);

#endif
