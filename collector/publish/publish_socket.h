// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   messages -> libnng's PUB socket at a path, and its subscribers
 * units:   bytes, CLOCK_MONOTONIC nanoseconds
 * threads: one calls; libnng has threads of its own
 * errors:  negative errno, said on stderr
 * source:  nng_pub(7), nng_ipc(7), nng_pipe_notify(3); libnng 1.5: src/sp/protocol/pubsub0/pub.c
 *
 * Sending waits for nobody. libnng keeps for each subscriber the last messages that it has not
 * taken, up to a number, and drops the oldest. All subscribers share the bytes of one message, so
 * libnng has at most so many messages, and one more a subscriber.
 *
 * The socket has mode 0600. Subscribers are root's processes and the own user's, at most
 * PUBLISH_MAX_SUBSCRIBERS.
 *
 * The listener of libnng 1.5 ends for good, and unseen, when a client goes away while it is being
 * greeted; clients that connect then are never served. So publish_socket_step connects now and then
 * as a subscriber would. If libnng tells of no new subscriber then, another listener takes the
 * path, and all connections to the old one end: subscribers connect again by themselves.
 */
#ifndef FG_PUBLISH_PUBLISH_SOCKET_H
#define FG_PUBLISH_PUBLISH_SOCKET_H

#include "lazy/lazy_nng.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PUBLISH_MAX_SUBSCRIBERS 32
#define PUBLISH_CHECK_NS	UINT64_C(5000000000)
#define PUBLISH_CHECK_WAIT_NS	UINT64_C(2000000000)

enum publish_check {
	PUBLISH_CHECK_NONE,
	PUBLISH_CHECK_BEGUN,
	PUBLISH_CHECK_SEEN, /* libnng has told of its connection */
};

struct publish_socket {
	char *path;
	nng_socket socket;
	nng_listener listener;
	ino_t inode;	   /* of the path */
	int check_fd;	   /* the connection of the check that is under way; -1: none is */
	uint64_t check_ns; /* when that began, or when the next one is due */
	uint64_t renewed;
	/* libnng's threads write these too */
	atomic_int check; /* enum publish_check */
	_Atomic uint64_t subscribers, joined, refused;
	pthread_mutex_t lock; /* guards pipes, and changes of subscribers */
	int pipes[PUBLISH_MAX_SUBSCRIBERS];
};

/* The address of the socket must not change until publish_socket_close. */
int publish_socket_open(struct publish_socket *socket, const char *path, unsigned messages,
			uint64_t now_ns);
void publish_socket_close(struct publish_socket *socket);

/* Sets how many messages libnng keeps for a subscriber, 1 to 8192. */
void publish_socket_set_queue(struct publish_socket *socket, unsigned messages);
/* Takes msg in any case. */
int publish_socket_send(struct publish_socket *socket, nng_msg *msg);
/* Checks the listener if that is due; to be called about once a second. */
void publish_socket_step(struct publish_socket *socket, uint64_t now_ns);

#endif
