// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a jar's descriptor -> a parser (confine/zygote.h) that reads it -> the class that it
 *          starts
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: the model's, which never waits
 * errors:  those of jar_manifest.h; -EAGAIN: no parser now, or no answer yet; -EPROTO: the parser
 *          has died, lied, or was killed because it was late
 * source:  jar_manifest.h
 *
 * In a program without a zygote the caller reads the jar.
 */
#ifndef FG_CONTAINER_JAR_PARSER_H
#define FG_CONTAINER_JAR_PARSER_H

#include "confine/parser.h"
#include "container/jar_manifest.h"

#define JAR_PARSER_NS UINT64_C(5000000000)

/* What a parser says. */
struct jar_answer {
	pid_t pid;
	int32_t err;
	char class[JAR_CLASS_BYTES];
};

struct jar_parser {
	struct parser parser; /* its sock is -1 where the caller has read the jar */
	uint64_t late_ns;
	size_t got; /* bytes of answer */
	struct jar_answer answer;
};

/*
 * path_fd (O_PATH), a file of the process pid, is borrowed, and opened for the parser in a guarded
 * call (base/guarded.h). -ETIMEDOUT: that was late, or the process has to wait.
 */
int jar_parser_start(pid_t pid, int path_fd, uint64_t now_ns, struct jar_parser *ret);
/* Ends the parser unless it returns -EAGAIN. */
int jar_parser_take(struct jar_parser *parser, uint64_t now_ns, char ret[JAR_CLASS_BYTES]);
void jar_parser_stop(struct jar_parser *parser);

/* The parser's side, a parser_fn. */
void jar_parser_serve(int sock);

#endif
