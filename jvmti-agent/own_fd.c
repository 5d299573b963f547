// SPDX-License-Identifier: Apache-2.0
/*
 * Identity is the pair of device and inode: a socket has an inode number of its own, which is given
 * again after 2^32 others at the earliest. The identity is asked for by newfstatat, the system call
 * that HotSpot's libc makes, and by its number, because glibc has exported fstat as a function only
 * since 2.33.
 */
#include "own_fd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOOKS_MAX 256 /* at descriptors */

static bool read_stat(int fd, struct stat *ret)
{
	return syscall(SYS_newfstatat, fd, "", ret, AT_EMPTY_PATH) == 0;
}

struct own_fd own_fd_take(int fd)
{
	struct stat st = {0};

	if (fd >= 0 && !read_stat(fd, &st)) {
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

	return own->fd >= 0 && read_stat(own->fd, &st) && st.st_dev == own->dev &&
	       st.st_ino == own->ino;
}

void own_fd_close(struct own_fd *own)
{
	if (own_fd_is_own(own))
		close(own->fd);
	own->fd = -1;
}

static bool is_free(int fd)
{
	return fcntl(fd, F_GETFD) < 0 && errno == EBADF;
}

/* Looks from the highest number down, because the kernel gives the lowest one that is free. */
bool own_fd_are_spare(void)
{
	struct rlimit limit;
	int spare = 0, fd;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return true;
	fd = limit.rlim_cur < INT_MAX ? (int)limit.rlim_cur : INT_MAX;
	for (int i = 0; i < LOOKS_MAX && fd > 0 && spare < OWN_FD_SPARE; i++)
		spare += is_free(--fd);
	return spare == OWN_FD_SPARE;
}
