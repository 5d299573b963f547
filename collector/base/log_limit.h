// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the lines of one kind logged so far -> whether one more line may be logged
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: one at a time
 * errors:  none
 * source:  none
 *
 * For lines that other processes can cause at will: ten lines a minute are allowed. When the next
 * minute begins, a line says how many were left out. A zero-filled struct log_limit is valid.
 */
#ifndef FG_BASE_LOG_LIMIT_H
#define FG_BASE_LOG_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#define LOG_LIMIT_LINES 10

struct log_limit {
	uint64_t minute_began_ns;
	unsigned lines;	   /* in this minute */
	unsigned left_out; /* in this minute */
};

bool log_limit_allows(struct log_limit *limit, uint64_t now_ns);

#endif
