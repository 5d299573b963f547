// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a line of perf script -> its parts
 * units:   bytes; the period in the event's unit
 * threads: any
 * errors:  false: the line is not of the kind that was asked for
 * source:  perf-script(1), the default fields with and without --show-..., any choice of -F
 *
 *   header = [SP] comm [SP pid[/tid]] [SP "[" cpu "]"] [SP misc] [SP secs "." fraction ":"]
 *            ([[SP period] SP event ":"] [rest] | SP "PERF_RECORD_" type rest)
 *   frame  = [SP] pc SP [name ["+0x" offset]] SP "(" file ["+0x" offset] ")"
 *
 * A comm may contain spaces and numbers. It ends before the PID that has the most telling fields
 * behind it. perf prints -1 for a PID or CPU that it does not know.
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
	uint64_t time_ns;
	bool has_time;
	/* the name of a record that is no sample, from --show-mmap-events and others; or empty */
	struct perf_text record;
	/*
	 * the text behind the event: the frame of a sample without a call chain, the address of its
	 * data, what a tracepoint says; behind record, what that says
	 */
	struct perf_text rest;
};

/* How sure it is that a line is a header: the greater, the surer. */
enum perf_header_sort {
	PERF_HEADER_NONE,
	PERF_HEADER_COMM,  /* any text: the name that -F comm,ip,sym has, or a sentence */
	PERF_HEADER_BARE,  /* a name and a PID, as -F comm,pid,ip,sym has it, and many a sentence */
	PERF_HEADER_EVENT, /* an event as well */
	PERF_HEADER_FULL,  /* a CPU, a time, or the name of a record */
};

struct perf_frame {
	struct perf_text pc;
	struct perf_text name;	 /* without the offset; may be empty */
	struct perf_text offset; /* hexadecimal digits; may be empty */
	struct perf_text file;	 /* without the parentheses; empty if there are none */
};

enum perf_header_sort perf_read_header(const char *line, size_t len, struct perf_header *ret);
/* Whether the line begins with an address; the name and the file may be missing. */
bool perf_read_frame(const char *line, size_t len, struct perf_frame *ret);
/* The frame in the line of a sample without a call chain. */
bool perf_read_only_frame(const struct perf_header *header, struct perf_frame *ret);
/*
 * Whether the line has the shape of a frame for certain: an address as perf indents it, or a file.
 */
bool perf_is_frame(const char *line, size_t len);

#endif
