// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   /proc/<pid>/cgroup -> the container's ID and pod UID; a container's names and labels
 * units:   none
 * threads: any
 * errors:  negative errno; -ENOENT: in no container
 * source:  cgroups(7); the path forms of Docker, containerd, CRI-O, Podman, kind and ECS
 *
 * The ID and the pod UID come from the kernel's cgroup paths. Names and labels come from files that
 * container engines keep on the host, see container_names.h, and were chosen by the users of the
 * engines: they are safe to be shown, but do not identify a container.
 */
#ifndef FG_CONTAINER_CONTAINER_H
#define FG_CONTAINER_CONTAINER_H

#include "container/label_set.h"
#include "container/pod_uid.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define CONTAINER_ID_BYTES   80
#define CONTAINER_UID_BYTES  POD_UID_BYTES
#define CONTAINER_NAME_BYTES 256

struct container {
	char id[CONTAINER_ID_BYTES];
	char pod_uid[CONTAINER_UID_BYTES]; /* "": in no pod, or not known, as for all below */
	char name[CONTAINER_NAME_BYTES];   /* from the engine, or in a pod from Kubernetes */
	char pod[CONTAINER_NAME_BYTES];
	char name_space[CONTAINER_NAME_BYTES]; /* the pod's namespace */
	struct label_set labels;
};

/*
 * The container ID of a text in the form of /proc/<pid>/cgroup: the last ID of 64 digits, or of
 * ECS's form of 32 digits and a number, which is that of the innermost container. Monitors (conmon)
 * and build steps are in no container of their own.
 */
int container_id_parse(const char *text, char ret[CONTAINER_ID_BYTES]);
int container_id_read(pid_t pid, char ret[CONTAINER_ID_BYTES]);
/* The container ID of one cgroup path. */
int container_id_of_path(const char *path, char ret[CONTAINER_ID_BYTES]);

/* Set the ID and the pod UID, and all other members to "". An error leaves ret as it was. */
int container_parse(const char *text, struct container *ret);
int container_read(pid_t pid, struct container *ret);

void container_fini(struct container *container);

/* Whether the text is a pod's UID: with dashes, or for a static pod without. */
bool container_is_pod_uid(const char *text, size_t len);
/* Whether Kubernetes allows the text as the name of a pod, namespace or container. */
bool container_is_pod_name(const char *text, size_t len);

#endif
