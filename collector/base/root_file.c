// SPDX-License-Identifier: Apache-2.0
/* Opens files of another process's root, see root_file.h. */
#include "base/root_file.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

int root_file_open(pid_t pid, const char *path, int flags)
{
	struct open_how how = {
		.flags = (unsigned)flags | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	char root_path[sizeof("/proc/-2147483648/root")];
	_cleanup_close_ int root = -1;
	int fd;

	snprintf(root_path, sizeof(root_path), "/proc/%d/root", (int)pid);
	root = open(root_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -errno;
	fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	return fd < 0 ? -errno : fd;
}
