// SPDX-License-Identifier: Apache-2.0
/*
 * Makes a path free for a listening Unix socket, see listen.h. The kernel says which process
 * listens at a socket: the peer credentials of a connected client are those of the process that
 * called listen(2).
 */
#include "intake/listen.h"

#include "base/cleanup.h"
#include "base/log.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

static pid_t owner_of(const char *path, int type)
{
	_cleanup_close_ int fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	struct ucred cred;
	socklen_t len = sizeof(cred);

	if (fd < 0)
		return -errno;
	if (strlen(path) >= sizeof(addr.sun_path))
		return -ENAMETOOLONG;
	memcpy(addr.sun_path, path, strlen(path) + 1);
	if (connect(fd, (const struct sockaddr *)&addr, sizeof(addr)) < 0) {
		if (errno == ECONNREFUSED || errno == ENOENT)
			return 0;
		return -errno;
	}
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0)
		return -errno;
	return cred.pid > 0 ? cred.pid : -ESRCH;
}

pid_t listen_owner(const char *path)
{
	const pid_t owner = owner_of(path, SOCK_STREAM);

	return owner == -EPROTOTYPE ? owner_of(path, SOCK_SEQPACKET) : owner;
}

static int make_directory(const char *path, const char *option)
{
	char dir[PATH_MAX];
	const char *slash = strrchr(path, '/');
	struct stat st;

	if (!slash || slash == path)
		return 0;
	memcpy(dir, path, (size_t)(slash - path));
	dir[slash - path] = '\0';
	if (mkdir(dir, 0755) == 0) {
		/* Independent of the umask: JVMs of any user must reach the socket. */
		return chmod(dir, 0755) == 0 ? 0 : -errno;
	}
	if (errno != EEXIST) {
		const int err = -errno;

		log_error("cannot make the socket directory %s: %s: run as root, or choose "
			  "another place with %s",
			  dir, strerror(-err), option);
		return err;
	}
	if (stat(dir, &st) < 0 || !S_ISDIR(st.st_mode)) {
		log_error("cannot use %s as the socket directory: it is not a directory: remove "
			  "it, or choose another place with %s",
			  dir, option);
		return -ENOTDIR;
	}
	return 0;
}

/*
 * Whether others than root and this user may replace what is in the directory. In a directory with
 * the sticky bit, such as /tmp, nobody replaces what is another's.
 */
static bool is_of_others(const struct stat *st)
{
	return (st->st_uid != 0 && st->st_uid != geteuid()) ||
	       ((st->st_mode & (S_IWGRP | S_IWOTH)) && !(st->st_mode & S_ISVTX));
}

/* Checks the socket's directory and all directories above. */
static int check_directories(const char *path, const char *option)
{
	char dir[PATH_MAX], real[PATH_MAX];
	const char *const slash = strrchr(path, '/');
	struct stat st;

	memcpy(dir, path, (size_t)(slash - path));
	dir[slash - path] = '\0';
	if (!realpath(dir[0] ? dir : "/", real))
		return -errno;
	for (char *end = real + strlen(real);; end = strrchr(real, '/')) {
		*end = '\0';
		if (stat(real[0] ? real : "/", &st) < 0)
			return -errno;
		if (is_of_others(&st)) {
			log_error("cannot listen on %s: others may write to %s, and so replace the "
				  "socket: chmod go-w %s, or choose another place with %s",
				  path, real[0] ? real : "/", real[0] ? real : "/", option);
			return -EPERM;
		}
		if (!strchr(real, '/'))
			return 0;
	}
}

static int prepare(const char *path, const char *option, bool is_private)
{
	struct sockaddr_un addr;
	struct stat st;
	pid_t owner;
	int err;

	if (strlen(path) >= sizeof(addr.sun_path)) {
		log_error("cannot listen on %s: the path is longer than %zu bytes: choose a "
			  "shorter one with %s",
			  path, sizeof(addr.sun_path) - 1, option);
		return -ENAMETOOLONG;
	}
	err = make_directory(path, option);
	if (!err && is_private)
		err = check_directories(path, option);
	if (err)
		return err;
	if (lstat(path, &st) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode)) {
		log_error("cannot listen on %s: something that is no socket is there: remove it, "
			  "or choose another place with %s",
			  path, option);
		return -EEXIST;
	}
	owner = listen_owner(path);
	if (owner > 0) {
		log_error(
			"cannot listen on %s: another collector is running, PID %d, such as "
			"'fgcollect record': wait until it ends, or choose another place with %s; "
			"a daemon (fgcollect --watch) serves record, top and list at a time",
			path, (int)owner, option);
		return -EADDRINUSE;
	}
	if (owner < 0) {
		log_error("cannot listen on %s: %s: it may belong to another user's collector: "
			  "run as that user or as root, or choose another place with %s",
			  path, strerror(-owner), option);
		return owner;
	}
	if (unlink(path) < 0 && errno != ENOENT) {
		err = -errno;
		log_error("cannot replace %s, which a dead collector left: %s", path,
			  strerror(-err));
		return err;
	}
	return 0;
}

int listen_prepare(const char *path, const char *option)
{
	return prepare(path, option, false);
}

int listen_prepare_private(const char *path, const char *option)
{
	return prepare(path, option, true);
}
