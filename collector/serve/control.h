// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   requests of other fgcollect processes -> answers of the daemon
 * units:   JSON; the bytes of a file as a descriptor
 * threads: the model's
 * errors:  negative errno, said on stderr; the answer to a bad request is an error text
 * source:  unix(7): SOCK_SEQPACKET, SO_PEERCRED, SCM_RIGHTS
 *
 * The socket has mode 0600. Its directory /run/fgcollect-control lies beside the agents' directory,
 * because the agents' directory is mounted into containers, where a process may have UID 0. For the
 * same reason a peer is refused unless it is this user or root *and* shares the daemon's mount
 * namespace.
 *
 * A request is one message, a JSON object with "op". Its answer is one message, a JSON object with
 * "ok" or with "error". The bytes of a file come with the answer as a descriptor of a memory file.
 * An answer that is longer than a message comes as such a descriptor too, and the message is then
 * {}.
 *
 *   list (pid and names)          -> list
 *   record (options of recording) -> id, missing   see request.h; missing is a sentence about
 *                                    what will have no names, if there is anything
 *   record may_wait               -> id; or wait: a process that is meant may become known in a
 *                                    moment, so send the same request again
 *   status id                     -> elapsed_ns samples lost jvms done event quality
 *   stop id, end id               ->
 *   window id                     -> the members of status, for the window; bytes of a .fgrec
 *   render id suffix (options of drawing) -> bytes   see request.h; suffix: ".svg"
 */
#ifndef FG_SERVE_CONTROL_H
#define FG_SERVE_CONTROL_H

#include "loop/engine.h"
#include "serve/daemon_counts.h"

#include <jansson.h>

#define CONTROL_MAX_MESSAGE_BYTES (64u << 10)

struct control; /* opaque */

/* Writes to ret, of PATH_MAX bytes, the path of the control socket beside the agents' socket. */
void control_path(const char *socket_path, char *ret);

/*
 * From here on, engine_step serves requests. counts: what the daemon counts; borrowed until
 * control_close.
 */
int control_open(struct engine *engine, const char *socket_path, const struct daemon_counts *counts,
		 struct control **ret);
/*
 * Ends the clients' recordings and refuses new ones. Serves the clients until all have fetched
 * their results and disconnected, or have been waited for as long as serve/finishing.h says.
 */
void control_finish(struct control *control);
void control_close(struct control *control); /* NULL is legal */

#endif
