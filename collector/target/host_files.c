// SPDX-License-Identifier: Apache-2.0
/* Reads files of the host's without leaving their tree, see host_files.h. */
#include "target/host_files.h"

#include "base/cleanup.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_at(int dir_fd, const char *path, uint64_t flags, uint64_t resolve)
{
	const struct open_how how = {.flags = flags | O_CLOEXEC,
				     .resolve = resolve | RESOLVE_NO_MAGICLINKS};
	const int fd = (int)syscall(SYS_openat2, dir_fd, path, &how, sizeof(how));

	return fd < 0 ? -errno : fd;
}

int host_dir_open(int root_fd, const char *path)
{
	return open_at(root_fd, path, O_PATH | O_DIRECTORY, RESOLVE_IN_ROOT);
}

DIR *host_dir_list(int root_fd, const char *path)
{
	const int fd = open_at(root_fd, path, O_RDONLY | O_DIRECTORY, RESOLVE_IN_ROOT);
	DIR *dir;

	if (fd < 0) {
		errno = -fd;
		return NULL;
	}
	dir = fdopendir(fd);
	if (!dir)
		close(fd);
	return dir;
}

/* The very file that path_fd refers to: opening anything but a regular one may do something. */
static int reopen_regular(int path_fd, struct stat *ret_stat)
{
	char path[40];
	int fd;

	if (fstat(path_fd, ret_stat) < 0)
		return -errno;
	if (!S_ISREG(ret_stat->st_mode))
		return -EINVAL;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", path_fd);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

ssize_t host_file_read(int dir_fd, const char *path, size_t max_bytes, char **ret)
{
	_cleanup_close_ int path_fd =
		open_at(dir_fd, path, O_PATH | O_NOFOLLOW, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
	struct stat st;
	_cleanup_close_ int fd = path_fd < 0 ? path_fd : reopen_regular(path_fd, &st);
	_cleanup_free_ char *buf = NULL;
	ssize_t len;

	if (fd < 0)
		return fd;
	if (st.st_size < 0 || (uint64_t)st.st_size > max_bytes)
		return -EFBIG;
	buf = malloc((size_t)st.st_size + 2);
	if (!buf)
		return -ENOMEM;
	len = file_read_up_to(fd, buf, (size_t)st.st_size + 1);
	if (len < 0)
		return len;
	if (len > st.st_size)
		return -EAGAIN; /* it grows while it is read: its writer is not done */
	buf[len] = '\0';
	*ret = buf;
	buf = NULL;
	return len;
}
