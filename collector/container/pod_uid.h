// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a path of /proc/<pid>/cgroup -> the UID of the process's Kubernetes pod
 * units:   none
 * threads: any
 * errors:  negative errno; -ENOENT: in no pod
 * source:  cgroups(7); the path forms of the kubelet's two cgroup drivers, RFC 4122
 */
#ifndef FG_CONTAINER_POD_UID_H
#define FG_CONTAINER_POD_UID_H

#define POD_UID_BYTES 37

/*
 * The pod UID of a text in the form of /proc/<pid>/cgroup: the last UID, which is that of the
 * innermost pod. The UID is written as Kubernetes shows it: with dashes, or for a static pod as 32
 * digits without.
 */
int pod_uid_parse(const char *text, char ret[POD_UID_BYTES]);

#endif
