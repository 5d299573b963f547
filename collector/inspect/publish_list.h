// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the counters of publishing -> JSON
 * units:   counts, bytes
 * threads: one
 * errors:  NULL when memory is out
 * source:  publish/publish_stats.h
 */
#ifndef FG_INSPECT_PUBLISH_LIST_H
#define FG_INSPECT_PUBLISH_LIST_H

#include "publish/publish_stats.h"

#include <jansson.h>

/* The object "publish" of the list's "collector". */
json_t *publish_list(const struct publish_stats *stats);

#endif
