// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a line of perf script -> its parts
 * units:   bytes; the period in the event's unit
 * threads: any
 * errors:  false: the line is not of the kind that was asked for
 * source:  perf-script(1), the default fields with and without --show-..., any choice of -F
 *
 *   header = [SP] comm SP pid[/tid] [SP "[" cpu "]"] [SP secs "." usecs ":"]
 *            [[SP period] SP event ":"] [rest]
 *   frame  = SP pc SP name ["+0x" offset] SP "(" file ")"
 *
 * A comm may contain spaces and numbers. It ends before the first PID that has the right fields
 * behind it.
 */
#ifndef FG_IMPORT_PERF_HEADER_H
#define FG_IMPORT_PERF_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Borrowed from the line, not terminated. */
struct perf_text {
	const char *text;
	size_t len;
};

struct perf_header {
	struct perf_text comm;
	struct perf_text pid;	/* may be empty */
	struct perf_text tid;	/* may be empty */
	struct perf_text event; /* may be empty */
	uint64_t period;	/* 0: there is none */
	/* the text behind the event, for samples without a call chain; may be empty */
	struct perf_text frame;
};

struct perf_frame {
	struct perf_text pc;
	struct perf_text name;	 /* without the offset */
	struct perf_text offset; /* hexadecimal digits; may be empty */
	struct perf_text file;	 /* without the parentheses; empty if there are none */
};

bool perf_read_header(const char *line, size_t len, struct perf_header *ret);
bool perf_read_frame(const char *line, size_t len, struct perf_frame *ret);
bool perf_is_header(const char *line, size_t len);
bool perf_is_frame(const char *line, size_t len);

#endif
