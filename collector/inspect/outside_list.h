// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what has been read from outside -> JSON, for jvm_list.h
 * units:   bytes, microseconds of processor time
 * threads: the model's
 * errors:  NULL when memory is out
 * source:  process/outside_upkeep.h
 */
#ifndef FG_INSPECT_OUTSIDE_LIST_H
#define FG_INSPECT_OUTSIDE_LIST_H

#include "process/targets.h"

#include <jansson.h>

/* Of one process, whose outside is not NULL. */
json_t *outside_list_row(const struct process *process);

#endif
