// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what this process takes of the machine
 * units:   bytes, counts
 * threads: any
 * errors:  0 for what cannot be read
 * source:  proc(5)
 */
#ifndef FG_INSPECT_SELF_STATS_H
#define FG_INSPECT_SELF_STATS_H

#include <stdint.h>

struct self_stats {
	uint64_t resident_bytes;
	uint64_t descriptors;
	uint64_t threads;
};

void self_stats_read(struct self_stats *ret);

#endif
