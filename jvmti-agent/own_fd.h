// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a descriptor, and the identity of what was opened by it
 * units:   none
 * threads: any; one at a time for each struct
 * errors:  own_fd_is_own is false for a closed descriptor
 * source:  fstat(2)
 *
 * The program that the agent is in may close any descriptor, by a second close(2) of one number or
 * by a loop over all numbers. The number is then given to whatever is opened next. So each use of a
 * descriptor that the agent keeps has own_fd_is_own right before it, and is a call that changes
 * nothing about a file of another kind: sendmsg(2) and recv(2), not write(2) and read(2). What
 * remains is the time between the check and the call. Not for descriptors that have no inode of
 * their own, as eventfd(2) and epoll(7) make them.
 */
#ifndef FGAGENT_OWN_FD_H
#define FGAGENT_OWN_FD_H

#include <stdbool.h>
#include <sys/types.h>

#define OWN_FD_SPARE 8

struct own_fd {
	int fd; /* -1: none */
	dev_t dev;
	ino_t ino;
};

/* Takes a descriptor that has just been opened, or -1. */
struct own_fd own_fd_take(int fd);
/* Whether the number still stands for what was taken. */
bool own_fd_is_own(const struct own_fd *own);
/* Closes the descriptor unless the number is another's now. Legal if there is none. */
void own_fd_close(struct own_fd *own);

/*
 * Whether the process may open OWN_FD_SPARE descriptors more. The agent opens nothing while it may
 * not: a program's last ones are the program's.
 */
bool own_fd_are_spare(void);

#endif
