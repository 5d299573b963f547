// SPDX-License-Identifier: Apache-2.0
/* Lines in a buffer that is filled at its end, see lines.h. */
#include "import/lines.h"

#include "import/import_limits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SIZE ((size_t)1 << 18)
#define LEAST_ROOM 64u /* bytes, for some characters */

int lines_init(struct lines *lines, int fd)
{
	*lines = (struct lines){
		.source = text_source_new(fd), .buf = malloc(FIRST_SIZE), .size = FIRST_SIZE};
	return lines->buf && lines->source ? 0 : -ENOMEM;
}

void lines_fini(struct lines *lines)
{
	free(lines->buf);
	text_source_free(lines->source);
	*lines = (struct lines){0};
}

/*
 * Makes room behind end. Bytes that were given out are dropped; if that frees little, the buffer
 * grows.
 */
static int make_room(struct lines *lines)
{
	const size_t live = lines->end - lines->kept;
	char *bigger;

	if (lines->kept > 0 && live <= lines->size / 2) {
		memmove(lines->buf, lines->buf + lines->kept, live);
		lines->start -= lines->kept;
		lines->kept = 0;
		lines->end = live;
		return 0;
	}
	if (lines->end + LEAST_ROOM <= lines->size)
		return 0;
	/* NOLINTNEXTLINE(clang-analyzer-optin.portability.UnixAPI): lines_init has set a size */
	bigger = realloc(lines->buf, lines->size * 2);
	if (!bigger)
		return -ENOMEM;
	lines->buf = bigger;
	lines->size *= 2;
	return 0;
}

/* Reads once more. Also returns 0 at the end of the input; is_at_end is then set. */
static int fill(struct lines *lines)
{
	int rc = make_room(lines);
	size_t n = 0;

	if (rc == 0)
		rc = text_source_read(lines->source, lines->buf + lines->end,
				      lines->size - lines->end, &n);
	if (rc < 0)
		return rc;
	lines->end += n;
	lines->is_at_end = n == 0;
	return 0;
}

int lines_peek(struct lines *lines, size_t max, const char **ret, size_t *ret_len)
{
	while (lines->end - lines->start < max && !lines->is_at_end) {
		const int rc = fill(lines);

		if (rc < 0)
			return rc;
	}
	*ret = lines->buf + lines->start;
	*ret_len = lines->end - lines->start < max ? lines->end - lines->start : max;
	return 0;
}

int lines_take(struct lines *lines, size_t len, const char **ret, size_t *ret_len)
{
	const int rc = lines_peek(lines, len, ret, ret_len);

	if (rc < 0)
		return rc;
	lines->start += *ret_len;
	lines->kept = lines->start;
	return 0;
}

int lines_chunk(struct lines *lines, const char **ret, size_t *ret_len)
{
	const int rc = lines_peek(lines, 1, ret, ret_len);

	if (rc < 0)
		return rc;
	*ret_len = lines->end - lines->start;
	lines->start = lines->end;
	lines->kept = lines->end;
	return 0;
}

int lines_rest(struct lines *lines, size_t max, const char **ret, size_t *ret_len)
{
	const int rc = lines_peek(lines, max + 1, ret, ret_len);

	if (rc < 0)
		return rc;
	if (*ret_len > max)
		return -EFBIG;
	lines->start = lines->end;
	return 0;
}

/* Reads to the end of a line that is too long, and keeps nothing of the line. */
static int skip_line(struct lines *lines)
{
	for (;;) {
		const char *const from = lines->buf + lines->start;
		const char *const feed = memchr(from, '\n', lines->end - lines->start);
		int rc;

		if (feed) {
			lines->start = (size_t)(feed - lines->buf) + 1;
			lines->kept = lines->start;
			return 0;
		}
		lines->start = 0;
		lines->end = 0;
		lines->kept = 0;
		if (lines->is_at_end)
			return 0;
		rc = fill(lines);
		if (rc < 0)
			return rc;
	}
}

static int give(struct lines *lines, size_t begin, size_t len, struct line *ret)
{
	const char *const before = lines->buf + lines->kept;

	lines->kept = begin;
	if (len > IMPORT_MAX_LINE) {
		lines->kept = lines->start;
		*ret = (struct line){.is_too_long = true};
		return 1;
	}
	if (len > 0 && lines->buf[begin + len - 1] == '\r')
		len--;
	*ret = (struct line){.text = lines->buf + begin, .len = len, .before = before};
	return 1;
}

int lines_next(struct lines *lines, struct line *ret)
{
	size_t seen = 0; /* bytes of this line that have no line feed among them */

	for (;;) {
		const char *const from = lines->buf + lines->start + seen;
		const char *const feed = memchr(from, '\n', lines->end - lines->start - seen);
		const size_t begin = lines->start;
		int rc;

		if (feed) {
			lines->number++;
			lines->start = (size_t)(feed - lines->buf) + 1;
			return give(lines, begin, lines->start - 1 - begin, ret);
		}
		seen = lines->end - lines->start;
		if (lines->is_at_end) {
			lines->start = lines->end;
			lines->number += seen > 0;
			return seen > 0 ? give(lines, begin, seen, ret) : 0;
		}
		if (seen > IMPORT_MAX_LINE) {
			rc = skip_line(lines);
			lines->number++;
			*ret = (struct line){.is_too_long = true};
			return rc < 0 ? rc : 1;
		}
		rc = fill(lines);
		if (rc < 0)
			return rc;
	}
}
