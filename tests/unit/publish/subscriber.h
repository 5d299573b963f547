// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a path and a topic -> the messages of a PUB socket; requests -> answers of a REP socket
 * units:   bytes
 * threads: one
 * errors:  the test fails
 * source:  shared/README.md (greeting and frames), nng_sub(7)
 *
 * The SUB end of the protocol, without libnng: of the SUB sockets of libnng 1.5 that are closed one
 * in some hundred never closes, and takes the PUB socket of the same process with it.
 */
#ifndef FG_TESTS_PUBLISH_SUBSCRIBER_H
#define FG_TESTS_PUBLISH_SUBSCRIBER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct subscriber {
	int fd;
	const char *topic;
	char *message;	/* the last one, owned */
	bool has_ended; /* the connection was ended by the other side */
};

/* topic: a prefix of the messages; "" for all; borrowed. The peer has greeted at the return. */
void subscriber_open(struct subscriber *subscriber, const char *path, const char *topic);
void subscriber_close(struct subscriber *subscriber);
/* The same at a REP socket, whose answers are messages. */
void subscriber_open_asker(struct subscriber *subscriber, const char *path);
/* Sends a request. False: there is no room for it now. */
bool subscriber_ask(struct subscriber *subscriber, const char *request);
/* The next answer, behind its header; as subscriber_next. */
const char *subscriber_answer(struct subscriber *subscriber, int patience_ms, size_t *ret_len);
/* The next message, borrowed until the next call; NULL: none comes for so long, or no more. */
const char *subscriber_next(struct subscriber *subscriber, int patience_ms, size_t *ret_len);

/* Waits until the number is there, for at most 10 s. */
bool subscriber_wait(_Atomic uint64_t *number, uint64_t wanted);

#endif
