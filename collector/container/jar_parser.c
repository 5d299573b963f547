// SPDX-License-Identifier: Apache-2.0
/*
 * Both ends of the socket to a parser of a jar, see jar_parser.h. The parser says its PID before it
 * reads anything; then it gets a byte and the jar's descriptor, and answers with the rest of struct
 * jar_answer.
 */
#include "container/jar_parser.h"

#include "base/cleanup.h"
#include "base/guarded.h"
#include "base/root_file.h"
#include "base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
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

/* Has the jar opened for the parser, which its file system may never answer. */
struct hand_call {
	struct guarded_call base;
	int path_fd, sock, err; /* both descriptors are the call's */
};

static void run_hand(struct guarded_call *base)
{
	struct hand_call *const call = (struct hand_call *)base;
	const char byte = 0;
	const struct reach_target parser = {call->sock, &byte, sizeof(byte)};

	call->err = root_file_hand(call->path_fd, &parser);
}

static void free_hand(struct guarded_call *base)
{
	struct hand_call *const call = (struct hand_call *)base;

	if (call->path_fd >= 0)
		close(call->path_fd);
	if (call->sock >= 0)
		close(call->sock);
	free(call);
}

static int hand(pid_t pid, int path_fd, int sock)
{
	struct hand_call *const call = malloc(sizeof(*call));
	enum guarded_end end;
	int err;

	if (!call)
		return -ENOMEM;
	*call = (struct hand_call){.base = {.run = run_hand, .free = free_hand},
				   .path_fd = fcntl(path_fd, F_DUPFD_CLOEXEC, 0),
				   .sock = fcntl(sock, F_DUPFD_CLOEXEC, 0)};
	if (call->path_fd < 0 || call->sock < 0) {
		free_hand(&call->base);
		return -EMFILE;
	}
	end = guarded_run(pid, &call->base);
	if (end == GUARDED_LATE)
		return -ETIMEDOUT;
	err = end == GUARDED_DONE ? call->err : -ETIMEDOUT;
	free_hand(&call->base);
	return err;
}

static int read_here(int path_fd, struct jar_parser *ret)
{
	_cleanup_close_ const int fd = root_file_read(path_fd);

	if (fd < 0)
		return fd;
	ret->answer.err = jar_manifest_read(fd, ret->answer.class);
	ret->got = sizeof(ret->answer);
	return 0;
}

int jar_parser_start(pid_t pid, int path_fd, uint64_t now_ns, struct jar_parser *ret)
{
	int err;

	*ret = (struct jar_parser){.parser = {.sock = -1}, .late_ns = now_ns + JAR_PARSER_NS};
	if (!zygote_is_used())
		return read_here(path_fd, ret);
	if (parser_begin(PARSER_JARS, &ret->parser) < 0)
		return -EAGAIN;
	err = hand(pid, path_fd, ret->parser.sock);
	/* A parser that has ended says so when its answer is taken. */
	if (err == 0 || err == -EPIPE || err == -ECONNRESET)
		return 0;
	jar_parser_stop(ret);
	return err;
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
