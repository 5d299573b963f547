// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a piece of a perf map -> a parser (confine/zygote.h) that reads it -> its answer
 * units:   bytes, CLOCK_MONOTONIC nanoseconds
 * threads: the model's
 * errors:  enum foreign_parser_end
 * source:  foreign_answer.h
 *
 * Each piece has a parser of its own, which knows nothing but the piece and the line that the piece
 * before has not ended. Nobody has to wait for a parser: the caller asks again later. A parser that
 * has not answered after FOREIGN_PARSER_NS is killed.
 */
#ifndef FG_FOREIGN_FOREIGN_PARSER_H
#define FG_FOREIGN_FOREIGN_PARSER_H

#include "guard/owner.h"
#include "foreign/foreign_answer.h"

#define FOREIGN_PARSER_NS   UINT64_C(10000000000)
#define FOREIGN_MAX_PARSERS 32 /* at a time */
#define FOREIGN_SHARE	    4  /* of a user; a container with all its users has twice as many */

struct foreign_parser; /* opaque */

enum foreign_parser_end {
	FOREIGN_PARSER_WAITS, /* there is no answer yet */
	FOREIGN_PARSER_DONE,
	FOREIGN_PARSER_UNBEGUN, /* it ended before it read the piece, which another one may read */
	FOREIGN_PARSER_LOST,	/* it has died, lied, or was killed */
};

/*
 * Has a parser read a piece of at most FOREIGN_PIECE_BYTES, which is copied. owner: of the process.
 * Negative errno: no parser now.
 */
int foreign_parser_start(struct owner owner, const struct foreign_text *text, const char *piece,
			 size_t len, struct foreign_parser **ret);
/* Waits until until_ns at most; 0: not at all. */
enum foreign_parser_end foreign_parser_wait(struct foreign_parser *parser, uint64_t until_ns);
/* The answer of a parser that is done, not checked yet; borrowed. */
const char *foreign_parser_answer(const struct foreign_parser *parser, size_t *ret_len);
/* The length of the piece, and whether a line ends where the piece ends. */
size_t foreign_parser_piece(const struct foreign_parser *parser, bool *ret_ends_line);
/* Kills the parser if it is still there. NULL is legal. */
void foreign_parser_free(struct foreign_parser *parser);

/* The parser's side, a parser_fn. */
void foreign_parser_serve(int sock);

#endif
