// SPDX-License-Identifier: Apache-2.0
/* Reads a process's root directory and mount namespace, see file_scope.h. */
#include "files/file_scope.h"

#include "guard/mount_namespace.h"
#include "base/root_file.h"

struct file_scope file_scope_of(pid_t pid, int root)
{
	struct mount_namespace mounts;
	struct stat directory;

	if (root < 0 || root_file_stat(root, &directory) < 0 ||
	    mount_namespace_read(pid, &mounts) < 0)
		return (struct file_scope){0};
	return (struct file_scope){.root_dev = directory.st_dev,
				   .root_inode = directory.st_ino,
				   .mounts = mounts.inode};
}

bool file_scope_equal(const struct file_scope *a, const struct file_scope *b)
{
	return a->root_dev == b->root_dev && a->root_inode == b->root_inode &&
	       a->mounts == b->mounts;
}
