// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   paths -> a socket of libnng that listens at them, PUB or REP, and its clients
 * units:   bytes, CLOCK_MONOTONIC nanoseconds
 * threads: one calls; libnng has threads of its own
 * errors:  negative errno, said on stderr; -EAGAIN or -ENOMEM: later it may be had
 * source:  nng_pub(7), nng_rep(7), nng_ipc(7), nng_pipe_notify(3); libnng 1.5:
 *          src/sp/protocol/pubsub0/pub.c, src/sp/protocol/reqrep0/rep.c
 *
 * Sending waits for nobody. Of a PUB socket libnng keeps for each subscriber the last messages that
 * it has not taken, up to a number, and drops the oldest. All subscribers share the bytes of one
 * message, so libnng has at most so many messages, and one more a subscriber. Of a REP socket
 * libnng keeps one answer for each client that has not taken it.
 *
 * The paths have mode 0600. Clients are root's processes and the own user's, at most
 * PUBLISH_MAX_CLIENTS of a socket.
 */
#ifndef FG_PUBLISH_PUBLISH_SOCKET_H
#define FG_PUBLISH_PUBLISH_SOCKET_H

#include "publish/publish_listener.h"
#include "publish/publish_paths.h"
#include "publish/publish_request.h"

#include <pthread.h>
#include <stddef.h>

#define PUBLISH_MAX_CLIENTS 32

enum publish_protocol {
	PUBLISH_PUB,
	PUBLISH_REP,
};

struct publish_socket {
	nng_socket socket;
	struct publish_listener listeners[PUBLISH_MAX_PATHS];
	size_t n_listeners;
	/* libnng's threads write these too */
	_Atomic uint64_t clients, joined, refused;
	pthread_mutex_t lock; /* guards pipes, and changes of clients */
	int pipes[PUBLISH_MAX_CLIENTS];
};

/* messages: how many a PUB socket keeps. The address must not change until publish_socket_close. */
int publish_socket_open(struct publish_socket *socket, enum publish_protocol protocol,
			const struct publish_paths *paths, unsigned messages, uint64_t now_ns);
void publish_socket_close(struct publish_socket *socket);

/* Sets how many messages libnng keeps for a subscriber, 1 to 8192. */
void publish_socket_set_queue(struct publish_socket *socket, unsigned messages);
/* Takes msg in any case. */
int publish_socket_send(struct publish_socket *socket, nng_msg *msg);
/* Checks the listeners if that is due; to be called about once a second. */
void publish_socket_step(struct publish_socket *socket, uint64_t now_ns);
/* How many listeners took the place of one that had ended. */
uint64_t publish_socket_renewed(const struct publish_socket *socket);

#endif
