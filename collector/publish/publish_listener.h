// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a path -> a listener of libnng that serves there, or is replaced by one that does
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: one calls; publish_listener_take_check is libnng's threads'
 * errors:  an error of libnng; what a step cannot do is said on stderr
 * source:  nng_listener_create(3), nng_ipc(7); libnng 1.5: src/platform/posix/posix_ipclisten.c
 *
 * The listener of libnng 1.5 ends for good, and unseen, when a client goes away while it is being
 * greeted; clients that connect then are never served. So publish_listener_step connects now and
 * then as a client would. If libnng tells of no new client then, another listener takes the path,
 * and all connections to the old one end: clients connect again by themselves.
 */
#ifndef FG_PUBLISH_PUBLISH_LISTENER_H
#define FG_PUBLISH_PUBLISH_LISTENER_H

#include "lazy/lazy_nng.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PUBLISH_CHECK_NS      UINT64_C(5000000000)
#define PUBLISH_CHECK_WAIT_NS UINT64_C(2000000000)

enum publish_check {
	PUBLISH_CHECK_NONE,
	PUBLISH_CHECK_BEGUN,
	PUBLISH_CHECK_SEEN, /* libnng has told of its connection */
};

struct publish_listener {
	char *path;
	const char *option; /* that named the path, for messages */
	uint16_t peer;	    /* the protocol of clients, such as SUB */
	nng_socket socket;
	nng_listener listener;
	atomic_int id;	   /* of the listener */
	ino_t inode;	   /* of the path */
	int check_fd;	   /* the connection of the check that is under way; -1: none is */
	uint64_t check_ns; /* when that began, or when the next one is due */
	uint64_t renewed;
	atomic_int check; /* enum publish_check, written by libnng's threads too */
};

/*
 * Listens. path, option, peer and socket are the caller's to set before; path is owned from then
 * on, whatever is returned.
 */
int publish_listener_open(struct publish_listener *listener, uint64_t now_ns);
/* After the socket, with which libnng closes the listener and removes the path. */
void publish_listener_fini(struct publish_listener *listener);

/* Whether the connection, of this process, is the check's. It is not a second time. */
bool publish_listener_take_check(struct publish_listener *listener, nng_pipe pipe);
/* Checks the listener if that is due; to be called about once a second. */
void publish_listener_step(struct publish_listener *listener, uint64_t now_ns);

#endif
