// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a descriptor -> the part of a message that carries it
 * units:   none
 * threads: any
 * errors:  none
 * source:  unix(7) SCM_RIGHTS, cmsg(3)
 */
#ifndef FG_CONFINE_FD_MESSAGE_H
#define FG_CONFINE_FD_MESSAGE_H

#include <string.h>
#include <sys/socket.h>

union fd_message {
	struct cmsghdr header; /* for its alignment */
	char bytes[CMSG_SPACE(sizeof(int))];
};

/* The message borrows ret, which is filled with zeros. */
static inline void fd_message_put(struct msghdr *message, union fd_message *ret, int fd)
{
	message->msg_control = ret->bytes;
	message->msg_controllen = sizeof(ret->bytes);
	ret->header.cmsg_level = SOL_SOCKET;
	ret->header.cmsg_type = SCM_RIGHTS;
	ret->header.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&ret->header), &fd, sizeof(fd));
}

#endif
