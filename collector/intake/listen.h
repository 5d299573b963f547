// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a socket path -> a directory that exists and a path that is free to listen on
 * units:   none
 * threads: any
 * errors:  negative errno, logged with the remedy
 * source:  unix(7), SO_PEERCRED of socket(7)
 */
#ifndef FG_INTAKE_LISTEN_H
#define FG_INTAKE_LISTEN_H

#include <sys/types.h>

/* The PID of the process that listens at path; 0: no process listens; negative errno: not known. */
pid_t listen_owner(const char *path);

/*
 * Makes the directory of path (0755) if it is missing, and removes a socket that a dead collector
 * left. -EADDRINUSE if a process listens at path; its PID is logged. option: that names another
 * path.
 */
int listen_prepare(const char *path, const char *option);
/*
 * The same for a socket that is this user's alone. -EPERM if another user than root could put
 * something else in the socket's place: may write to a directory of the path.
 */
int listen_prepare_private(const char *path, const char *option);

#endif
