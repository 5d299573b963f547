// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what a reader met in a file: its format, what was counted, what was ignored and why
 * units:   as the fields say; lines and samples count from 1
 * threads: one at a time
 * errors:  none; reasons are literals
 * source:  none
 */
#ifndef FG_IMPORT_IMPORT_REPORT_H
#define FG_IMPORT_IMPORT_REPORT_H

#include "import/inlined.h"

#include <stdbool.h>
#include <stdint.h>

#define IMPORT_EVENT_BYTES 64

enum import_format {
	IMPORT_NOTHING, /* an empty file */
	IMPORT_FOLDED,
	IMPORT_PERF_SCRIPT,
	IMPORT_PPROF,
	IMPORT_RECORDING,  /* of our own */
	IMPORT_UNREADABLE, /* none of these; import_report.first_reason says what it looks like */
};

struct import_report {
	enum import_format format;
	uint64_t lines;
	uint64_t stacks;	/* counted */
	uint64_t ignored;	/* lines, stacks of perf script, or samples of pprof */
	uint64_t first_ignored; /* its line, or its number among samples, from 1 */
	const char *first_reason;
	uint64_t rounded;		      /* counts that were not whole */
	uint64_t two_counts;		      /* lines with a count for before and one for after */
	uint64_t other_events;		      /* samples of events that were not asked for */
	struct inlined_stats inlined;	      /* what was not found of these, if it was asked */
	bool has_periods;		      /* perf script's counts are the event's periods */
	char event[IMPORT_EVENT_BYTES];	      /* perf script's that was kept, or "" */
	char other_event[IMPORT_EVENT_BYTES]; /* the first that was not */
};

/* Counts a line that cannot be used; reason is a literal. */
void import_report_ignore(struct import_report *report, uint64_t line, const char *reason);

#endif
