// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   memory, descriptors and threads of this process
 * units:   bytes, counts
 * threads: any
 * errors:  a number that cannot be read is 0
 * source:  proc(5)
 */
#ifndef FG_INSPECT_SELF_STATS_H
#define FG_INSPECT_SELF_STATS_H

#include "base/counters.h"

#include <stdint.h>

struct self_stats {
	uint64_t resident_bytes;
	uint64_t descriptors;
	uint64_t threads;
};
extern const struct counters self_counters;

void self_stats_read(struct self_stats *ret);

#endif
