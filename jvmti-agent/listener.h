// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a path -> a Unix socket that listens there -> connections of collectors
 * units:   none
 * threads: one at a time, the agent's own
 * errors:  listener_open says in one line what is in the way; listener_accept negative errno
 * source:  unix(7), SO_PEERCRED of socket(7), memfd_create(2); shared/README.md, "Transport"
 *
 * The socket is its owner's alone (0600) and lies in a directory that is there already. A collector
 * finds it by the name of a region of this process's memory, of which not a byte is used.
 */
#ifndef FGAGENT_LISTENER_H
#define FGAGENT_LISTENER_H

#include "options.h"

#include <sys/stat.h>

struct listener {
	int fd;	      /* -1: closed */
	void *region; /* whose name says the path; NULL: none */
	char path[OPTIONS_SOCKET_MAX_BYTES];
	struct stat made; /* the socket as it was made */
};

/*
 * In the path, "%p" is this process's PID. A socket that a process of the same user left there is
 * replaced if nobody listens to it.
 */
bool listener_open(struct listener *listener, const char *path);
/* Removes the socket, if it still is the one that was made. Legal on a closed one. */
void listener_close(struct listener *listener);

/*
 * Waits without a limit for a collector: its descriptor, or -ECANCELED when cancel_fd has become
 * readable, or -EACCES if the peer is neither root nor this user.
 */
int listener_accept(const struct listener *listener, int cancel_fd);

#endif
