// SPDX-License-Identifier: Apache-2.0
/* Opens files below a root directory only, see root_file.h. */
#include "base/root_file.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

int root_file_open_root(pid_t pid)
{
	char path[sizeof("/proc/-2147483648/root")];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int root_file_open_at(int root_fd, const char *path, int flags, uint64_t resolve)
{
	const struct open_how how = {.flags = (unsigned)flags | O_CLOEXEC,
				     .resolve = resolve | RESOLVE_NO_MAGICLINKS};
	const int fd = (int)syscall(SYS_openat2, root_fd, path, &how, sizeof(how));

	return fd < 0 ? -errno : fd;
}

int root_file_open(pid_t pid, const char *path, int flags)
{
	_cleanup_close_ const int root = root_file_open_root(pid);

	return root < 0 ? root : root_file_open_at(root, path, flags, RESOLVE_IN_ROOT);
}

int root_file_open_regular(int root_fd, const char *path, uint64_t resolve, struct stat *ret_stat)
{
	_cleanup_close_ const int fd = root_file_open_at(root_fd, path, O_PATH, resolve);

	if (fd < 0)
		return fd;
	if (fstat(fd, ret_stat) < 0)
		return -errno;
	return S_ISREG(ret_stat->st_mode) ? root_file_read(fd) : -EINVAL;
}

int root_file_read(int path_fd)
{
	char path[sizeof("/proc/self/fd/-2147483648")];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", path_fd);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}
