// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the counters of a store's writer
 * units:   counts since the writer's start, unless said otherwise; bytes
 * threads: a value
 * errors:  none
 * source:  none
 */
#ifndef FG_STORE_STORE_STATS_H
#define FG_STORE_STORE_STATS_H

#include "base/counters.h"

#include <stdint.h>

struct store_stats {
	uint64_t written, failed;	  /* windows of a process */
	uint64_t merged, merges_failed;	  /* hours of a process */
	uint64_t damaged;		  /* segments that were no whole recording, and went */
	uint64_t missing;		  /* segments whose file was not there at the start */
	uint64_t swept;			  /* files that were not in the index at the start */
	uint64_t adopted;		  /* files that a new index was made of */
	uint64_t removed;		  /* segments that went because of the limits */
	uint64_t segments, segment_bytes; /* now */
	uint64_t index_bytes;		  /* now, without its log, which has 4 MiB at most */
};
extern const struct counters store_counters;

#endif
