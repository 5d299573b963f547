// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the lines of one kind logged so far, by who caused them -> whether one more may be
 *          logged
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: one at a time
 * errors:  none
 * source:  none
 *
 * For lines that other processes can cause at will: ten lines a minute of each group are allowed,
 * where a group is whatever number the caller has for a container or user (guard/owner.h). When the
 * next minute begins, a line says how many were left out. Past LOG_LIMIT_GROUPS in a minute, all
 * further groups are one. A zero-filled struct log_limit is valid.
 */
#ifndef FG_BASE_LOG_LIMIT_H
#define FG_BASE_LOG_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#define LOG_LIMIT_LINES	 10
#define LOG_LIMIT_GROUPS 32
#define LOG_LIMIT_NAME	 80

struct log_limit {
	uint64_t minute_began_ns;
	unsigned left_out; /* in this minute */
	unsigned n;	   /* groups of this minute */
	struct log_limit_part {
		uint64_t group;
		unsigned lines;
	} parts[LOG_LIMIT_GROUPS + 1];
};

bool log_limit_allows(struct log_limit *limit, uint64_t group, uint64_t now_ns);

/* For lines of which each group's are summed up by one line, once the minute is over. */
struct log_share {
	struct log_limit limit;
	struct {
		char name[LOG_LIMIT_NAME];
		unsigned left_out;
	} parts[LOG_LIMIT_GROUPS + 1];
};

/* name: of the group, as the line that sums up is to say it. */
bool log_share_allows(struct log_share *share, uint64_t group, const char *name, uint64_t now_ns);
/* Sums up if the minute is over: what is "JVMs have come or ended". To be called now and then. */
void log_share_step(struct log_share *share, const char *what, uint64_t now_ns);

#endif
