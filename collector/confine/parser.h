// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the collector's end of the socket to one parser
 * units:   bytes
 * threads: one at a time
 * errors:  negative errno; -EBADMSG: the parser has died, or has sent what no parser sends
 * source:  unix(7), zygote.h
 *
 * What a parser sends is as hostile as the file that it reads: lengths are checked by the caller
 * before memory is allocated, and descriptors that a parser sends are never taken.
 */
#ifndef FG_CONFINE_PARSER_H
#define FG_CONFINE_PARSER_H

#include "confine/zygote.h"

struct parser {
	int sock;
	pid_t pid; /* as the parser said before it had read anything */
	uint64_t id;
};

/*
 * The socket is blocking. -EAGAIN: no parser now. Takes a parser that was started ahead of need
 * where the role has such.
 */
int parser_start(enum parser_role role, struct parser *ret);
/* As parser_start, without any wait: the first word, a pid_t, comes before the parser's answer. */
int parser_begin(enum parser_role role, struct parser *ret);
/* Ends the parsers that were started ahead of need. To be called before zygote_stop. */
void parser_drop_spares(void);
/* Kills the parser and closes the socket. A parser with sock -1 is legal. */
void parser_stop(struct parser *parser);

/* ---- for both ends ---- */

/* Sends all bytes, with the descriptor fd if that is not negative. */
int parser_send(int sock, const void *bytes, size_t len, int fd);
/* Receives exactly len bytes. ret_fd: NULL, or receives a descriptor, -1 if there is none. */
int parser_receive(int sock, void *bytes, size_t len, int *ret_fd);
/*
 * As parser_receive, but waits no longer than until_ns (CLOCK_MONOTONIC). -EAGAIN: not all bytes
 * are there yet; *got says how many are, and the next call goes on there.
 */
int parser_receive_until(int sock, void *bytes, size_t len, size_t *got, uint64_t until_ns);

#endif
