// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   bytes of a perf map that a process wrote itself -> its lines
 * units:   addr in the target's address space, sizes bytes
 * threads: one at a time
 * errors:  a line that is none is counted and skipped
 * source:  linux tools/perf/Documentation/jit-interface.txt; what Node.js, .NET, CPython and
 *          Erlang write
 *
 * The file grows while it is read, so that bytes come in pieces that end anywhere, and it is a
 * container's: any bytes at all. A zero-filled struct foreign_text is a valid start.
 */
#ifndef FG_MAPS_FOREIGN_TEXT_H
#define FG_MAPS_FOREIGN_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FOREIGN_NAME_BYTES 1024			     /* a longer name is cut */
#define FOREIGN_LINE_BYTES (FOREIGN_NAME_BYTES + 64) /* with room for both numbers */

struct foreign_line {
	uint64_t addr;
	uint32_t size;
	const char *name; /* clean, see base/utf8.h; not terminated */
	size_t len;	  /* 1 to FOREIGN_NAME_BYTES */
};

struct foreign_text_stats {
	uint64_t lines;	 /* good ones */
	uint64_t broken; /* of another form, with a number that is too large, or without size */
	uint64_t cut;	 /* among the good ones: names that were too long */
};

struct foreign_text {
	char line[FOREIGN_LINE_BYTES]; /* the beginning of one that has not ended yet */
	size_t used;
	bool is_long; /* more of it came than there is room for */
};

typedef void (*foreign_line_fn)(void *arg, const struct foreign_line *line);

struct foreign_sink {
	foreign_line_fn fn;
	void *arg;
};

/* Calls the sink for each line that ends in data. Counts are added to stats. */
void foreign_text_feed(struct foreign_text *text, const char *data, size_t len,
		       const struct foreign_sink *sink, struct foreign_text_stats *stats);

#endif
