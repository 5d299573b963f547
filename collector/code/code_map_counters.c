// SPDX-License-Identifier: Apache-2.0
/* What a code map counts, see code_map.h. */
#include "code/code_map.h"

static const struct counter counters[] = {
	COUNTER_GAUGE(struct code_map_stats, live, "code_ranges", "jvm_code_ranges",
		      "Ranges of code that a JVM has."),
	COUNTER_SUM(struct code_map_stats, loads, "loads", "jvm_code_loads_total",
		    "Code that a JVM has generated."),
	COUNTER_SUM(struct code_map_stats, unloads, "unloads", "jvm_code_unloads_total",
		    "Code that a JVM has dropped."),
	COUNTER_SUM(struct code_map_stats, evicted, "evicted", "jvm_code_evicted_total",
		    "Code that went because other code took its place."),
	COUNTER_SUM(struct code_map_stats, expired, "expired", "jvm_code_expired_total",
		    "Dropped code that was forgotten."),
	COUNTER_SUM(struct code_map_stats, rejected, "rejected", "jvm_code_rejected_total",
		    "Code that there was no room for, or that cannot be."),
};

const struct counters code_map_counters = COUNTERS(struct code_map_stats, counters);
