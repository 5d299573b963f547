// SPDX-License-Identifier: Apache-2.0
/* Opens files below a root directory only, see root_file.h. */
#include "base/root_file.h"

#include "base/cleanup.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

int root_file_open_root(pid_t pid)
{
	char path[sizeof("/proc/-2147483648/root")];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int open_at(int root_fd, const char *path, int flags, uint64_t resolve)
{
	const struct open_how how = {.flags = (unsigned)flags | O_CLOEXEC,
				     .resolve = resolve | RESOLVE_NO_MAGICLINKS};
	const int fd = (int)syscall(SYS_openat2, root_fd, path, &how, sizeof(how));

	return fd < 0 ? -errno : fd;
}

static int open_again(int path_fd)
{
	char path[sizeof("/proc/self/fd/-2147483648")];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", path_fd);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* ---- what a file system may not answer, see base/reach.h ---- */

struct place {
	uint64_t resolve;
	int flags;
	char path[PATH_MAX];
};

static int run_open(const void *request, size_t len, int fd)
{
	const struct place *const place = request;

	(void)len;
	return open_at(fd, place->path, place->flags, place->resolve);
}

static int run_open_regular(const void *request, size_t len, int fd)
{
	const struct place *const place = request;
	_cleanup_close_ const int path_fd = open_at(fd, place->path, O_PATH, place->resolve);
	struct stat st;

	(void)len;
	if (path_fd < 0)
		return path_fd;
	if (fstat(path_fd, &st) < 0) /* from here on the kernel knows what the file is */
		return -errno;
	return S_ISREG(st.st_mode) ? open_again(path_fd) : -EINVAL;
}

static int run_read(const void *request, size_t len, int fd)
{
	(void)request;
	(void)len;
	return open_again(fd);
}

static const struct reach_role open_role = {run_open, true};
static const struct reach_role regular_role = {run_open_regular, true};
static const struct reach_role read_role = {run_read, true};

static_assert(sizeof(struct place) <= REACH_MAX_BYTES, "a path fits a request");

static int reach_at(const struct reach_role *role, int root_fd, const char *path,
		    struct place place)
{
	const size_t len = strlen(path);

	if (len >= sizeof(place.path))
		return -ENAMETOOLONG;
	memcpy(place.path, path, len + 1);
	return reach_call(role, &place, offsetof(struct place, path) + len + 1, root_fd);
}

int root_file_open_at(int root_fd, const char *path, int flags, uint64_t resolve)
{
	/* What the kernel has at hand it gives without asking. */
	if ((flags & O_PATH) && (resolve & RESOLVE_CACHED))
		return open_at(root_fd, path, flags, resolve);
	return reach_at(&open_role, root_fd, path,
			(struct place){.flags = flags, .resolve = resolve});
}

int root_file_open(pid_t pid, const char *path, int flags)
{
	_cleanup_close_ const int root = root_file_open_root(pid);

	return root < 0 ? root : root_file_open_at(root, path, flags, RESOLVE_IN_ROOT);
}

int root_file_open_regular(int root_fd, const char *path, uint64_t resolve, struct stat *ret_stat)
{
	const int fd = reach_at(&regular_role, root_fd, path, (struct place){.resolve = resolve});
	const int err = fd < 0 ? fd : root_file_stat(fd, ret_stat);

	if (!err)
		return fd;
	if (fd >= 0)
		close(fd);
	return err;
}

int root_file_open_beside(int dirfd, const char *name)
{
	return open_at(dirfd, name, O_PATH | O_NOFOLLOW,
		       RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH);
}

int root_file_read_beside(int path_fd)
{
	return open_again(path_fd);
}

int root_file_stat_beside(int dirfd, const char *name, struct stat *ret)
{
	_cleanup_close_ const int fd = root_file_open_beside(dirfd, name);

	if (fd < 0)
		return fd;
	return fstat(fd, ret) < 0 ? -errno : 0;
}

int root_file_read(int path_fd)
{
	return reach_call(&read_role, NULL, 0, path_fd);
}

int root_file_hand(int path_fd, const struct reach_target *target)
{
	return reach_hand(&read_role, NULL, 0, path_fd, target);
}

int root_file_stat(int fd, struct stat *ret)
{
	struct statx stx;

	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &stx) < 0)
		return -errno;
	*ret = (struct stat){
		.st_dev = makedev(stx.stx_dev_major, stx.stx_dev_minor),
		.st_ino = stx.stx_ino,
		.st_mode = stx.stx_mode,
		.st_uid = stx.stx_uid,
		.st_size = (off_t)stx.stx_size,
		.st_mtim = {stx.stx_mtime.tv_sec, stx.stx_mtime.tv_nsec},
		.st_ctim = {stx.stx_ctime.tv_sec, stx.stx_ctime.tv_nsec},
	};
	return 0;
}
