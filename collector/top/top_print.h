// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the view -> a table as plain text, or one JSON object
 * units:   samples, per cent, seconds
 * threads: one
 * errors:  the stream's; NULL when memory is out
 * source:  none
 *
 * The object, on one line:
 *
 *   time_unix_s, window_s   time, and the seconds that it covers (fewer while the window fills)
 *   target, event, hz, jvms what is sampled, and how
 *   kind, unit              what samples are, and the unit of their weights
 *   quality: samples, lost, unnamed, unnamed_java, unrooted, heapless, stackless, overflow, untimed
 *   samples                 samples of the chosen thread or process, or all
 *   cores                   these as processor time in cores; absent where that is not known
 *   view                    "methods", "threads" or "jvms": what a row is
 *   rows_left_out           rows beyond the number asked for, or not matched
 *   rows: [{name, self, total, cores (of self), self_percent, total_percent, pid, jvm, container,
 *           kind (methods), tid (threads), threads (jvms), hottest (threads and jvms)}]
 */
#ifndef FG_TOP_TOP_PRINT_H
#define FG_TOP_TOP_PRINT_H

#include "profile/profile_kind.h"
#include "top/top_view.h"

#include <jansson.h>
#include <stdio.h>

/* The facts beside the rows. Texts are clean. */
struct top_facts {
	const struct profile_kind *kind;
	const char *target;  /* "all JVMs" */
	const char *event;   /* cpu-clock */
	const char *summary; /* lines above the table, without the last line feed */
	const char *quality;
	unsigned hz, jvms;
	double time_unix_s, window_s;
	struct profile_quality figures;
	uint64_t untimed;
};

/* Prints the table. width 0: lines are as long as their names. */
void top_print(const struct top_view *view, const struct top_facts *facts, unsigned width,
	       size_t most_rows, FILE *stream);
json_t *top_to_json(const struct top_view *view, const struct top_facts *facts, size_t most_rows);

#endif
