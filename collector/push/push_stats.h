// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the counters of pushing
 * units:   counts since the start; "profiles" are bodies of requests; samples are those of
 *          processor time alone, because weights of other kinds are bytes or times
 * threads: a value
 * errors:  none
 * source:  none
 *
 * For each target made + found = sent + dropped + refused + in_doubt + waiting, in profiles and in
 * samples.
 */
#ifndef FG_PUSH_PUSH_STATS_H
#define FG_PUSH_PUSH_STATS_H

#include "base/counters.h"
#include "push/push_url.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PUSH_MAX_TARGETS 8

/* Flaws of samples: all of them, and those with one. */
enum push_quality { PUSH_ALL, PUSH_UNNAMED, PUSH_NOT_ROOTED, PUSH_OVERFLOW, PUSH_QUALITIES };

struct push_amount {
	uint64_t profiles, samples;
};

struct push_target_stats {
	char name[PUSH_URL_BYTES];
	struct push_amount made;  /* for the target */
	struct push_amount found; /* in the spool, of an earlier run */
	struct push_amount sent, refused, in_doubt;
	struct push_amount dropped_full, dropped_old, dropped_failed; /* of the spool */
	struct push_amount waiting;				      /* now */
	uint64_t waiting_bytes, memory_bytes, sent_bytes;
	uint64_t oldest_unix_ns; /* when the oldest was made of those that wait; 0: none waits */
	uint64_t lag_sec;	 /* the age of that one, by the clock */
	uint64_t failed_tries;	 /* requests after which a profile waits again, or has waited on */
	uint64_t damaged;	 /* files of the spool */
	uint64_t undeleted;	 /* files that are done with, now */
	int64_t clock_skew_sec;
	bool is_failing;
};
extern const struct counters push_target_counters;

struct push_stats {
	uint64_t series_unwanted;	  /* by relabelling */
	uint64_t labels_left_out;	  /* more than a server takes */
	uint64_t stacks_cut;		  /* deeper than a server takes */
	uint64_t profiles_split;	  /* pieces beyond the first */
	uint64_t profiles_unmade;	  /* for lack of memory */
	uint64_t stacks_too_large;	  /* that are more than a server takes, alone */
	uint64_t graphs_dropped;	  /* for which there was no room to wait */
	uint64_t waiting_bytes;		  /* of graphs that wait */
	uint64_t samples[PUSH_QUALITIES]; /* of processor time that were pushed, with their flaws */
	size_t n_targets;
	struct push_target_stats targets[PUSH_MAX_TARGETS];
};
extern const struct counters push_counters;

#endif
