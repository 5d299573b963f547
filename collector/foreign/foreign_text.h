// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   bytes of a perf map that a runtime writes -> its lines
 * units:   addr in the target's address space, sizes bytes
 * threads: one at a time
 * errors:  a line of another form is counted and skipped
 * source:  linux tools/perf/Documentation/jit-interface.txt; what Node.js, .NET, CPython and
 *          Erlang write
 *
 * The file grows while it is read, so its bytes come in pieces that may end within a line. The file
 * is a container's and may hold any bytes. A zero-filled struct foreign_text is a valid start.
 */
#ifndef FG_FOREIGN_FOREIGN_TEXT_H
#define FG_FOREIGN_FOREIGN_TEXT_H

#include "base/counters.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FOREIGN_NAME_BYTES 1024			     /* a longer name is cut */
#define FOREIGN_LINE_BYTES (FOREIGN_NAME_BYTES + 64) /* with room for both numbers */

struct foreign_line {
	uint64_t addr;
	uint32_t size;
	const char *name; /* borrowed, not terminated; clean, see base/utf8.h */
	size_t len;	  /* 1 to FOREIGN_NAME_BYTES */
};

struct foreign_text_stats {
	uint64_t lines;	 /* good lines */
	uint64_t broken; /* lines of another form, with too large a number, or of size 0 */
	uint64_t cut;	 /* good lines whose names were too long */
};
extern const struct counters foreign_text_counters;

struct foreign_text {
	char line[FOREIGN_LINE_BYTES]; /* the beginning of a line that has not ended yet */
	size_t used;
	bool is_long; /* the line is longer than its buffer */
};

typedef void (*foreign_line_fn)(void *arg, const struct foreign_line *line);

struct foreign_sink {
	foreign_line_fn fn;
	void *arg;
};

/* Calls the sink for each good line that ends in data. Counts are added to stats. */
void foreign_text_feed(struct foreign_text *text, const char *data, size_t len,
		       const struct foreign_sink *sink, struct foreign_text_stats *stats);

#endif
