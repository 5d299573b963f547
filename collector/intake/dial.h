// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a process and a path in its root -> a connection to a socket at which it listens
 * units:   none
 * threads: any
 * errors:  negative errno, of which dial_reason makes words
 * source:  openat2(2), unix(7), SO_PEERCRED of socket(7), proc_pid_root(5)
 *
 * All that lies at the path is the container's to choose. Nothing is opened but a reference to it
 * (O_PATH), no link is followed, nothing of the process's root is left, no file system is waited
 * for, and nothing but a socket is connected to. Not a byte is sent before the kernel has said that
 * the process that listens there is the one that was meant.
 */
#ifndef FG_INTAKE_DIAL_H
#define FG_INTAKE_DIAL_H

#include "intake/beacon.h"

#include <sys/types.h>

/*
 * proc_fd is the directory of the process in /proc, which must have been opened before its identity
 * was checked: no other process will ever be behind it. A descriptor that does not block, or
 *
 *   -ESRCH         the process is gone
 *   -ENOENT        there is no bound socket at the path, or only its file system knows
 *   -ELOOP, -EXDEV a symbolic link is on the way, or it leads out of the root
 *   -ENOTSOCK      something else than a socket is there
 *   -ECONNREFUSED  nobody listens
 *   -EAGAIN        another collector is served, and one more waits already
 *   -ESTALE        another process listens there: nothing was sent to it
 *   -EACCES, ...   what the kernel said
 */
int dial_process(int proc_fd, pid_t pid, const char *path);

/* Why it failed, and what to do about it, each for the end of a sentence. */
const char *dial_reason(int err);
const char *dial_remedy(int err);

/*
 * Whether that process's agent listens, where, and whether it could be reached now: -ENODATA if it
 * does not listen, or as dial_process. The connection is closed at once.
 */
int dial_try(pid_t pid, char ret_path[BEACON_PATH_BYTES]);

#endif
