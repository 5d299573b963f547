// SPDX-License-Identifier: Apache-2.0
/*
 * Identity is the pair of device and inode: a socket has an inode number of its own, which is given
 * again after 2^32 others at the earliest. fstat is called by its system call, because glibc has
 * exported fstat as a function only since 2.33.
 */
#include "own_fd.h"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct own_fd own_fd_take(int fd)
{
	struct stat st = {0};

	if (fd >= 0 && syscall(SYS_fstat, fd, &st) != 0) {
		close(fd); /* nothing could tell it from another's later */
		fd = -1;
	}
	if (fd < 0)
		return (struct own_fd){.fd = -1};
	return (struct own_fd){.fd = fd, .dev = st.st_dev, .ino = st.st_ino};
}

bool own_fd_is_own(const struct own_fd *own)
{
	struct stat st = {0};

	return own->fd >= 0 && syscall(SYS_fstat, own->fd, &st) == 0 && st.st_dev == own->dev &&
	       st.st_ino == own->ino;
}

void own_fd_close(struct own_fd *own)
{
	if (own_fd_is_own(own))
		close(own->fd);
	own->fd = -1;
}
