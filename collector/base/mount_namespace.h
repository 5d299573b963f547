// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a process -> its mount namespace, and whether this process is in that as well
 * units:   none
 * threads: any
 * errors:  negative errno; -ENOENT: the process is gone, -EACCES: it may not be looked into
 * source:  namespaces(7), mount_namespaces(7)
 *
 * Containers have mounts of their own: who is in another mount namespace sees other files.
 */
#ifndef FG_BASE_MOUNT_NAMESPACE_H
#define FG_BASE_MOUNT_NAMESPACE_H

#include <sys/types.h>

struct mount_namespace {
	dev_t dev;
	ino_t inode; /* 0: not known */
};

int mount_namespace_read(pid_t pid, struct mount_namespace *ret);

/* 1: the process is in another one than this process, and ret, unless NULL, gets it; 0: it is not. */
int mount_namespace_is_other(pid_t pid, struct mount_namespace *ret);

#endif
