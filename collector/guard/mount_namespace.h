// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a process -> its mount namespace, and whether the collector is in the same namespace
 * units:   none
 * threads: any that may wait
 * errors:  negative errno; -ENOENT: the process is gone; -EACCES: no permission
 * source:  namespaces(7), mount_namespaces(7)
 *
 * A container has mounts of its own, so a path means another file in another mount namespace.
 */
#ifndef FG_GUARD_MOUNT_NAMESPACE_H
#define FG_GUARD_MOUNT_NAMESPACE_H

#include <sys/types.h>

struct mount_namespace {
	dev_t dev;
	ino_t inode; /* 0: not known */
};

int mount_namespace_read(pid_t pid, struct mount_namespace *ret);

/*
 * 1: the process is in another mount namespace than the collector. ret, unless NULL, gets the
 * process's. 0: both are in one namespace.
 */
int mount_namespace_is_other(pid_t pid, struct mount_namespace *ret);

#endif
