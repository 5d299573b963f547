// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what container engines write about a container -> its name, pod and labels
 * units:   bytes
 * threads: any
 * errors:  -EBADMSG: it is not what it should be; -ENOENT: it is of other containers
 * source:  Docker's config.v2.json, containers.json of containers/storage (Podman, CRI-O), the OCI
 *          runtime specification's config.json as containerd, CRI-O and nerdctl fill it, the
 *          kubelet's /var/log/pods and /var/log/containers
 *
 * Everything is taken for hostile: texts are cleaned, names of pods are what Kubernetes allows or
 * not taken. Each function fills in only what is not known yet, so that the better source is asked
 * first.
 */
#ifndef FG_CONTAINER_CONTAINER_RECORDS_H
#define FG_CONTAINER_CONTAINER_RECORDS_H

#include "container/container.h"

/* config.v2.json: its Name and Labels. It must say the container's ID. */
int container_records_docker(const char *text, size_t len, struct container *container);
/* Whether that says that the container runs. */
bool container_records_docker_runs(const char *text, size_t len);

/* containers.json: the object of an array whose id is the container's. */
int container_records_storage(const char *text, size_t len, struct container *container);

/* config.json: its annotations. */
int container_records_oci(const char *text, size_t len, struct container *container);

/* "<namespace>_<pod>_<uid>", a directory of /var/log/pods. */
int container_records_log_dir(const char *name, struct container *container);

/* "<pod>_<namespace>_<container>-<id>.log", a link in /var/log/containers. */
int container_records_log_link(const char *name, struct container *container);

#endif
