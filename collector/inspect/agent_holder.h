// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a process that listens at a socket -> the collector that it serves
 * units:   PIDs as the caller sees them
 * threads: any that may wait
 * errors:  0: nobody is served, or it cannot be seen
 * source:  sock_diag(7), proc_pid_fd(5); Linux net/unix/diag.c
 *
 * An agent serves one collector at a time. The kernel lists the connections of Unix sockets with
 * the number of the socket at the other end, and /proc says which process has that one open. A
 * connection belongs to the network namespace of whoever has connected, so a collector of another
 * one is not seen.
 */
#ifndef FG_INSPECT_AGENT_HOLDER_H
#define FG_INSPECT_AGENT_HOLDER_H

#include <sys/types.h>

/* path: the name that the socket of the process was bound to. */
pid_t agent_holder_find(pid_t pid, const char *path);

#endif
