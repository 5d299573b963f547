// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a process -> whose file system it sees
 * units:   none
 * threads: any
 * errors:  a zero-filled scope: not known, as of a process that is gone
 * source:  proc(5) root and ns, mount_namespaces(7), chroot(2)
 *
 * Two containers may map one file, of a volume or of the host, and yet have different files by all
 * other names. What was found by a name in the one says nothing of the other: processes agree on
 * names if they have the same root directory in the same mount namespace.
 */
#ifndef FG_FILES_FILE_SCOPE_H
#define FG_FILES_FILE_SCOPE_H

#include <stdbool.h>
#include <sys/types.h>

struct file_scope {
	dev_t root_dev;
	ino_t root_inode;
	ino_t mounts; /* the namespace's number; 0: the scope is not known */
};

/* root is its root directory, see root_file_open_root; negative: not known. */
struct file_scope file_scope_of(pid_t pid, int root);
bool file_scope_equal(const struct file_scope *a, const struct file_scope *b);

#endif
