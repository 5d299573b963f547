// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   connections to a socket of the collector's own -> which of their peers may be heard
 * units:   nanoseconds of the loop's clock (loop_clock.h)
 * threads: the model's
 * errors:  negative errno
 * source:  unix(7) SO_PEERCRED, timerfd_create(2), mount_namespace.h
 *
 * A peer may be heard that is root or the collector's user and is in no container: a process in
 * another mount namespace sees other files. Whether it is has to be asked of /proc, which a process
 * that hangs in execve(2) never answers. So each question is a call that nobody waits for
 * (base/guarded.h): it costs the loop nothing, and calls of the peer's owner that are late do not
 * hinder it. Calls that have not returned do, of whomever, once there are GUARD_MAX_LEFT of them.
 * Who has no answer after PEERS_PATIENCE_NS is not heard.
 */
#ifndef FG_GUARD_PEERS_H
#define FG_GUARD_PEERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PEERS_MAX	  32
#define PEERS_LOOK_NS	  UINT64_C(1000000) /* between two looks whether there are answers */
#define PEERS_PATIENCE_NS UINT64_C(10000000000)

struct peers_question; /* opaque */

struct peers {
	int timer_fd; /* readable when peers_next is to be called */
	size_t count;
	struct {
		int fd; /* the caller's */
		pid_t pid;
		uint64_t since_ns;
		struct peers_question *question;
	} asked[PEERS_MAX];
};

int peers_open(struct peers *peers);
/* Descriptors of connections stay the caller's. */
void peers_close(struct peers *peers);

/*
 * Asks about the peer of a connection. -EACCES: another user's. -EAGAIN: too many are asked about.
 * After any error the connection is the caller's to close.
 */
int peers_ask(struct peers *peers, int fd, uint64_t now_ns);

enum peers_verdict {
	PEERS_WELCOME,
	PEERS_IN_CONTAINER, /* or gone, or of no known namespace */
	PEERS_SILENT,	    /* there was no answer in time */
};

/* Gives one connection of which the verdict is known, and its peer; -1: there is none now. */
int peers_next(struct peers *peers, uint64_t now_ns, enum peers_verdict *ret, pid_t *ret_pid);

#endif
