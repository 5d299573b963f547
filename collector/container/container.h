// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   /proc/<pid>/cgroup -> the container's ID and pod UID; a container's names and labels
 * units:   none
 * threads: any
 * errors:  negative errno; -ENOENT: in no container
 * source:  cgroups(7); the path forms of Docker, containerd, CRI-O, Podman, kind and ECS
 *
 * The ID and the pod UID come from the kernel's cgroup paths, and from nothing else. Only what the
 * host's root has named in a path is taken as it stands (cgroup_tree.h). If another user may make
 * the cgroup, the ID begins with that user: "user-1000:<ID>". If a container has made the cgroup
 * inside of its own, the ID begins with that container's: "in-0123456789ab:<ID>". So nobody can
 * take the ID of another's container. Names and labels come from files that container engines keep
 * on the host, see container_names.h, and were chosen by the users of the engines: they are safe
 * to be shown, but do not identify a container. So is the image, a reference as its engine has it:
 * "registry.example/shop/cart:1.4.2", or "sha256:" and digits.
 */
#ifndef FG_CONTAINER_CONTAINER_H
#define FG_CONTAINER_CONTAINER_H

#include "container/cgroup_tree.h"
#include "container/label_set.h"
#include "container/pod_uid.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define CONTAINER_ID_BYTES    96
#define CONTAINER_UID_BYTES   POD_UID_BYTES
#define CONTAINER_NAME_BYTES  256
#define CONTAINER_IMAGE_BYTES LABEL_VALUE_BYTES

/* Whose word a container's ID is. */
enum container_namer {
	CONTAINER_NAMED_BY_ROOT,
	CONTAINER_NAMED_BY_USER,      /* user says which */
	CONTAINER_NAMED_BY_CONTAINER, /* another one, in which it is */
	CONTAINER_NAMED_BY_ANYONE,    /* the host's cgroup file system cannot be seen */
};

struct container {
	enum container_namer namer;
	uid_t user; /* CGROUP_TREE_NOBODY: not one user alone */
	char id[CONTAINER_ID_BYTES];
	char pod_uid[CONTAINER_UID_BYTES]; /* "": in no pod, or not known, as for all below */
	char name[CONTAINER_NAME_BYTES];   /* from the engine, or in a pod from Kubernetes */
	char pod[CONTAINER_NAME_BYTES];
	char name_space[CONTAINER_NAME_BYTES]; /* the pod's namespace */
	char image[CONTAINER_IMAGE_BYTES];     /* the reference of its image */
	struct label_set labels;
};

/*
 * Reads a text in the form of /proc/<pid>/cgroup: sets namer, user, the ID and the pod UID, and all
 * other members to "". IDs have 64 digits, or ECS's form of 32 digits and a number. Monitors
 * (conmon) and build steps are in no container of their own. Of several lines, the one counts whose
 * ID is root's word. An error leaves ret as it was.
 */
int container_parse(const char *text, const struct cgroup_tree *tree, struct container *ret);
int container_read(pid_t pid, struct container *ret);

/* The ID as the container's engine has it. */
const char *container_engine_id(const struct container *container);

/*
 * How many bytes of an ID say whose word it is: of "user-1000:<ID>" the user, of an ID of root's
 * all. What is counted by these bytes is not counted anew for each ID that a user makes up.
 */
size_t container_owner_len(const char *id);

/* How many bytes of an ID are shown: its first 12 digits, and what is in front of them. */
int container_short_len(const char *id);

/* Whether the text is a container's ID and nothing else. */
bool container_is_id(const char *text);

void container_fini(struct container *container);

/* Whether the text is a pod's UID: with dashes, or for a static pod without. */
bool container_is_pod_uid(const char *text, size_t len);
/* Whether Kubernetes allows the text as the name of a pod, namespace or container. */
bool container_is_pod_name(const char *text, size_t len);

#endif
