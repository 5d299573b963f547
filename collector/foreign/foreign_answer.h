// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a piece of a perf map -> bytes that a parser sends -> the lines of the piece
 * units:   bytes
 * threads: any
 * errors:  negative errno; -EBADMSG: an answer that no parser makes
 * source:  foreign_text.h
 *
 * The answer is a head, a record for each good line, and the beginning of the line that the piece
 * has not ended. The reader of an answer trusts no value in it, because the piece may have taken
 * over the parser. Such a parser can invent lines, as the piece itself could.
 */
#ifndef FG_FOREIGN_FOREIGN_ANSWER_H
#define FG_FOREIGN_FOREIGN_ANSWER_H

#include "foreign/foreign_text.h"

#define FOREIGN_PIECE_BYTES ((size_t)256 << 10) /* at most, of a perf map */

struct foreign_answer_head {
	uint64_t records_bytes;
	uint64_t broken, cut; /* lines, see foreign_text_stats */
	uint32_t line_bytes;  /* of the line that has not ended */
	uint32_t is_long;     /* 0 or 1 */
};

/* Parses a piece. text: the state before it. The caller frees *ret. */
int foreign_answer_make(const struct foreign_text *text, const char *piece, size_t len, char **ret,
			size_t *ret_len);

/* The length of the whole answer; 0: no parser makes such a head. */
size_t foreign_answer_bytes(const struct foreign_answer_head *head);

/* An answer that is being taken. */
struct foreign_taking {
	const char *answer; /* borrowed */
	size_t len;
	size_t piece_len; /* of the piece that was parsed */
	size_t pos;	  /* where the next line lies; 0: none has been taken */
};

/*
 * Calls the sink for some lines of the answer, max_lines at most. Returns 1 if more are left; 0:
 * none is, and text is the state behind the piece. Nothing of an answer with an error is taken.
 */
int foreign_answer_take(struct foreign_taking *taking, size_t max_lines,
			const struct foreign_sink *sink, struct foreign_text *text,
			struct foreign_text_stats *stats);

#endif
