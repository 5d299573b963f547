// SPDX-License-Identifier: Apache-2.0
/*
 * Parses lines of a perf map that a runtime writes, see foreign_text.h:
 *
 *   7f5e55fc5b80 180 JS:^turn /app/main.js:10:14\n
 *   |            |   | all the rest is the name, spaces included
 *   |            | the code's size in bytes, hexadecimal
 *   | the code's address, hexadecimal; Erlang writes 0x in front
 *
 * Some runtimes put spaces in front of a number, or two spaces between numbers; no runtime puts
 * anything else there.
 */
#include "foreign/foreign_text.h"

#include "base/utf8.h"

#include <string.h>

struct cursor {
	const char *at, *end;
};

static void skip_spaces(struct cursor *cursor)
{
	while (cursor->at < cursor->end && (*cursor->at == ' ' || *cursor->at == '\t'))
		cursor->at++;
}

/*
 * Takes a number of at most 16 digits with a space behind it. Leading zeros do not count as digits.
 */
static bool take_number(struct cursor *cursor, uint64_t *ret)
{
	uint64_t value = 0;
	const char *start;

	skip_spaces(cursor);
	if (cursor->end - cursor->at > 2 && cursor->at[0] == '0' && (cursor->at[1] | 32) == 'x')
		cursor->at += 2;
	for (start = cursor->at; cursor->at < cursor->end && ascii_hex(*cursor->at) >= 0;) {
		if (value >> 60)
			return false;
		value = value << 4 | (uint64_t)ascii_hex(*cursor->at++);
	}
	*ret = value;
	return cursor->at > start && cursor->at < cursor->end &&
	       (*cursor->at == ' ' || *cursor->at == '\t');
}

/* Reads a line. The name in ret is not cleaned yet. */
static bool parse(const char *line, size_t len, struct foreign_line *ret)
{
	struct cursor cursor = {line, line + len};
	uint64_t addr, size;

	if (!take_number(&cursor, &addr) || !take_number(&cursor, &size))
		return false;
	if (size == 0 || size > UINT32_MAX || addr > UINT64_MAX - size)
		return false;
	skip_spaces(&cursor);
	while (cursor.end > cursor.at && (cursor.end[-1] == '\r' || cursor.end[-1] == ' '))
		cursor.end--;
	if (cursor.at == cursor.end)
		return false;
	*ret = (struct foreign_line){.addr = addr,
				     .size = (uint32_t)size,
				     .name = cursor.at,
				     .len = (size_t)(cursor.end - cursor.at)};
	return true;
}

/* As fgcollect leaves where its own lines were: without a size, and with a name of two bytes. */
static bool is_blank(const char *line, size_t len)
{
	struct cursor cursor = {line, line + len};
	uint64_t addr, size;

	while (cursor.end - cursor.at > 1 && cursor.at[0] == '0' && cursor.at[1] == '0')
		cursor.at++;
	return take_number(&cursor, &addr) && take_number(&cursor, &size) && addr == 0 &&
	       size == 0 && cursor.end - cursor.at == 3;
}

static void end_line(struct foreign_text *text, const struct foreign_sink *sink,
		     struct foreign_text_stats *stats)
{
	struct foreign_line line;

	if (parse(text->line, text->used, &line)) {
		const size_t len = utf8_cut(line.name, line.len, FOREIGN_NAME_BYTES);

		stats->cut += len < line.len || text->is_long;
		stats->lines++;
		utf8_clean(line.name, len, text->line, sizeof(text->line));
		line.name = text->line;
		line.len = strlen(text->line);
		if (line.len > 0)
			sink->fn(sink->arg, &line);
	} else if (!is_blank(text->line, text->used)) {
		stats->broken++;
	}
	text->used = 0;
	text->is_long = false;
}

void foreign_text_feed(struct foreign_text *text, const char *data, size_t len,
		       const struct foreign_sink *sink, struct foreign_text_stats *stats)
{
	while (len > 0) {
		const char *newline = memchr(data, '\n', len);
		const size_t part = newline ? (size_t)(newline - data) : len;
		const size_t room = sizeof(text->line) - text->used;
		const size_t kept = part < room ? part : room;

		memcpy(text->line + text->used, data, kept);
		text->used += kept;
		text->is_long |= kept < part;
		data += part;
		len -= part;
		if (!newline)
			return;
		end_line(text, sink, stats);
		data++;
		len--;
	}
}

static const struct counter counters[] = {
	COUNTER_SUM(struct foreign_text_stats, lines, "foreign_maps.lines",
		    "foreign_map_lines_total",
		    "Lines that were read of perf maps of other runtimes."),
	COUNTER_SUM(struct foreign_text_stats, broken, "foreign_maps.broken_lines",
		    "foreign_map_broken_lines_total", "Lines of perf maps that are none."),
	COUNTER_SUM(struct foreign_text_stats, cut, "foreign_maps.cut_names",
		    "foreign_map_cut_names_total", "Names of perf maps that were cut."),
};

const struct counters foreign_text_counters = COUNTERS(struct foreign_text_stats, counters);
