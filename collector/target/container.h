// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   /proc/<pid>/cgroup -> container ID
 * units:   none
 * threads: any
 * errors:  negative errno; -ENOENT: in no container
 * source:  cgroups(7); the path forms of Docker, containerd, CRI-O, Podman, kind and ECS
 */
#ifndef FG_TARGET_CONTAINER_H
#define FG_TARGET_CONTAINER_H

#include <stddef.h>
#include <sys/types.h>

#define CONTAINER_ID_BYTES 80

/*
 * The last 64-digit (or ECS 32-digit-and-number) ID in text in the form of /proc/<pid>/cgroup: that
 * of the innermost container. Monitors (conmon) and build steps are in none of their own.
 */
int container_id_parse(const char *text, char ret[CONTAINER_ID_BYTES]);
int container_id_read(pid_t pid, char ret[CONTAINER_ID_BYTES]);

#endif
