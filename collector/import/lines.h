// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a descriptor -> its lines, one after the other
 * units:   bytes; lines count from 1
 * threads: one at a time
 * errors:  negative errno of read(2), -ENOMEM
 * source:  none
 *
 * The line before stays where it is, for the reader that looks how much of it comes again. The
 * buffer grows to hold two lines of IMPORT_MAX_LINE; a longer one is skipped and told.
 */
#ifndef FG_IMPORT_LINES_H
#define FG_IMPORT_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lines {
	int fd;
	char *buf;
	size_t size;
	size_t kept;  /* where the line before begins */
	size_t start; /* of what has not been given out */
	size_t end;
	uint64_t number; /* of the line given last */
	bool is_at_end;
};

struct line {
	const char
		*text; /* not terminated; without its line feed and a carriage return before it */
	size_t len;
	bool is_too_long;   /* then it has been skipped */
	const char *before; /* the line given before this one, if that was not too long */
};

int lines_init(struct lines *lines, int fd);
void lines_fini(struct lines *lines);
/* What comes first, at most max bytes of it, without taking it. */
int lines_peek(struct lines *lines, size_t max, const char **ret, size_t *ret_len);
/* 1 and a line, 0 at the end. The line lives until the next call. */
int lines_next(struct lines *lines, struct line *ret);
/* Takes the first len bytes of what is left, or as many as there are. */
int lines_take(struct lines *lines, size_t len, const char **ret, size_t *ret_len);
/* Takes what is there of what is left, at least a byte, or none at the end; until the next call. */
int lines_chunk(struct lines *lines, const char **ret, size_t *ret_len);
/* Takes all that is left, up to max bytes: -EFBIG. The caller borrows it. */
int lines_rest(struct lines *lines, size_t max, const char **ret, size_t *ret_len);

#endif
