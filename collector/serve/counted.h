// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   an engine and a daemon -> all that is counted of no single JVM: "collector" of the list
 * units:   those of the declarations (base/counters.h)
 * threads: the model's; the tables are constant
 * errors:  NULL when memory is out
 * source:  none
 *
 * The one list of what is counted. A table of counters that is named here is in list --json and in
 * the metrics.
 */
#ifndef FG_SERVE_COUNTED_H
#define FG_SERVE_COUNTED_H

#include "base/counters.h"
#include "loop/engine.h"
#include "serve/daemon_counts.h"

/* engine NULL: no stage has counted anything; counts NULL: there is no daemon. */
json_t *counted_list(const struct engine *engine, const struct daemon_counts *counts);
/* The table with that number; NULL: there are no more. */
const struct counters *counted_table(size_t which);

#endif
