// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a line of perf script's text -> its parts
 * units:   bytes; the event's own for the period
 * threads: any
 * errors:  false where a line is not what is asked for
 * source:  perf-script(1), the default fields with and without --show-..., -F in any choice
 *
 *   header = [SP] comm SP pid[/tid] [SP "[" cpu "]"] [SP secs "." usecs ":"] [[SP period] SP event ":"] [rest]
 *   frame  = SP pc SP name ["+0x" offset] SP "(" file ")"
 *
 * A comm may hold spaces and numbers; it ends where a PID has behind it what must be there.
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
	struct perf_text pid;	/* or empty */
	struct perf_text tid;	/* or empty */
	struct perf_text event; /* or empty */
	uint64_t period;	/* 0: it is not there */
	struct perf_text frame; /* behind the event, for samples without a call chain; or empty */
};

struct perf_frame {
	struct perf_text pc;
	struct perf_text name;	 /* without its offset */
	struct perf_text offset; /* hexadecimal digits, or empty */
	struct perf_text file;	 /* without its parentheses; empty if there are none */
};

bool perf_read_header(const char *line, size_t len, struct perf_header *ret);
bool perf_read_frame(const char *line, size_t len, struct perf_frame *ret);
bool perf_is_header(const char *line, size_t len);
bool perf_is_frame(const char *line, size_t len);

#endif
