// SPDX-License-Identifier: Apache-2.0
/*
 * Opens the cgroup file systems of the host once, and walks down paths of cgroups, see
 * cgroup_tree.h. A mountinfo shows the roots of cgroup file systems as paths from where the
 * reader's cgroup namespace begins: "/" if the mount begins there too, "/../.." if the mount begins
 * two levels above.
 */
#include "container/cgroup_tree.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "guard/mount_namespace.h"
#include "container/mount_info.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the mounts ---- */

/* Whether a list with commas has the word. */
static bool has_word(const char *list, const char *word, size_t len)
{
	for (const char *at = list; *at; at += strspn(at, ",")) {
		const size_t n = strcspn(at, ",");

		if (n == len && memcmp(at, word, len) == 0)
			return true;
		at += n;
	}
	return false;
}

static bool is_v2(const struct mount_info *mount)
{
	return strcmp(mount->type, "cgroup2") == 0;
}

/* The levels of "/../..": 2. -1: another path. */
static int levels_up(const char *path)
{
	int levels = 0;

	for (; strncmp(path, "/..", 3) == 0; path += 3)
		levels++;
	return *path ? -1 : levels;
}

/*
 * Finds the directory in which the collector's cgroup namespace begins, from the collector's own
 * mount of the hierarchy.
 */
static int find_own(const struct cgroup_hierarchy *hierarchy, struct stat *ret)
{
	_cleanup_free_ char *text = NULL;
	struct mount_info mount;
	char *at;

	if (file_read_whole("/proc/self/mountinfo", MOUNT_INFO_MAX_BYTES, &text) < 0)
		return -ENOENT;
	for (at = text; mount_info_next(&at, &mount);) {
		if (strcmp(mount.root, "/") != 0 || is_v2(&mount) != hierarchy->is_v2 ||
		    (!hierarchy->is_v2 && strcmp(mount.options, hierarchy->options) != 0) ||
		    (!hierarchy->is_v2 && strcmp(mount.type, "cgroup") != 0))
			continue;
		if (stat(mount.point, ret) == 0)
			return 0;
	}
	return -ENOENT;
}

/* Opens the directory of that inode, so many levels below dir_fd. -ENOENT: there is none. */
static int open_inode(int dir_fd, const struct stat *own, int levels, unsigned *left)
{
	const int list_fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_closedir_ DIR *dir = list_fd < 0 ? NULL : fdopendir(list_fd);
	const struct dirent *entry;

	if (!dir && list_fd >= 0)
		close(list_fd);
	while (dir && (entry = readdir(dir)) && *left > 0) {
		_cleanup_close_ int fd = -1;
		struct stat st;

		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		--*left;
		fd = openat(dir_fd, entry->d_name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (levels > 1) {
			const int found = open_inode(fd, own, levels - 1, left);

			if (found >= 0)
				return found;
		} else if (fstat(fd, &st) == 0 && st.st_ino == own->st_ino &&
			   st.st_dev == own->st_dev) {
			return fcntl(fd, F_DUPFD_CLOEXEC, 0);
		}
	}
	return -ENOENT;
}

static int open_hierarchy(struct cgroup_hierarchy *hierarchy, int root_fd,
			  const struct mount_info *mount)
{
	const char *const point = mount->point + strspn(mount->point, "/");
	const int levels = levels_up(mount->root);
	_cleanup_close_ int fd = openat(root_fd, *point ? point : ".",
					O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	unsigned left = CGROUP_TREE_MAX_DIRS;
	struct stat own;

	if (fd < 0 || strlen(mount->options) >= sizeof(hierarchy->options) ||
	    strlen(mount->root) >= sizeof(hierarchy->above))
		return -ENOENT;
	hierarchy->is_v2 = is_v2(mount);
	strcpy(hierarchy->options, mount->options);
	if (levels > 0) {
		if (find_own(hierarchy, &own) < 0)
			return -ENOENT;
		hierarchy->dir_fd = open_inode(fd, &own, levels, &left);
		return hierarchy->dir_fd < 0 ? -ENOENT : 0;
	}
	if (strncmp(mount->root, "/..", 3) == 0)
		return -ENOENT; /* a mount of some other part of the hierarchy */
	strcpy(hierarchy->above, strcmp(mount->root, "/") == 0 ? "" : mount->root);
	hierarchy->dir_fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	return hierarchy->dir_fd < 0 ? -errno : 0;
}

void cgroup_tree_init(struct cgroup_tree *tree, int root_fd, const char *mounts_path)
{
	_cleanup_free_ char *text = NULL;
	struct mount_info mount;
	char *at;

	*tree = (struct cgroup_tree){0};
	if (root_fd < 0 || file_read_whole(mounts_path, MOUNT_INFO_MAX_BYTES, &text) < 0)
		return;
	for (at = text; tree->count < CGROUP_TREE_MAX && mount_info_next(&at, &mount);) {
		struct cgroup_hierarchy *const hierarchy = &tree->hierarchies[tree->count];

		if (!is_v2(&mount) && strcmp(mount.type, "cgroup") != 0)
			continue;
		*hierarchy = (struct cgroup_hierarchy){.dir_fd = -1};
		tree->count += open_hierarchy(hierarchy, root_fd, &mount) == 0;
	}
}

void cgroup_tree_fini(struct cgroup_tree *tree)
{
	for (unsigned i = 0; i < tree->count; i++)
		close(tree->hierarchies[i].dir_fd);
	tree->count = 0;
}

static struct cgroup_tree host;

static void open_host(void)
{
	/* This process has mounts of its own, and PID 1 is outside of its container. */
	const bool asks_first = mount_namespace_is_other(1, NULL) > 0;
	_cleanup_close_ int first =
		asks_first ? open("/proc/1/root", O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	_cleanup_close_ int own = first < 0 ? open("/", O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;

	cgroup_tree_init(&host, first >= 0 ? first : own,
			 first >= 0 ? "/proc/1/mountinfo" : "/proc/self/mountinfo");
}

const struct cgroup_tree *cgroup_tree_of_host(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, open_host);
	return &host;
}

/* ---- paths ---- */

/* Whether the hierarchy is that of the key. All controllers of a key are of one hierarchy. */
static bool is_of(const struct cgroup_hierarchy *hierarchy, const char *key, size_t len)
{
	const char *const comma = memchr(key, ',', len);

	if (len == 0 || hierarchy->is_v2)
		return len == 0 && hierarchy->is_v2;
	return has_word(hierarchy->options, key, comma ? (size_t)(comma - key) : len);
}

const struct cgroup_hierarchy *cgroup_tree_find(const struct cgroup_tree *tree, const char *key,
						size_t key_len, const char **path)
{
	for (unsigned i = 0; i < tree->count; i++) {
		const struct cgroup_hierarchy *const hierarchy = &tree->hierarchies[i];
		const size_t above = strlen(hierarchy->above);

		if (!is_of(hierarchy, key, key_len) ||
		    strncmp(*path, hierarchy->above, above) != 0 ||
		    ((*path)[above] && !strchr("/\n", (*path)[above])))
			continue;
		*path += above;
		return hierarchy;
	}
	return NULL;
}

/* Opens the next directory of a path in place of *fd. 0: the path ends. */
static int enter(int *fd, const char **path, const char *end)
{
	char name[NAME_MAX + 1];
	const char *from = *path;
	size_t len;
	int below;

	while (from < end && *from == '/')
		from++;
	*path = from;
	while (*path < end && **path != '/')
		++*path;
	len = (size_t)(*path - from);
	if (len == 0)
		return 0;
	if (len >= sizeof(name))
		return -ENAMETOOLONG;
	memcpy(name, from, len);
	name[len] = '\0';
	below = openat(*fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (below < 0)
		return -errno;
	close(*fd);
	*fd = below;
	return 1;
}

int cgroup_tree_owner(const struct cgroup_hierarchy *hierarchy, const char *path, size_t len,
		      uid_t *ret)
{
	_cleanup_close_ int fd = fcntl(hierarchy->dir_fd, F_DUPFD_CLOEXEC, 0);
	const char *const end = path + len;
	struct stat st;
	int entered;

	if (fd < 0)
		return -errno;
	while ((entered = enter(&fd, &path, end)) > 0) {
		if (fstat(fd, &st) < 0)
			return -errno;
		if (st.st_uid == 0 && (st.st_mode & (S_IWGRP | S_IWOTH)) == 0)
			continue;
		*ret = st.st_uid != 0 ? st.st_uid : CGROUP_TREE_NOBODY;
		return 0;
	}
	if (entered == 0)
		*ret = 0;
	return entered;
}
