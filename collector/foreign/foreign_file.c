// SPDX-License-Identifier: Apache-2.0
/* Finds and opens the perf map that a process's runtime writes, see foreign_file.h. */
#include "foreign/foreign_file.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/reach.h"
#include "base/root_file.h"
#include "foreign/map_marker.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_ENVIRON_BYTES (128u << 10)
#define CLOCK_SLACK_SEC	  2 /* file systems round times, and starts are in clock ticks */

/*
 * Whether uid is a user of the process: real, effective, saved or for files. The process may have
 * changed its user since it made the file.
 */
static bool is_user_of(pid_t pid, uid_t uid)
{
	char path[32], text[4096];
	unsigned users[4];
	const char *line;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (file_read_small(path, text, sizeof(text)) <= 0)
		return false;
	line = strstr(text, "\nUid:");
	if (!line ||
	    sscanf(line, "\nUid: %u %u %u %u", &users[0], &users[1], &users[2], &users[3]) != 4)
		return false;
	return uid == users[0] || uid == users[1] || uid == users[2] || uid == users[3];
}

/*
 * Checks the file of path_fd. path_fd was opened with O_PATH, which does not open the file itself.
 */
static int check(int path_fd, const struct foreign_owner *owner, struct stat *st)
{
	const int err = root_file_stat(path_fd, st); /* as the look-up has found it */

	if (err)
		return err;
	if (!S_ISREG(st->st_mode))
		return -EINVAL;
	if (st->st_uid != 0 && !is_user_of(owner->pid, st->st_uid))
		return -EACCES;
	return st->st_mtim.tv_sec + CLOCK_SLACK_SEC < owner->began_at ? -ESTALE : 0;
}

/* Whether the file is a perf map of fgcollect's own. Another process opens it. */
static int run_is_ours(const void *request, size_t len, int path_fd)
{
	_cleanup_close_ const int fd = root_file_read(path_fd);

	(void)request;
	(void)len;
	return fd < 0 ? fd : map_marker_is_in(fd);
}

static const struct reach_role is_ours_role = {run_is_ours, false};

int foreign_file_open_at(const char *root_path, const char *path, const struct foreign_owner *owner,
			 struct stat *ret_stat)
{
	_cleanup_close_ const int root = open(root_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	_cleanup_close_ int path_fd =
		root < 0 ? -errno : root_file_open_at(root, path, O_PATH, RESOLVE_IN_ROOT);
	struct stat st;
	int err, ret;

	if (path_fd < 0)
		return path_fd == -ENOTDIR || path_fd == -ESRCH ? -ENOENT : path_fd;
	err = check(path_fd, owner, &st);
	if (err)
		return err;
	err = reach_call(&is_ours_role, NULL, 0, path_fd);
	if (err)
		return err < 0 ? err : -EEXIST;
	*ret_stat = st;
	ret = path_fd;
	path_fd = -1;
	return ret;
}

/* Writes the process's own TMPDIR to ret. */
static bool find_tmpdir(pid_t pid, char *ret, size_t size)
{
	static const char key[] = "TMPDIR=";
	_cleanup_free_ char *text = NULL;
	char path[32];
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	len = file_read_whole(path, MAX_ENVIRON_BYTES, &text);
	for (const char *p = text; len > 0 && p < text + len; p += strlen(p) + 1) {
		if (strncmp(p, key, sizeof(key) - 1) != 0)
			continue;
		p += sizeof(key) - 1;
		return p[0] == '/' && snprintf(ret, size, "%s", p) < (int)size;
	}
	return false;
}

int foreign_file_open(const struct foreign_owner *owner, struct stat *ret_stat)
{
	char root[32], dir[PATH_MAX - 64], path[PATH_MAX];
	int first, fd;

	snprintf(root, sizeof(root), "/proc/%d/root", (int)owner->pid);
	snprintf(path, sizeof(path), "tmp/perf-%d.map", (int)owner->inner_pid);
	first = fd = foreign_file_open_at(root, path, owner, ret_stat);
	if (fd < 0 && find_tmpdir(owner->pid, dir, sizeof(dir))) {
		snprintf(path, sizeof(path), "%s/perf-%d.map", dir, (int)owner->inner_pid);
		fd = foreign_file_open_at(root, path, owner, ret_stat);
	}
	if (fd < 0) {
		snprintf(path, sizeof(path), "tmp/perf-%d.map", (int)owner->pid);
		fd = foreign_file_open_at("/", path, owner, ret_stat);
	}
	return fd == -ENOENT ? first : fd;
}
