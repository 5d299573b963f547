// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   /proc/<pid>/cgroup -> UID of the Kubernetes pod
 * units:   none
 * threads: any
 * errors:  negative errno; -ENOENT: in no pod
 * source:  cgroups(7); the path forms of the kubelet's two cgroup drivers, RFC 4122
 */
#ifndef FG_CONTAINER_POD_UID_H
#define FG_CONTAINER_POD_UID_H

#include <sys/types.h>

#define POD_UID_BYTES 37

/*
 * The last UID in text in the form of /proc/<pid>/cgroup: that of the innermost pod. As Kubernetes
 * shows it: with dashes, or for a static pod 32 digits without.
 */
int pod_uid_parse(const char *text, char ret[POD_UID_BYTES]);
int pod_uid_read(pid_t pid, char ret[POD_UID_BYTES]);

#endif
