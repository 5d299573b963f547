// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a process and a path in its root directory -> a connection to the process's socket
 * units:   none
 * threads: the model's for dial_begin and dial_try; any that may wait for dial_process
 * errors:  negative errno, which dial_reason explains
 * source:  openat2(2), unix(7), SO_PEERCRED of socket(7), proc_pid_root(5)
 *
 * The file at the path is hostile, because the container chooses it. The file is opened as a
 * reference only (O_PATH). No symbolic link is followed, the path does not leave the process's root
 * directory, and the look-up waits for no file system. A connection is made to a socket only. No
 * byte is sent before the kernel has said that the process itself listens at the socket.
 */
#ifndef FG_INTAKE_DIAL_H
#define FG_INTAKE_DIAL_H

#include "intake/announcement.h"

#include <stdbool.h>
#include <sys/types.h>

/*
 * proc_fd is the process's directory in /proc. The caller must have opened it before checking the
 * process's identity: an open directory never stands for another process. Returns a descriptor that
 * does not block, or
 *
 *   -ESRCH         the process is gone
 *   -ENOENT        no bound socket is at the path, or the look-up would wait for a file system
 *   -ELOOP, -EXDEV a symbolic link is on the way, or the path leaves the root directory
 *   -ENOTSOCK      the file is not a socket
 *   -ECONNREFUSED  no process listens at the socket
 *   -EAGAIN        the agent serves another collector, and one more collector waits already
 *   -ESTALE        another process listens at the socket; no byte was sent to it
 *   -EACCES, ...   errors of the kernel
 */
int dial_process(int proc_fd, pid_t pid, const char *path);
/*
 * The same for the loop: connect(2) asks the socket's file system whether it may be written to,
 * which may never answer. So a process of its own connects (base/reach.h), and nobody waits
 * (guarded_leave).
 */
struct dialling; /* opaque */

int dial_begin(int proc_fd, pid_t pid, const char *path, struct dialling **ret);
/*
 * Whether it is over. Then *ret is what dial_process returns, or -ETIMEDOUT if nobody has dialled,
 * and *dialling is NULL.
 */
bool dial_take(struct dialling **dialling, int *ret);
void dial_forget(struct dialling *dialling); /* NULL is legal */

/* The reason of an error, and its remedy, each for the end of a sentence. */
const char *dial_reason(int err);
const char *dial_remedy(int err);

/*
 * Tries to reach the process's agent. Returns 0 and the agent's path; -ENODATA if no agent listens
 * in the process; -ETIMEDOUT if that takes longer than 50 ms; or an error of dial_process. The
 * connection is closed at once.
 */
int dial_try(pid_t pid, char ret_path[ANNOUNCEMENT_PATH_BYTES]);

#endif
