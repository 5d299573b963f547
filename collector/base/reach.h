// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a call that a file system may never answer -> a process of its own makes it
 * units:   none
 * threads: reach_start and reach_stop: one, before and after all others; reach_call: any that may
 *          wait
 * errors:  negative errno, of the call; -ECHILD: the process could not be asked
 * source:  unix(7) SCM_RIGHTS, fork(2); Linux fs/fuse/dev.c, request_wait_answer
 *
 * A thread that waits for the answer of a file system in user space (FUSE) ends by no signal once
 * the server has read the request, and a process does not end before all its threads have. So a
 * thread of the collector never looks up, opens or connects to what a process has chosen: a process
 * of its own does so, for each call another one. It has been forked from a process that was forked
 * before the collector had anything open. A process that never gets its answer stays, with the
 * descriptors of its call and none else, until the server answers or ends.
 *
 * Before reach_start, as in tests of one stage and in commands that end by themselves, the caller's
 * thread makes the call.
 */
#ifndef FG_BASE_REACH_H
#define FG_BASE_REACH_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define REACH_MAX_BYTES 4608 /* of a request: a path and some numbers */
#define REACH_MAX_SENT	64   /* with a descriptor for somebody else */
#define REACH_NO_FD	(-1)

/* A static one, so that its address means the same in a process that was forked. */
struct reach_role {
	/*
	 * fd is borrowed. Returns a descriptor, or what else is not negative, or a negative errno.
	 */
	int (*run)(const void *request, size_t len, int fd);
	bool gives_fd;
};

/* Returns what the role's run returns; a descriptor belongs to the caller. */
int reach_call(const struct reach_role *role, const void *request, size_t len, int fd);

/* Who gets a descriptor that the caller is not to have, and the bytes that come with it. */
struct reach_target {
	int sock;
	const void *bytes;
	size_t len; /* REACH_MAX_SENT at most */
};

/*
 * As reach_call of a role that gives a descriptor, which goes to the target. A process that has a
 * file open asks its file system when it closes the file (FLUSH), also when it ends by a signal: so
 * the collector has no file open that is another's. Returns 0, or a negative errno.
 */
int reach_hand(const struct reach_role *role, const void *request, size_t len, int fd,
	       const struct reach_target *target);

/* Has a process make the call, and does not wait. fd: for the call. */
int reach_leave(const struct reach_role *role, int fd);
/* Whether reach_start has been called, and whether calls are made now. */
bool reach_is_begun(void);
bool reach_is_used(void);
/* How often reach_start has been called: what was left before it ends by itself. */
unsigned reach_round(void);

int reach_start(void);
/* Calls that have no answer yet end with -ECHILD. */
void reach_stop(void);

/* ---- for both ends of a socket ---- */

/* Sends one message, with fd if that is not negative. */
int reach_send(int sock, const void *bytes, size_t len, int fd);
/* Returns the length; *ret_fd is -1 if none came. */
ssize_t reach_receive(int sock, void *bytes, size_t size, int *ret_fd);

#endif
