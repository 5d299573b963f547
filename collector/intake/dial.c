// SPDX-License-Identifier: Apache-2.0
/*
 * Dials a listening agent through its process's root directory, see dial.h.
 *
 * The path is resolved once, into a descriptor of the inode, and the connection is made through
 * /proc/self/fd. So a file that is put at the path afterwards does not matter, nor does the length
 * of the path.
 */
#include "intake/dial.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/guarded.h"
#include "base/process_stat.h"
#include "base/reach.h"
#include "base/root_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>

#define TRY_NS	    (50 * CLOCK_NS_PER_MS) /* that dial_try waits */
#define TRY_STEP_NS (1 * CLOCK_NS_PER_MS)

static const struct outcome {
	int err;
	const char *reason, *remedy;
} outcomes[] = {
	{-ESRCH, "its process is gone", "start the JVM again"},
	{-ENOENT, "no socket is there, or its file system would have to be waited for",
	 "start the JVM again, with a path in a tmpfs or on a local disk"},
	{-ENOTDIR, "its directory is none", "start the JVM again, with a path in a directory"},
	{-ELOOP, "a symbolic link is in its place or on the way there, and none is followed",
	 "remove it, and start the JVM again"},
	{-EXDEV, "the way there leads out of the container", "start the JVM again"},
	{-ENOTSOCK, "something that is no socket is in its place",
	 "remove it, and start the JVM again"},
	{-ECONNREFUSED, "nobody listens to the socket that is there", "start the JVM again"},
	{-EAGAIN, "it serves another collector", "end that one"},
	{-ESTALE, "another process listens there",
	 "give each JVM a path of its own, with %p in it"},
	{-EACCES, "permission denied", "run as root, with CAP_SYS_PTRACE and CAP_DAC_OVERRIDE"},
	{-EPERM, "permission denied", "run as root, with CAP_SYS_PTRACE and CAP_DAC_OVERRIDE"},
	{-EUSERS, "its process or its container has as many connections as one may have",
	 "see what makes them"},
	{-ETIMEDOUT, "its process, or the file system of its socket, does not answer",
	 "give it a path on a file system of its container, or see what the process waits for"},
	{-EPROTO, "it hung up, or did not greet within 10 s",
	 "see whether it serves another collector"},
};

static const struct outcome *outcome_of(int err)
{
	for (size_t i = 0; i < sizeof(outcomes) / sizeof(*outcomes); i++) {
		if (outcomes[i].err == err)
			return &outcomes[i];
	}
	return NULL;
}

const char *dial_reason(int err)
{
	const struct outcome *outcome = outcome_of(err);

	return outcome ? outcome->reason : strerror(-err);
}

const char *dial_remedy(int err)
{
	const struct outcome *outcome = outcome_of(err);

	return outcome ? outcome->remedy : "look at the JVM's stderr for a line of fgagent";
}

/*
 * Opens the socket's file without looking anything up on a disk or elsewhere. As long as the socket
 * is bound, the kernel holds its file and all directories on the way. A path that the kernel does
 * not hold has no socket.
 */
static int find_socket(int root_fd, const char *path)
{
	const uint64_t resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS;
	int fd = root_file_open_at(root_fd, path, O_PATH, resolve | RESOLVE_CACHED);

	if (fd == -EINVAL) /* RESOLVE_CACHED is missing before Linux 5.12 */
		fd = root_file_open_at(root_fd, path, O_PATH, resolve);
	return fd == -EAGAIN ? -ENOENT : fd;
}

/* Checks that the file is a socket, without asking the file system. */
static int check_kind(int path_fd)
{
	struct statx stx;

	if (statx(path_fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &stx) < 0)
		return -errno;
	return S_ISSOCK(stx.stx_mode) ? 0 : -ENOTSOCK;
}

/* Connects. A Unix socket's connection is made at once or not at all. */
static int connect_to(int path_fd)
{
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int ret;

	if (fd < 0)
		return -errno;
	snprintf(addr.sun_path, sizeof(addr.sun_path), "/proc/self/fd/%d", path_fd);
	if (connect(fd, (const struct sockaddr *)&addr, sizeof(addr)) < 0)
		return errno == EPROTOTYPE ? -ENOTSOCK : -errno;
	ret = fd;
	fd = -1;
	return ret;
}

/* Checks the peer. The peer of a connection made here is the process that called listen(2). */
static int check_peer(int fd, pid_t pid)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
		return -errno;
	return peer.pid == pid ? 0 : -ESTALE;
}

/* The link "root" is empty once the process is gone. */
static int open_root(int proc_fd)
{
	const int fd = openat(proc_fd, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	return fd;
}

int dial_process(int proc_fd, pid_t pid, const char *path)
{
	_cleanup_close_ int root_fd = open_root(proc_fd);
	_cleanup_close_ int path_fd = root_fd < 0 ? root_fd : find_socket(root_fd, path);
	_cleanup_close_ int fd = -1;
	uint64_t ticks;
	int err = path_fd < 0 ? path_fd : check_kind(path_fd), ret;

	if (err)
		return err;
	fd = connect_to(path_fd);
	if (fd < 0)
		return fd;
	err = check_peer(fd, pid);
	/* The process still lives, so the PID was this process's all the time. */
	if (!err)
		err = process_stat_read_ticks_at(proc_fd, &ticks);
	if (err)
		return err;
	ret = fd;
	fd = -1;
	return ret;
}

/* ---- on the loop ---- */

/* What is asked of the process that makes calls, see base/reach.h. */
struct request {
	pid_t pid;
	char path[ANNOUNCEMENT_PATH_BYTES];
};

static int run_dial(const void *bytes, size_t len, int proc_fd)
{
	const struct request *const request = bytes;

	(void)len;
	return dial_process(proc_fd, request->pid, request->path);
}

static const struct reach_role dial_role = {run_dial, true};

/* The guard and the caller each hold it once, and the last one frees it. */
struct dialling {
	struct guarded_call base;
	struct request request;
	int proc_fd;
	int result; /* of the guard's, until is_over */
	atomic_bool is_over;
	atomic_uint holders;
};

static void drop(struct dialling *dialling)
{
	if (atomic_fetch_sub(&dialling->holders, 1) > 1)
		return;
	if (dialling->result >= 0)
		close(dialling->result);
	free(dialling);
}

static void run_dialling(struct guarded_call *base)
{
	struct dialling *const dialling = (struct dialling *)base;

	dialling->result = reach_call(&dial_role, &dialling->request, sizeof(dialling->request),
				      dialling->proc_fd);
}

static void free_dialling(struct guarded_call *base)
{
	struct dialling *const dialling = (struct dialling *)base;

	close(dialling->proc_fd);
	atomic_store(&dialling->is_over, true);
	drop(dialling);
}

int dial_begin(int proc_fd, pid_t pid, const char *path, struct dialling **ret)
{
	struct dialling *dialling = calloc(1, sizeof(*dialling));
	int err;

	if (!dialling)
		return -ENOMEM;
	dialling->proc_fd = fcntl(proc_fd, F_DUPFD_CLOEXEC, 0);
	if (dialling->proc_fd < 0) {
		err = -errno;
		free(dialling);
		return err;
	}
	dialling->base =
		(struct guarded_call){.run = run_dialling, .free = free_dialling, .opens = true};
	dialling->request.pid = pid;
	snprintf(dialling->request.path, sizeof(dialling->request.path), "%s", path);
	dialling->result = -ETIMEDOUT; /* it may not run, see guarded_leave */
	atomic_init(&dialling->holders, 2);
	guarded_leave(pid, &dialling->base);
	*ret = dialling;
	return 0;
}

bool dial_take(struct dialling **dialling, int *ret)
{
	if (!atomic_load(&(*dialling)->is_over))
		return false;
	*ret = (*dialling)->result;
	(*dialling)->result = -1;
	drop(*dialling);
	*dialling = NULL;
	return true;
}

void dial_forget(struct dialling *dialling)
{
	if (dialling)
		drop(dialling);
}

static int wait_a_little(struct dialling *dialling)
{
	const struct timespec step = {.tv_nsec = TRY_STEP_NS};
	const uint64_t until_ns = clock_now_ns() + TRY_NS;
	int fd;

	while (!dial_take(&dialling, &fd)) {
		if (clock_now_ns() >= until_ns) {
			dial_forget(dialling);
			return -ETIMEDOUT;
		}
		nanosleep(&step, NULL);
	}
	return fd;
}

int dial_try(pid_t pid, char ret_path[ANNOUNCEMENT_PATH_BYTES])
{
	_cleanup_close_ int proc_fd = -1, fd = -1;
	struct dialling *dialling;
	char dir[32];

	snprintf(dir, sizeof(dir), "/proc/%d", (int)pid);
	proc_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (proc_fd < 0 || announcement_read(proc_fd, pid, ret_path) < 0)
		return -ENODATA;
	fd = dial_begin(proc_fd, pid, ret_path, &dialling);
	if (fd == 0)
		fd = wait_a_little(dialling);
	return fd < 0 ? fd : 0;
}
