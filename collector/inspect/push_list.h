// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the counters of pushing -> the object "push" of list --json
 * units:   those of push/push_stats.h
 * threads: any
 * errors:  NULL: no memory
 * source:  none
 *
 * What is counted for each target is an object whose keys are the targets' URLs.
 */
#ifndef FG_INSPECT_PUSH_LIST_H
#define FG_INSPECT_PUSH_LIST_H

#include "live/daemon_stats.h"

#include <jansson.h>

json_t *push_list(const struct daemon_stats *stats);

#endif
