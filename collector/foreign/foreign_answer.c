// SPDX-License-Identifier: Apache-2.0
/*
 * What a parser of a perf map answers, see foreign_answer.h:
 *
 *   struct foreign_answer_head
 *   records: u64 addr, u32 size, u16 length of the name, the name; without padding, in the host's
 *   byte order
 *   the line that has not ended
 */
#include "foreign/foreign_answer.h"

#include "base/array.h"
#include "base/utf8.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RECORD_BYTES  14u /* without its name */
#define SHORTEST_LINE 6u  /* "1 1 a" and the end of the line */
#define LONGEST_TEXT  (FOREIGN_PIECE_BYTES + FOREIGN_LINE_BYTES)
#define MAX_RECORDS   (LONGEST_TEXT / SHORTEST_LINE)
#define MAX_ALL_BYTES (MAX_RECORDS * RECORD_BYTES + LONGEST_TEXT)

/* ---- the parser ---- */

struct maker {
	char *bytes;
	size_t used, capacity;
	bool has_no_memory;
};

static void append(struct maker *maker, const void *bytes, size_t len)
{
	if (maker->has_no_memory ||
	    ARRAY_RESERVE(maker->bytes, maker->capacity, maker->used + len) < 0) {
		maker->has_no_memory = true;
		return;
	}
	memcpy(maker->bytes + maker->used, bytes, len);
	maker->used += len;
}

static void append_line(void *arg, const struct foreign_line *line)
{
	const uint16_t len = (uint16_t)line->len;

	append(arg, &line->addr, sizeof(line->addr));
	append(arg, &line->size, sizeof(line->size));
	append(arg, &len, sizeof(len));
	append(arg, line->name, line->len);
}

int foreign_answer_make(const struct foreign_text *text, const char *piece, size_t len, char **ret,
			size_t *ret_len)
{
	struct foreign_text state = *text;
	struct foreign_text_stats stats = {0};
	struct foreign_answer_head head = {0};
	struct maker maker = {0};
	const struct foreign_sink sink = {.fn = append_line, .arg = &maker};

	append(&maker, &head, sizeof(head));
	foreign_text_feed(&state, piece, len, &sink, &stats);
	head = (struct foreign_answer_head){.records_bytes = maker.used - sizeof(head),
					    .broken = stats.broken,
					    .cut = stats.cut,
					    .line_bytes = (uint32_t)state.used,
					    .is_long = state.is_long};
	append(&maker, state.line, state.used);
	if (maker.has_no_memory) {
		free(maker.bytes);
		return -ENOMEM;
	}
	memcpy(maker.bytes, &head, sizeof(head));
	*ret = maker.bytes;
	*ret_len = maker.used;
	return 0;
}

/* ---- the collector ---- */

size_t foreign_answer_bytes(const struct foreign_answer_head *head)
{
	if (head->records_bytes > MAX_ALL_BYTES || head->line_bytes > FOREIGN_LINE_BYTES ||
	    head->is_long > 1)
		return 0;
	return sizeof(*head) + (size_t)head->records_bytes + head->line_bytes;
}

struct records {
	const char *at, *end;
};

/* Takes a record. The name in ret is not cleaned yet. */
static int take_record(struct records *records, struct foreign_line *ret)
{
	uint16_t len;

	if ((size_t)(records->end - records->at) < RECORD_BYTES)
		return -EBADMSG;
	memcpy(&ret->addr, records->at, sizeof(ret->addr));
	memcpy(&ret->size, records->at + 8, sizeof(ret->size));
	memcpy(&len, records->at + 12, sizeof(len));
	records->at += RECORD_BYTES;
	if (ret->size == 0 || ret->addr > UINT64_MAX - ret->size || len == 0 ||
	    len > FOREIGN_NAME_BYTES || len > records->end - records->at)
		return -EBADMSG;
	ret->name = records->at;
	ret->len = len;
	records->at += len;
	return 0;
}

/* Checks all records, and counts them. */
static int count_records(struct records records, uint64_t *ret)
{
	struct foreign_line line;

	for (*ret = 0; records.at < records.end; (*ret)++) {
		const int err = take_record(&records, &line);

		if (err)
			return err;
	}
	return 0;
}

static void hand_over(struct records *records, size_t max_lines, const struct foreign_sink *sink)
{
	char clean[FOREIGN_NAME_BYTES + 1];
	struct foreign_line line;

	while (max_lines-- > 0 && records->at < records->end && take_record(records, &line) == 0) {
		utf8_clean(line.name, line.len, clean, sizeof(clean));
		line.name = clean;
		line.len = strlen(clean);
		sink->fn(sink->arg, &line);
	}
}

/* Checks all of the answer, and counts its lines. */
static int check(const struct foreign_taking *taking, const struct foreign_answer_head *head,
		 struct records records, struct foreign_text_stats *stats)
{
	uint64_t lines;

	/* Each line ends in the piece. */
	if (count_records(records, &lines) < 0 || lines > taking->piece_len ||
	    head->broken > taking->piece_len - lines || head->cut > lines)
		return -EBADMSG;
	stats->lines += lines;
	stats->broken += head->broken;
	stats->cut += head->cut;
	return 0;
}

int foreign_answer_take(struct foreign_taking *taking, size_t max_lines,
			const struct foreign_sink *sink, struct foreign_text *text,
			struct foreign_text_stats *stats)
{
	struct foreign_answer_head head;
	struct records records;

	if (taking->len < sizeof(head))
		return -EBADMSG;
	memcpy(&head, taking->answer, sizeof(head));
	if (foreign_answer_bytes(&head) != taking->len)
		return -EBADMSG;
	records.at = taking->answer + sizeof(head);
	records.end = records.at + head.records_bytes;
	if (taking->pos == 0 && check(taking, &head, records, stats) < 0)
		return -EBADMSG;
	if (taking->pos > 0)
		records.at = taking->answer + taking->pos;
	hand_over(&records, max_lines, sink);
	taking->pos = (size_t)(records.at - taking->answer);
	if (records.at < records.end)
		return 1;
	memcpy(text->line, records.end, head.line_bytes);
	text->used = head.line_bytes;
	text->is_long = head.is_long;
	return 0;
}
