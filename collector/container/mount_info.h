// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   /proc/<pid>/mountinfo -> what a container's mounts tell of the container
 * units:   none
 * threads: any
 * errors:  false: nothing; lines that are none are passed over
 * source:  proc_pid_mountinfo(5); where Docker, Podman, the kubelet mount files from
 *
 *	1 2 8:1 /var/lib/docker/containers/<id>/hostname /etc/hostname rw - ext4 /dev/sda1 rw
 *	1 2 8:1 /var/lib/kubelet/pods/<uid>/etc-hosts /etc/hosts rw - ...
 *	1 2 8:1 /var/lib/kubelet/pods/<uid>/containers/<name>/1a2b3c4d /dev/termination-log rw - ...
 *	1 2 0:50 / / rw - overlay overlay rw,...,upperdir=/.../overlay/<layer>/diff,...
 *
 * The fourth field is a path within the file system, which need not be mounted at its own root; the
 * host's mountinfo says where. A process that may mount decides what its own says: these are words
 * of the container's, and whoever uses a path checks what it finds there.
 */
#ifndef FG_CONTAINER_MOUNT_INFO_H
#define FG_CONTAINER_MOUNT_INFO_H

#include "container/container.h"

#include <limits.h>
#include <stdbool.h>

#define MOUNT_INFO_MAX_BYTES (1u << 20)

struct mount_info {
	char pod_uid[CONTAINER_UID_BYTES];
	char container_name[CONTAINER_NAME_BYTES]; /* as the kubelet calls it */
	char id[CONTAINER_ID_BYTES]; /* in the path of a file that its engine mounts */
	char hostname_device[24];    /* "8:1", and the path within; "" none */
	char hostname_path[PATH_MAX];
	char upper_dir[PATH_MAX]; /* of its root, if that is an overlay */
};

/* text is changed while it is read. */
void mount_info_parse(char *text, struct mount_info *ret);

/*
 * Where a path within a file system lies in a tree of mounts, by that tree's own mountinfo; the
 * number-th place, for a file system may be mounted more than once. False: there are no more.
 */
bool mount_info_place(char *text, const struct mount_info *of, unsigned number, char ret[PATH_MAX]);

#endif
