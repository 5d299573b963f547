// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what a reader found in a file: its format, counts, what was ignored and why
 * units:   those of the fields; lines and samples count from 1
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
	IMPORT_RECORDING,  /* a recording of our own */
	IMPORT_UNREADABLE, /* no known format; first_reason says what the file looks like */
};

struct import_report {
	enum import_format format;
	uint64_t lines;
	uint64_t stacks;	/* stacks that were counted */
	uint64_t comments;	/* lines of folded stacks that are comments */
	uint64_t ignored;	/* lines, stacks of perf script, or samples of pprof */
	uint64_t first_ignored; /* its line, or for pprof its number among samples, from 1 */
	const char *first_reason;
	uint64_t total;			      /* of folded stacks: the sum of all counts */
	uint64_t rounded;		      /* counts that were not whole */
	uint64_t two_counts;		      /* lines with counts before and after */
	uint64_t other_events;		      /* samples of events that are not kept */
	uint64_t other_kinds;		      /* kinds of samples beyond PROFILE_MAX_KINDS */
	struct inlined_stats inlined;	      /* failures of inlined.h, if it was used */
	bool has_periods;		      /* weights are perf script's periods */
	char event[IMPORT_EVENT_BYTES];	      /* the event of perf script that was kept, or "" */
	char other_event[IMPORT_EVENT_BYTES]; /* the first event that was not kept, or "" */
};

/* Counts a line that cannot be used. reason is a static text. */
void import_report_ignore(struct import_report *report, uint64_t line, const char *reason);

#endif
