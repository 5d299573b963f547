// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a directory of a cgroup path -> the user who may make cgroups in the directory
 * units:   none
 * threads: any, after init
 * errors:  negative errno
 * source:  cgroups(7), cgroup_namespaces(7), systemd.resource-control(5) Delegate=
 *
 * The kernel says in which cgroup a process is. But a cgroup's name is the word of whoever made the
 * cgroup. Whoever owns a directory of the cgroup file system makes cgroups of any name in the
 * directory, and root gives directories away: systemd gives one to each user who logs in. So a name
 * is root's word only if all directories above the name are root's, and nobody else may write them.
 *
 * The host's cgroup file systems are found in the host's mountinfo. Paths in /proc/<pid>/cgroup
 * begin where the collector's cgroup namespace begins. If the collector has a cgroup namespace of
 * its own, as in a pod, such a path may begin with "/..": that directory is found by its inode.
 */
#ifndef FG_CONTAINER_CGROUP_TREE_H
#define FG_CONTAINER_CGROUP_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define CGROUP_TREE_MAX	       16 /* hierarchies */
#define CGROUP_TREE_TEXT_BYTES 512
#define CGROUP_TREE_MAX_DIRS   65536	   /* directories in which the inode is looked for */
#define CGROUP_TREE_NOBODY     ((uid_t)-1) /* more users than one may make cgroups */

struct cgroup_hierarchy {
	bool is_v2;
	char options[CGROUP_TREE_TEXT_BYTES]; /* of version 1: "rw,cpu,cpuacct", "rw,name=x" */
	char above[CGROUP_TREE_TEXT_BYTES];   /* how paths begin that lie below dir_fd */
	int dir_fd;
};

struct cgroup_tree {
	struct cgroup_hierarchy hierarchies[CGROUP_TREE_MAX];
	unsigned count;
};

/* mounts_path: the mountinfo of the mount namespace of root_fd. A tree may be empty. */
void cgroup_tree_init(struct cgroup_tree *tree, int root_fd, const char *mounts_path);
void cgroup_tree_fini(struct cgroup_tree *tree);

/* The tree of this host, which is opened once and never closed. */
const struct cgroup_tree *cgroup_tree_of_host(void);

/*
 * The hierarchy of a line of /proc/<pid>/cgroup, whose second field is key and whose third begins
 * at *path, which is moved to where the path in the hierarchy begins. NULL: it cannot be seen.
 */
const struct cgroup_hierarchy *cgroup_tree_find(const struct cgroup_tree *tree, const char *key,
						size_t key_len, const char **path);

/*
 * Who owns the first directory of the path that is not root's alone; 0 if all are root's. The path
 * ends after len bytes.
 */
int cgroup_tree_owner(const struct cgroup_hierarchy *hierarchy, const char *path, size_t len,
		      uid_t *ret);

#endif
