// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   /proc/<pid>/mountinfo -> IDs, names and directories of the container
 * units:   none
 * threads: any
 * errors:  false: not found; lines that do not parse are skipped
 * source:  proc_pid_mountinfo(5); where Docker, Podman, the kubelet mount files from
 *
 *	1 2 8:1 /var/lib/docker/containers/<id>/hostname /etc/hostname rw - ext4 /dev/sda1 rw
 *	1 2 8:1 /var/lib/kubelet/pods/<uid>/etc-hosts /etc/hosts rw - ...
 *	1 2 8:1 /var/lib/kubelet/pods/<uid>/containers/<name>/1a2b3c4d /dev/termination-log rw - ...
 *	1 2 0:50 / / rw - overlay overlay rw,...,upperdir=/.../overlay/<layer>/diff,...
 *
 * The fourth field is a path within the file system. The host's mountinfo says where this part of
 * the file system is mounted. A mountinfo is hostile: a process that may mount decides what its
 * mountinfo says. A caller that uses a path has to check the file that it finds there.
 */
#ifndef FG_CONTAINER_MOUNT_INFO_H
#define FG_CONTAINER_MOUNT_INFO_H

#include "container/container.h"

#include <limits.h>
#include <stdbool.h>

#define MOUNT_INFO_MAX_BYTES (1u << 20)

struct mount_info {
	char pod_uid[CONTAINER_UID_BYTES];
	char container_name[CONTAINER_NAME_BYTES]; /* in a path of the kubelet */
	char id[CONTAINER_ID_BYTES];  /* in the path that is mounted at /etc/hostname or so */
	char hostname_device[24];     /* the device of this path, "8:1"; "": none */
	char hostname_path[PATH_MAX]; /* the path within the device's file system */
	char upper_dir[PATH_MAX];     /* of the root directory, if it is an overlay */
};

/* Parses a mountinfo; text is changed. */
void mount_info_parse(char *text, struct mount_info *ret);

/*
 * Finds where of->hostname_path lies in the mount namespace whose mountinfo text is; text is
 * changed. A file system may be mounted more than once: number chooses the place, from 0. False:
 * there are no more places.
 */
bool mount_info_place(char *text, const struct mount_info *of, unsigned number, char ret[PATH_MAX]);

#endif
