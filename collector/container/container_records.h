// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   records that container engines keep of a container -> its name, pod, image and labels
 * units:   bytes
 * threads: any
 * errors:  -EBADMSG: a record of another form; -ENOENT: a record of other containers
 * source:  Docker's config.v2.json, containers.json of containers/storage (Podman, CRI-O), the OCI
 *          runtime specification's config.json as containerd, CRI-O and nerdctl fill it, the
 *          kubelet's /var/log/pods and /var/log/containers
 *
 * Records are hostile: texts are cleaned, and names of pods are taken only if Kubernetes allows
 * them. An image's reference that has no room is left out and counted like a label, because a
 * reference that was cut would be another image's. Each function fills in only the members that are
 * empty, so the caller reads the better source first.
 */
#ifndef FG_CONTAINER_CONTAINER_RECORDS_H
#define FG_CONTAINER_CONTAINER_RECORDS_H

#include "container/container.h"

/* Takes Name, Image and Labels of config.v2.json, whose ID must be the container's. */
int container_records_docker(const char *text, size_t len, struct container *container);
/* Whether config.v2.json says that the container runs. */
bool container_records_docker_runs(const char *text, size_t len);

/* Takes names, metadata and image of the object of containers.json whose id is the container's. */
int container_records_storage(const char *text, size_t len, struct container *container);

/* Takes the annotations of config.json. */
int container_records_oci(const char *text, size_t len, struct container *container);

/* Takes the name of a directory of /var/log/pods: "<namespace>_<pod>_<uid>". */
int container_records_log_dir(const char *name, struct container *container);

/* Takes the name of a link in /var/log/containers: "<pod>_<namespace>_<container>-<id>.log". */
int container_records_log_link(const char *name, struct container *container);

#endif
