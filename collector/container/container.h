// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   /proc/<pid>/cgroup -> container ID and pod; what is known of a container
 * units:   none
 * threads: any
 * errors:  negative errno; -ENOENT: in no container
 * source:  cgroups(7); the path forms of Docker, containerd, CRI-O, Podman, kind and ECS
 *
 * The ID is the kernel's word. Names and labels are those of files that engines keep on the host,
 * see container_names.h, and of whoever chose them: they are clean to show, and no identity.
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
	char pod_uid[CONTAINER_UID_BYTES]; /* "" in none, or not known, as all below */
	char name[CONTAINER_NAME_BYTES];   /* the engine's, or in a pod the pod's */
	char pod[CONTAINER_NAME_BYTES];
	char name_space[CONTAINER_NAME_BYTES]; /* the pod's */
	struct label_set labels;
};

/*
 * The last 64-digit (or ECS 32-digit-and-number) ID in text in the form of /proc/<pid>/cgroup: that
 * of the innermost container. Monitors (conmon) and build steps are in none of their own.
 */
int container_id_parse(const char *text, char ret[CONTAINER_ID_BYTES]);
int container_id_read(pid_t pid, char ret[CONTAINER_ID_BYTES]);
/* The same of a path alone. */
int container_id_of_path(const char *path, char ret[CONTAINER_ID_BYTES]);

/* ID and pod by the kernel's word; the rest becomes "". -ENOENT leaves ret alone. */
int container_parse(const char *text, struct container *ret);
int container_read(pid_t pid, struct container *ret);

void container_fini(struct container *container);

/* A pod's UID, with dashes, or of a static pod, without. */
bool container_is_pod_uid(const char *text, size_t len);
/* What Kubernetes allows as a name of pods, namespaces and containers. */
bool container_is_pod_name(const char *text, size_t len);

#endif
