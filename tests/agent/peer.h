// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a listening socket -> the agent's records, one after the other
 * units:   bytes
 * threads: one
 * errors:  anything unexpected, or 30 seconds of silence, ends the program with a line that says so
 * source:  shared/README.md
 */
#ifndef PEER_H
#define PEER_H

#include "shared/wire.h"
#include "known.h"

struct peer {
	int listen_fd, fd;
	uint64_t next_seq;
	uint8_t *message;
	struct wire_reader reader;
	struct known *known;	 /* of this connection */
	struct known_load *load; /* the last METHOD_LOAD, with its names */
};

void peer_listen(struct peer *peer, const char *path);
/* As peer_listen, but for an agent that listens: peer_dial makes each connection. */
void peer_init(struct peer *peer);
/* Dials the path as soon as somebody listens there; greeting as for peer_accept. */
void peer_dial(struct peer *peer, const char *path, const void *greeting, size_t len);
/* Takes a connection; greeting NULL is that of a PULL socket. Returns without reading anything. */
void peer_accept(struct peer *peer, const void *greeting, size_t len);
/* Checks the agent's greeting. */
void peer_expect_greeting(struct peer *peer);
/*
 * The next record, whose IDs must all have been named; false when the agent has closed. Borrowed
 * until the next call.
 */
bool peer_next(struct peer *peer, struct wire_record *ret);
/* Waits until the agent has closed, and closes. */
void peer_expect_close(struct peer *peer);
void peer_close(struct peer *peer);
void peer_fini(struct peer *peer);

_Noreturn void peer_fail(const char *file, int line, const char *what);
#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition))                                                                  \
			peer_fail(__FILE__, __LINE__, #condition);                                 \
	} while (0)

#endif
