// SPDX-License-Identifier: Apache-2.0
/*
 * Both ends of the socket to a parser of a perf map, see foreign_parser.h. The parser says its PID
 * before it reads anything; then it gets struct foreign_text and the piece (confine/parser_text.h),
 * and answers with the bytes of foreign_answer.h.
 */
#include "foreign/foreign_parser.h"

#include "base/cleanup.h"
#include "guard/loop_clock.h"
#include "confine/parser.h"
#include "confine/parser_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct first_words {
	pid_t pid;
	struct foreign_answer_head head;
} __attribute__((packed));

struct foreign_parser {
	struct parser parser;
	struct owner owner;
	size_t piece_len;
	bool ends_line;
	uint64_t late_ns; /* when the parser is killed, by guard/loop_clock.h */
	struct first_words first;
	size_t got; /* bytes of first, and then of answer */
	char *answer;
	size_t answer_len; /* 0: the length is not known yet */
};

static struct foreign_parser *running[FOREIGN_MAX_PARSERS]; /* used by the model's thread only */

/* ---- the parser ---- */

void foreign_parser_serve(int sock)
{
	_cleanup_free_ char *piece = NULL;
	_cleanup_free_ char *answer = NULL;
	struct foreign_text text;
	size_t len, answer_len;

	if (parser_text_receive(sock, &text, sizeof(text), &piece, &len) < 0 ||
	    foreign_answer_make(&text, piece, len, &answer, &answer_len) < 0)
		return;
	parser_send(sock, answer, answer_len, -1);
}

/* ---- the collector ---- */

/* A free place for one more parser of the owner; NULL: there is none. */
static struct foreign_parser **find_place(struct owner owner)
{
	struct foreign_parser **place = NULL;
	struct owner_use use = {0};

	for (size_t i = 0; i < FOREIGN_MAX_PARSERS; i++) {
		if (running[i])
			owner_count(&use, owner, running[i]->owner);
		else
			place = &running[i];
	}
	return owner_has_all(use, FOREIGN_SHARE) ? NULL : place;
}

int foreign_parser_start(struct owner owner, const struct foreign_text *text, const char *piece,
			 size_t len, struct foreign_parser **ret)
{
	struct foreign_parser **const place = find_place(owner);
	struct foreign_parser *parser;
	int err;

	if (!place)
		return -EAGAIN;
	parser = calloc(1, sizeof(*parser));
	if (!parser)
		return -ENOMEM;
	err = parser_begin(PARSER_MAPS, &parser->parser);
	if (err) {
		free(parser);
		return err;
	}
	*place = parser;
	parser->owner = owner;
	parser->piece_len = len;
	parser->ends_line = len > 0 && piece[len - 1] == '\n';
	parser->late_ns = loop_clock_now_ns() + FOREIGN_PARSER_NS;
	err = parser_text_send(parser->parser.sock, text, sizeof(*text), piece, len);
	/* A parser that has ended says so when it is waited for. */
	if (err && err != -EBADMSG) {
		foreign_parser_free(parser);
		return err;
	}
	*ret = parser;
	return 0;
}

/* Makes room for the answer, whose head has come. */
static int take_head(struct foreign_parser *parser)
{
	const struct foreign_answer_head head = parser->first.head;
	const size_t len = foreign_answer_bytes(&head);

	if (len == 0)
		return -EBADMSG;
	parser->answer = malloc(len);
	if (!parser->answer)
		return -ENOMEM;
	memcpy(parser->answer, &head, sizeof(head));
	parser->answer_len = len;
	parser->got = sizeof(head);
	return 0;
}

static int receive(struct foreign_parser *parser, uint64_t until_ns)
{
	const int sock = parser->parser.sock;
	int err = 0;

	if (parser->answer_len == 0) {
		err = parser_receive_until(sock, &parser->first, sizeof(parser->first),
					   &parser->got, until_ns);
		if (!err)
			err = take_head(parser);
	}
	return err ? err
		   : parser_receive_until(sock, parser->answer, parser->answer_len, &parser->got,
					  until_ns);
}

enum foreign_parser_end foreign_parser_wait(struct foreign_parser *parser, uint64_t until_ns)
{
	const int err = receive(parser, until_ns);

	if (!err)
		return FOREIGN_PARSER_DONE;
	if (err != -EAGAIN)
		return parser->answer_len == 0 && parser->got < sizeof(pid_t)
			       ? FOREIGN_PARSER_UNBEGUN
			       : FOREIGN_PARSER_LOST;
	if (loop_clock_now_ns() < parser->late_ns)
		return FOREIGN_PARSER_WAITS;
	zygote_kill_parser(parser->parser.id, true);
	return FOREIGN_PARSER_LOST;
}

const char *foreign_parser_answer(const struct foreign_parser *parser, size_t *ret_len)
{
	*ret_len = parser->answer_len;
	return parser->answer;
}

size_t foreign_parser_piece(const struct foreign_parser *parser, bool *ret_ends_line)
{
	*ret_ends_line = parser->ends_line;
	return parser->piece_len;
}

void foreign_parser_free(struct foreign_parser *parser)
{
	if (!parser)
		return;
	for (size_t i = 0; i < FOREIGN_MAX_PARSERS; i++) {
		if (running[i] == parser)
			running[i] = NULL;
	}
	parser_stop(&parser->parser);
	free(parser->answer);
	free(parser);
}
