// SPDX-License-Identifier: Apache-2.0
/*
 * Both ends of the socket to a parser of a jar, see jar_parser.h. The parser says its PID before it
 * reads anything; then it gets a byte and the jar's descriptor, and answers with the rest of struct
 * jar_answer.
 */
#include "container/jar_parser.h"

#include "base/utf8.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

void jar_parser_serve(int sock)
{
	struct jar_answer answer = {0};
	int fd = -1;
	char byte;

	if (parser_receive(sock, &byte, sizeof(byte), &fd) < 0 || fd < 0)
		return;
	answer.err = jar_manifest_read(fd, answer.class);
	parser_send(sock, &answer.err, sizeof(answer) - offsetof(struct jar_answer, err), -1);
	close(fd);
}

int jar_parser_start(int fd, uint64_t now_ns, struct jar_parser *ret)
{
	const char byte = 0;
	int err;

	*ret = (struct jar_parser){.parser = {.sock = -1}, .late_ns = now_ns + JAR_PARSER_NS};
	if (!zygote_is_used()) {
		ret->answer.err = jar_manifest_read(fd, ret->answer.class);
		ret->got = sizeof(ret->answer);
		return 0;
	}
	if (parser_begin(PARSER_JARS, &ret->parser) < 0)
		return -EAGAIN;
	err = parser_send(ret->parser.sock, &byte, sizeof(byte), fd);
	/* A parser that has ended says so when its answer is taken. */
	if (err && err != -EBADMSG) {
		jar_parser_stop(ret);
		return -EAGAIN;
	}
	return 0;
}

/* What a parser has said is as hostile as the jar. */
static int check(const struct jar_answer *answer, char ret[JAR_CLASS_BYTES])
{
	const size_t len = strnlen(answer->class, sizeof(answer->class));

	if (answer->err > 0 || len == sizeof(answer->class) || (!answer->err && len == 0))
		return -EPROTO;
	if (!answer->err)
		utf8_clean(answer->class, len, ret, JAR_CLASS_BYTES);
	return answer->err;
}

int jar_parser_take(struct jar_parser *parser, uint64_t now_ns, char ret[JAR_CLASS_BYTES])
{
	int err = 0;

	if (parser->parser.sock >= 0)
		err = parser_receive_until(parser->parser.sock, &parser->answer,
					   sizeof(parser->answer), &parser->got, 0);
	if (err == -EAGAIN && now_ns < parser->late_ns)
		return -EAGAIN;
	if (err == -EAGAIN)
		zygote_kill_parser(parser->parser.id, true);
	jar_parser_stop(parser);
	return err ? -EPROTO : check(&parser->answer, ret);
}

void jar_parser_stop(struct jar_parser *parser)
{
	if (parser->parser.sock >= 0)
		parser_stop(&parser->parser);
	parser->parser.sock = -1;
}
