// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a descriptor -> the lines of its text, one after the other
 * units:   bytes; lines count from 1
 * threads: one at a time
 * errors:  those of text_source.h, -ENOMEM
 * source:  none
 *
 * The line before stays in memory, so that the reader can see how much of it comes again. The
 * buffer grows to hold two lines of IMPORT_MAX_LINE; a longer line is skipped and marked.
 */
#ifndef FG_IMPORT_LINES_H
#define FG_IMPORT_LINES_H

#include "import/text_source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lines {
	struct text_source *source;
	char *buf;
	size_t size;
	size_t kept;  /* start of the line before */
	size_t start; /* start of the bytes that have not been given out */
	size_t end;
	uint64_t number; /* number of the last line */
	bool is_at_end;
};

struct line {
	const char
		*text; /* not terminated; without its line feed and a carriage return before it */
	size_t len;
	bool is_too_long; /* the line has been skipped */
	/* start of the line before; text itself if there was none, or it was too long */
	const char *before;
};

int lines_init(struct lines *lines, int fd);
void lines_fini(struct lines *lines);
/* The next bytes, at most max of them, without taking them. */
int lines_peek(struct lines *lines, size_t max, const char **ret, size_t *ret_len);
/* The next line, which lives until the next call. Returns 1, or 0 at the end. */
int lines_next(struct lines *lines, struct line *ret);
/* Takes the next len bytes, or as many as there are. */
int lines_take(struct lines *lines, size_t len, const char **ret, size_t *ret_len);
/*
 * Takes the bytes that have been read already, at least one, or none at the end. They live until
 * the next call.
 */
int lines_chunk(struct lines *lines, const char **ret, size_t *ret_len);
/* Takes all remaining bytes, borrowed; -EFBIG if they are more than max. */
int lines_rest(struct lines *lines, size_t max, const char **ret, size_t *ret_len);

#endif
