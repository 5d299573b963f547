// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the text of a request -> what is asked for
 * units:   PIDs as the collector sees them, start times in clock ticks
 * threads: any
 * errors:  a text that says what is wrong
 * source:  docs/publish.md
 *
 *   jvms [FROM]                          rows of JVMs with this PID or a higher one
 *   code.wire PID START_TICKS [FROM]     entries of living code, from a place of the walk on
 *   code.json PID START_TICKS [FROM]     the same as JSON
 *
 * Numbers are decimal. One space is between words; a newline may end the text.
 */
#ifndef FG_PUBLISH_PUBLISH_REQUEST_H
#define FG_PUBLISH_PUBLISH_REQUEST_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PUBLISH_REQUEST_BYTES 128 /* a longer message ends its connection */

/* What an answer is about, and how it is written. */
enum publish_form {
	PUBLISH_ERROR, /* a line of JSON */
	PUBLISH_JVMS,  /* lines */
	PUBLISH_CODE_WIRE,
	PUBLISH_CODE_JSON,
};

struct publish_request {
	enum publish_form form;
	pid_t pid;
	uint64_t start_ticks;
	uint64_t from; /* 0 unless given */
};

/* Returns NULL, or what is wrong; *ret is untouched then. */
const char *publish_request_parse(const char *text, size_t len, struct publish_request *ret);

#endif
