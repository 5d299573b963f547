// SPDX-License-Identifier: Apache-2.0
/*
 * Listens for collectors in a container that has no directory of the host mounted. The collector
 * dials through /proc/<pid>/root and follows no symbolic link there, so the path is published with
 * its links resolved.
 *
 * The socket's mode keeps other users out. The user of each peer is checked again: root of this
 * container or, with uid 0, of the host; root of the host outside this user namespace, whom the
 * kernel shows as the overflow user; and this user.
 */
#include "listener.h"

#include "shared/wire.h"
#include "warn.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#define LOOK_MS	     5000 /* how often the descriptor is looked at when nobody dials */
#define BACKLOG	     1	  /* others that wait while one is served */
#define OVERFLOW_UID 65534
#define NOEXEC_SEAL  0x8u /* MFD_NOEXEC_SEAL of Linux 6.3, which some systems require */
#define REGION_BYTES 1	  /* takes a page of address space */

/* Appends len bytes of text. False: there is no room for the text and a terminator. */
static bool append(char *path, size_t size, const char *text, size_t len)
{
	const size_t used = strlen(path);

	if (len >= size - used)
		return false;
	memcpy(path + used, text, len);
	path[used + len] = 0;
	return true;
}

static bool expand_pid(const char *pattern, char *path, size_t size)
{
	char pid[16];
	bool fits = true;

	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	path[0] = 0;
	while (fits && *pattern) {
		const char *mark = strstr(pattern, "%p");
		const size_t len = mark ? (size_t)(mark - pattern) : strlen(pattern);

		fits = append(path, size, pattern, len) &&
		       (!mark || append(path, size, pid, strlen(pid)));
		pattern += len + (mark ? 2 : 0);
	}
	return fits;
}

/* Finds the path without symbolic links in its directories. Sets errno. */
static bool find_path(const char *pattern, char ret[OPTIONS_SOCKET_MAX_BYTES])
{
	char wanted[OPTIONS_SOCKET_MAX_BYTES], real[PATH_MAX];
	char *slash;
	bool fits;

	errno = ENAMETOOLONG;
	if (!expand_pid(pattern, wanted, sizeof(wanted)))
		return false;
	slash = strrchr(wanted, '/');
	*slash = 0;
	if (!realpath(slash == wanted ? "/" : wanted, real))
		return false;
	errno = ENAMETOOLONG;
	ret[0] = 0;
	fits = real[1] == 0 || append(ret, OPTIONS_SOCKET_MAX_BYTES, real, strlen(real));
	return fits && append(ret, OPTIONS_SOCKET_MAX_BYTES, "/", 1) &&
	       append(ret, OPTIONS_SOCKET_MAX_BYTES, slash + 1, strlen(slash + 1));
}

/* Calls lstat by its system call. glibc has exported lstat as a function only since 2.33. */
static bool stat_link(const char *path, struct stat *ret)
{
	return syscall(SYS_newfstatat, AT_FDCWD, path, ret, AT_SYMLINK_NOFOLLOW) == 0;
}

static struct sockaddr_un address_of(const char *path)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};

	memcpy(addr.sun_path, path, strlen(path) + 1);
	return addr;
}

static int open_socket(void)
{
	return socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

/*
 * Whether the path is a socket of this user on which no process listens, left by a JVM that died.
 */
static bool is_stale(const char *path)
{
	const struct sockaddr_un addr = address_of(path);
	struct stat st;
	bool refused;
	int fd;

	if (!stat_link(path, &st) || !S_ISSOCK(st.st_mode) || st.st_uid != geteuid())
		return false;
	fd = open_socket();
	if (fd < 0)
		return false;
	refused = connect(fd, (const struct sockaddr *)&addr, sizeof(addr)) != 0 &&
		  errno == ECONNREFUSED;
	close(fd);
	return refused;
}

/*
 * Binds the socket. The new file gets the mode of fd, so at no time can other users use the file.
 */
static bool bind_socket(int fd, const char *path)
{
	const struct sockaddr_un addr = address_of(path);

	if (fchmod(fd, 0600) != 0)
		return false;
	if (bind(fd, (const struct sockaddr *)&addr, sizeof(addr)) == 0)
		return true;
	if (errno != EADDRINUSE)
		return false;
	if (!is_stale(path) || unlink(path) != 0) {
		errno = EADDRINUSE;
		return false;
	}
	return bind(fd, (const struct sockaddr *)&addr, sizeof(addr)) == 0;
}

static bool start_listening(struct listener *listener)
{
	listener->own = own_fd_take(open_socket());
	if (listener->own.fd < 0 || !bind_socket(listener->own.fd, listener->path))
		return false;
	if (!stat_link(listener->path, &listener->made))
		return false;
	return listen(listener->own.fd, BACKLOG) == 0;
}

/*
 * Publishes the path as the name of a memfd, which is a line of /proc/<pid>/maps for all who may
 * read that file. The memory holds no data and cannot be accessed. Child processes that are not
 * JVMs do not inherit the memory.
 */
static bool publish(struct listener *listener)
{
	char name[sizeof(WIRE_LISTEN_REGION) + OPTIONS_SOCKET_MAX_BYTES];
	long fd;

	snprintf(name, sizeof(name), "%s%s", WIRE_LISTEN_REGION, listener->path);
	fd = syscall(SYS_memfd_create, name, MFD_CLOEXEC | NOEXEC_SEAL);
	if (fd < 0 && errno == EINVAL)
		fd = syscall(SYS_memfd_create, name, MFD_CLOEXEC);
	if (fd < 0)
		return false;
	listener->region = mmap(NULL, REGION_BYTES, PROT_NONE, MAP_PRIVATE, (int)fd, 0);
	close((int)fd);
	if (listener->region == MAP_FAILED) {
		listener->region = NULL;
		return false;
	}
	madvise(listener->region, REGION_BYTES, MADV_DONTFORK);
	return true;
}

bool listener_open(struct listener *listener, const char *path)
{
	listener->own.fd = -1;
	if (!find_path(path, listener->path) || !start_listening(listener)) {
		warn_line(
			"idle: cannot listen on %s: %m: give socket=listen: a path in a directory "
			"that this user can write, with %%p where several JVMs share it",
			path);
		return false;
	}
	if (!publish(listener)) {
		warn_line("idle: cannot tell where it listens, as memory cannot be named here: %m");
		return false;
	}
	atomic_store(&listener->is_open, true);
	return true;
}

static bool is_own(const struct listener *listener)
{
	struct stat st;

	return listener->made.st_ino && stat_link(listener->path, &st) &&
	       st.st_dev == listener->made.st_dev && st.st_ino == listener->made.st_ino;
}

void listener_close(struct listener *listener)
{
	if (listener->region)
		munmap(listener->region, REGION_BYTES);
	if (is_own(listener))
		unlink(listener->path);
	own_fd_close(&listener->own);
	atomic_store(&listener->is_open, false);
	listener->region = NULL;
	listener->made = (struct stat){0};
}

void listener_wake(const struct listener *listener)
{
	struct sockaddr_un addr;
	int fd;

	if (!atomic_load(&listener->is_open))
		return;
	addr = address_of(listener->path);
	fd = open_socket();
	if (fd < 0)
		return;
	if (connect(fd, (const struct sockaddr *)&addr, sizeof(addr)) != 0)
		errno = 0; /* so many wait already that the thread does not */
	close(fd);
}

static bool is_welcome(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) != 0)
		return false;
	return peer.uid == 0 || peer.uid == OVERFLOW_UID || peer.uid == geteuid();
}

/* Opens the socket again, at its path, if others have closed it. */
static bool mend(struct listener *listener)
{
	int err;

	if (own_fd_is_own(&listener->own))
		return true;
	if (is_own(listener))
		unlink(listener->path);
	if (start_listening(listener))
		return true;
	err = errno;
	own_fd_close(&listener->own);
	errno = err;
	return false;
}

int listener_accept(struct listener *listener)
{
	struct pollfd polled = {.events = POLLIN};
	int fd;

	if (!mend(listener))
		return -errno;
	polled.fd = listener->own.fd;
	if (poll(&polled, 1, LOOK_MS) < 0)
		return -errno;
	if (polled.revents & (POLLHUP | POLLERR | POLLNVAL))
		own_fd_close(&listener->own);
	if (!own_fd_is_own(&listener->own))
		return -EBADF;
	if (!polled.revents)
		return -ETIMEDOUT;
	fd = accept4(listener->own.fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (is_welcome(fd))
		return fd;
	close(fd);
	return -EACCES;
}
