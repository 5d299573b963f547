// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a process -> its scope: the root directory and mount namespace that give files names
 * units:   none
 * threads: any
 * errors:  a zero-filled scope: not known, for instance because the process is gone
 * source:  proc(5) root and ns, mount_namespaces(7), chroot(2)
 *
 * Two containers may map one file, of a volume or of the host, and have different files at all
 * other paths. So a file found at a path in one container (a debug file) says nothing of the other
 * container. A path means one file for all processes with equal root directory and mount namespace.
 */
#ifndef FG_FILES_FILE_SCOPE_H
#define FG_FILES_FILE_SCOPE_H

#include <stdbool.h>
#include <sys/types.h>

struct file_scope {
	dev_t root_dev;
	ino_t root_inode;
	ino_t mounts; /* the mount namespace's inode number; 0: the scope is not known */
};

/* root is the process's root directory, see root_file_open_root; negative: not known. */
struct file_scope file_scope_of(pid_t pid, int root);
bool file_scope_equal(const struct file_scope *a, const struct file_scope *b);

#endif
