// SPDX-License-Identifier: Apache-2.0
/* Told apart by what /proc/<pid>/ns/mnt refers to, see mount_namespace.h. */
#include "guard/mount_namespace.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

static int read_path(const char *path, struct mount_namespace *ret)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return -errno;
	*ret = (struct mount_namespace){.dev = st.st_dev, .inode = st.st_ino};
	return 0;
}

int mount_namespace_read(pid_t pid, struct mount_namespace *ret)
{
	char path[sizeof("/proc/-2147483648/ns/mnt")];

	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)pid);
	return read_path(path, ret);
}

int mount_namespace_is_other(pid_t pid, struct mount_namespace *ret)
{
	struct mount_namespace theirs = {0}, ours = {0};
	int err = mount_namespace_read(pid, &theirs);

	if (!err)
		err = read_path("/proc/self/ns/mnt", &ours);
	if (err)
		return err;
	if (theirs.inode == ours.inode && theirs.dev == ours.dev)
		return 0;
	if (ret)
		*ret = theirs;
	return 1;
}
