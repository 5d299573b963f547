// SPDX-License-Identifier: Apache-2.0
/*
 * What parsers of perf maps answer: the input as the answer of a parser that was taken over, and as
 * a piece whose honest answer has to lead to what the piece itself says.
 */
#include "fuzzer.h"

#include "base/utf8.h"
#include "foreign/foreign_answer.h"

#include <stdlib.h>
#include <string.h>

struct sum {
	uint64_t lines, hash;
};

static void check(void *arg, const struct foreign_line *line)
{
	struct sum *const sum = arg;
	char clean[FOREIGN_NAME_BYTES + 1];

	utf8_clean(line->name, line->len, clean, sizeof(clean));
	if (line->size == 0 || line->addr > UINT64_MAX - line->size || line->len == 0 ||
	    line->len > FOREIGN_NAME_BYTES || strlen(clean) != line->len ||
	    memcmp(clean, line->name, line->len) != 0)
		abort();
	sum->lines++;
	sum->hash = sum->hash * 31 + line->addr + line->size;
	for (size_t i = 0; i < line->len; i++)
		sum->hash = sum->hash * 31 + (unsigned char)line->name[i];
}

static void take(const char *answer, size_t len)
{
	struct sum sum = {0};
	const struct foreign_sink sink = {.fn = check, .arg = &sum};
	struct foreign_text text = {.used = 0};
	struct foreign_text_stats stats = {0};
	struct foreign_taking taking = {
		.answer = answer, .len = len, .piece_len = FOREIGN_PIECE_BYTES};
	const int err = foreign_answer_take(&taking, SIZE_MAX, &sink, &text, &stats);

	if (err ? sum.lines > 0 || text.used > 0
		: sum.lines != stats.lines || text.used > sizeof(text.line))
		abort();
}

static void compare(const char *piece, size_t len)
{
	struct sum direct = {0}, asked = {0};
	const struct foreign_sink direct_sink = {.fn = check, .arg = &direct};
	const struct foreign_sink asked_sink = {.fn = check, .arg = &asked};
	struct foreign_text text = {.used = 0}, other = {.used = 0};
	struct foreign_text_stats stats = {0}, others = {0};
	struct foreign_taking taking;
	char *answer;
	size_t answer_len;
	int err;

	if (len > FOREIGN_PIECE_BYTES ||
	    foreign_answer_make(&text, piece, len, &answer, &answer_len) < 0)
		return;
	foreign_text_feed(&text, piece, len, &direct_sink, &stats);
	taking = (struct foreign_taking){.answer = answer, .len = answer_len, .piece_len = len};
	while ((err = foreign_answer_take(&taking, 2, &asked_sink, &other, &others)) > 0)
		;
	if (err < 0 || direct.hash != asked.hash || memcmp(&stats, &others, sizeof(stats)) != 0 ||
	    text.used != other.used || text.is_long != other.is_long ||
	    memcmp(text.line, other.line, text.used) != 0)
		abort();
	free(answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	take((const char *)data, size);
	compare((const char *)data, size);
	return 0;
}
