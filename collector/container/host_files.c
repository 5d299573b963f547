// SPDX-License-Identifier: Apache-2.0
/*
 * Walks down a path one component at a time, and looks at each before it goes on, see host_files.h.
 * Every step holds a descriptor, so what was looked at is what is entered.
 */
#include "container/host_files.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/root_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#ifndef FUSE_SUPER_MAGIC
#define FUSE_SUPER_MAGIC 0x65735546
#endif

#define MAX_GROUP_BYTES	  (64u << 10)
#define FIRST_USERS_GROUP 1000 /* groups of services have smaller numbers, see login.defs(5) */

struct walk {
	int root_fd;
	uid_t owner;
	dev_t root_device;
	int fd; /* where the walk is */
	unsigned links;
	char path[PATH_MAX]; /* what is still to be walked */
};

/*
 * Whether the group is that of the service that writes logs. Ubuntu lets it write /var/log, above
 * the kubelet's logs. Who is in this group can forge all of the host's logs.
 */
static bool is_log_group(const struct walk *walk, gid_t gid)
{
	_cleanup_free_ char *text = malloc(MAX_GROUP_BYTES);
	const char *line = text;
	unsigned known;

	if (!text || gid >= FIRST_USERS_GROUP ||
	    file_read_small_at(walk->root_fd, "etc/group", text, MAX_GROUP_BYTES) <= 0)
		return false;
	while (line && sscanf(line, "syslog:%*[^:]:%u:", &known) != 1) {
		line = strchr(line, '\n');
		line += line != NULL;
	}
	return line && known == gid;
}

static bool is_writable_by_others(const struct stat *st)
{
	return (st->st_mode & (S_IWGRP | S_IWOTH)) != 0;
}

/* Whether others may write a directory that is on the way. */
static bool is_passage_of_others(const struct walk *walk, const struct stat *st)
{
	if (st->st_mode & S_IWOTH)
		return true;
	return (st->st_mode & S_IWGRP) && !is_log_group(walk, st->st_gid);
}

/* Whether the directory's file system shows what its maker or a container wants. */
static bool is_made_up(const struct walk *walk, int fd, const struct stat *st)
{
	struct statfs fs;

	if (st->st_dev == walk->root_device)
		return false;
	return fstatfs(fd, &fs) < 0 || fs.f_type == FUSE_SUPER_MAGIC ||
	       fs.f_type == OVERLAYFS_SUPER_MAGIC;
}

static int check_dir(const struct walk *walk, int fd, const struct stat *st, bool is_last)
{
	if (!S_ISDIR(st->st_mode))
		return -ENOTDIR;
	if (st->st_uid != walk->owner || is_made_up(walk, fd, st))
		return -EPERM;
	if (is_last ? is_writable_by_others(st)
		    : is_passage_of_others(walk, st) && !(st->st_mode & S_ISVTX))
		return -EPERM;
	return 0;
}

/* Cuts the first component off what is to be walked. False: nothing is left. */
static bool next_name(struct walk *walk, char ret[NAME_MAX + 1])
{
	const char *from = walk->path + strspn(walk->path, "/");
	const size_t len = strcspn(from, "/");

	if (len == 0 || len > NAME_MAX)
		return false;
	memcpy(ret, from, len);
	ret[len] = '\0';
	from += len + strspn(from + len, "/");
	memmove(walk->path, from, strlen(from) + 1);
	return true;
}

static bool is_root(const struct walk *walk)
{
	struct stat here, root;

	return fstat(walk->fd, &here) == 0 && fstat(walk->root_fd, &root) == 0 &&
	       here.st_ino == root.st_ino && here.st_dev == root.st_dev;
}

static int go_to(struct walk *walk, int fd)
{
	if (fd < 0)
		return -errno;
	close(walk->fd);
	walk->fd = fd;
	return 0;
}

/* Puts a link's target in front of what is to be walked. */
static int follow(struct walk *walk, int link_fd, const struct stat *st)
{
	char whole[PATH_MAX];
	const ssize_t len = readlinkat(link_fd, "", whole, sizeof(whole));
	const size_t rest = strlen(walk->path);

	if (len < 0)
		return -errno;
	if (st->st_uid != walk->owner)
		return -EPERM;
	if (++walk->links > HOST_FILES_MAX_LINKS)
		return -ELOOP;
	if ((size_t)len + 1 + rest >= sizeof(whole))
		return -ENAMETOOLONG;
	whole[len] = '/';
	memcpy(whole + len + 1, walk->path, rest + 1);
	strcpy(walk->path, whole);
	return whole[0] == '/' ? go_to(walk, fcntl(walk->root_fd, F_DUPFD_CLOEXEC, 0)) : 0;
}

static int step(struct walk *walk, const char *name)
{
	_cleanup_close_ int fd = -1;
	struct stat st;
	int err;

	if (strcmp(name, "..") == 0 && is_root(walk))
		return 0;
	fd = openat(walk->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (S_ISLNK(st.st_mode))
		return follow(walk, fd, &st);
	err = check_dir(walk, fd, &st, walk->path[0] == '\0');
	if (err)
		return err;
	err = go_to(walk, fd);
	fd = err ? fd : -1;
	return err;
}

int host_dir_open(int root_fd, const char *path, uid_t owner)
{
	struct walk walk = {.root_fd = root_fd, .owner = owner};
	char name[NAME_MAX + 1];
	struct stat st;
	int err = 0;

	if (strlen(path) >= sizeof(walk.path))
		return -ENAMETOOLONG;
	strcpy(walk.path, path);
	if (fstat(root_fd, &st) < 0)
		return -errno;
	walk.root_device = st.st_dev;
	walk.fd = fcntl(root_fd, F_DUPFD_CLOEXEC, 0);
	if (walk.fd < 0)
		return -errno;
	err = check_dir(&walk, walk.fd, &st, false);
	while (!err && next_name(&walk, name))
		err = step(&walk, name);
	if (!err && walk.path[0])
		err = -ENAMETOOLONG;
	if (!err)
		return walk.fd;
	close(walk.fd);
	return err;
}

int host_dir_open_of_user(int root_fd, const char *path)
{
	return root_file_open_at(root_fd, path, O_PATH | O_DIRECTORY,
				 RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS);
}

DIR *host_dir_list(int dir_fd)
{
	const int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir;

	if (fd < 0)
		return NULL;
	dir = fdopendir(fd);
	if (!dir)
		close(fd);
	return dir;
}

/* Opens the directory of a file below dir_fd; *ret is the file's name in it. */
static int open_parent(int dir_fd, const char *path, uid_t owner, const char **ret)
{
	int fd = fcntl(dir_fd, F_DUPFD_CLOEXEC, 0);

	for (const char *slash; fd >= 0 && (slash = strchr(path, '/')); path = slash + 1) {
		char name[NAME_MAX + 1];
		struct stat st;
		int below;

		snprintf(name, sizeof(name), "%.*s", (int)(slash - path), path);
		below = root_file_open_at(fd, name, O_PATH | O_DIRECTORY,
					  RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV);
		close(fd);
		fd = below;
		if (fd >= 0 && (root_file_stat(fd, &st) < 0 || st.st_uid != owner ||
				is_writable_by_others(&st))) {
			close(fd);
			fd = -EPERM;
		}
	}
	*ret = path;
	return fd;
}

ssize_t host_file_read(int dir_fd, const char *path, uid_t owner, size_t max_bytes, char **ret)
{
	const char *name;
	_cleanup_close_ const int parent = open_parent(dir_fd, path, owner, &name);
	_cleanup_free_ char *buf = NULL;
	_cleanup_close_ int fd = -1;
	struct stat st;
	ssize_t len;

	if (parent < 0)
		return parent;
	fd = root_file_open_regular(parent, name,
				    RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV, &st);
	if (fd < 0)
		return fd;
	if (st.st_uid != owner || is_writable_by_others(&st))
		return -EPERM;
	if (st.st_size < 0 || (uint64_t)st.st_size > max_bytes)
		return -EFBIG;
	buf = malloc((size_t)st.st_size + 2);
	if (!buf)
		return -ENOMEM;
	len = file_read_up_to(fd, buf, (size_t)st.st_size + 1);
	if (len < 0)
		return len;
	if (len > st.st_size)
		return -EAGAIN; /* the file grows, so its writer has not finished */
	buf[len] = '\0';
	*ret = buf;
	buf = NULL;
	return len;
}
