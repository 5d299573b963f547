// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the mountinfo of a mount namespace -> its mounts, one after the other
 * units:   none
 * threads: any
 * errors:  lines that do not parse are skipped
 * source:  proc_pid_mountinfo(5)
 *
 *	25 1 0:22 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate
 *
 * Only the host's mountinfo is trusted. The mountinfo of a process in a container, or in a user
 * namespace, says what that process wants: the process may mount any file of its own at any place.
 * It is good for advice alone.
 */
#ifndef FG_CONTAINER_MOUNT_INFO_H
#define FG_CONTAINER_MOUNT_INFO_H

#include <stdbool.h>
#include <stddef.h>

#define MOUNT_INFO_MAX_BYTES (1u << 20)

struct mount_info {
	const char *root;    /* the path within the file system that is mounted */
	const char *point;   /* where it is mounted */
	const char *type;    /* of the file system, "" if the line lacks it */
	const char *options; /* of the file system, "" if the line lacks them */
};

/* The next mount of *at, which is moved behind it, and whose text is changed. False: the end. */
bool mount_info_next(char **at, struct mount_info *ret);

/*
 * Writes the type of the file system in which an absolute path lies that has no symbolic link, and
 * changes the text. False: not known, or too long for ret.
 */
bool mount_info_type_of(char *text, const char *path, char *ret, size_t size);

#endif
