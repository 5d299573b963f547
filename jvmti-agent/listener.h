// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a path -> a Unix socket that listens there -> connections of collectors
 * units:   none
 * threads: listener_wake on any, the rest on the agent's own
 * errors:  listener_open writes one line about an error to stderr; listener_accept returns negative
 *          errno
 * source:  unix(7), SO_PEERCRED of socket(7), memfd_create(2); shared/README.md, "Transport"
 *
 * Only the socket's owner can connect (mode 0600). The socket's directory must exist already. A
 * collector finds the path in the name of a memory region of this process; not a byte of that
 * region is used.
 */
#ifndef FGAGENT_LISTENER_H
#define FGAGENT_LISTENER_H

#include "options.h"
#include "own_fd.h"

#include <stdatomic.h>
#include <sys/stat.h>

struct listener {
	struct own_fd own;   /* none: closed */
	void *region;	     /* the region with the path in its name; NULL: none */
	atomic_bool is_open; /* path is there and does not change any more */
	char path[OPTIONS_SOCKET_MAX_BYTES];
	struct stat made; /* identity of the socket's file */
};

/*
 * "%p" in path stands for the process's PID. A socket at the path is replaced if it belongs to the
 * same user and no process listens there.
 */
bool listener_open(struct listener *listener, const char *path);
/*
 * Closes the socket, and removes its file if that is still the one that was made. Legal if it is
 * closed.
 */
void listener_close(struct listener *listener);

/*
 * Waits for a collector to connect. Returns the connection's descriptor. -ETIMEDOUT: none came for
 * some seconds. -EACCES: the peer is neither root, nor this user, nor shown by the kernel as the
 * overflow user (root outside this user namespace). A socket that others have closed is opened
 * again first; the error is that of socket(2), bind(2) or listen(2).
 */
int listener_accept(struct listener *listener);
/* Ends a wait in listener_accept by a connection that is closed at once. On any thread. */
void listener_wake(const struct listener *listener);

#endif
