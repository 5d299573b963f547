// SPDX-License-Identifier: Apache-2.0
/*
 * The collector's side and the other side of one socket, see reach.h. A message is a struct request
 * with the descriptors of the socket for the answer and, if there are such, of the target's and of
 * the call. An answer is a number, with a descriptor if the role gives one to the caller.
 */
#include "base/reach.h"

#include "base/cleanup.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SOCKET_FD    3	 /* of the process that forks */
#define LOOK_MS	     100 /* between two looks whether calls are to end */
#define STOP_STEP_NS 1000000
#define STOP_STEPS   500 /* then the process is left to itself */
#define MAX_FDS	     3	 /* for the answer, for the target, of the call */

struct request {
	const struct reach_role *role;
	bool has_target;
	size_t target_len;
	char for_target[REACH_MAX_SENT];
	size_t len;
	char bytes[REACH_MAX_BYTES];
};

union control {
	struct cmsghdr header; /* for its alignment */
	char bytes[CMSG_SPACE(MAX_FDS * sizeof(int))];
};

static atomic_int sock = -1; /* stays open when the process has ended: calls may be under way */
static pid_t process;	     /* 0: there is none */
static atomic_bool is_stopping;
static atomic_uint rounds;

/* ---- messages ---- */

static int send_with(int to, const void *data, size_t len, const int *fds, size_t n_fds)
{
	struct iovec iov = {.iov_base = (void *)(uintptr_t)data, .iov_len = len};
	union control control = {0};
	struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1};

	if (n_fds > 0) {
		message.msg_control = control.bytes;
		message.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(n_fds * sizeof(int));
		memcpy(CMSG_DATA(&control.header), fds, n_fds * sizeof(int));
	}
	return sendmsg(to, &message, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* fds: MAX_FDS of them; those that do not come are -1. */
static ssize_t receive_with(int from, void *data, size_t size, int *fds)
{
	struct iovec iov = {.iov_base = data, .iov_len = size};
	union control control = {0};
	struct msghdr message = {.msg_iov = &iov,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof(control.bytes)};
	const ssize_t len = recvmsg(from, &message, MSG_CMSG_CLOEXEC);
	const struct cmsghdr *const header = CMSG_FIRSTHDR(&message);

	for (size_t i = 0; i < MAX_FDS; i++)
		fds[i] = -1;
	if (len >= 0 && header && header->cmsg_type == SCM_RIGHTS)
		memcpy(fds, CMSG_DATA(header), header->cmsg_len - CMSG_LEN(0));
	return len;
}

/* ---- the other side ---- */

/* What the call gives goes to the target, with what is sent along. */
static int hand(const struct request *request, int target, int given)
{
	const int err =
		given < 0 ? given
			  : send_with(target, request->for_target, request->target_len, &given, 1);

	return err < 0 ? err : 0;
}

static _Noreturn void make_call(const struct request *request, const int fds[MAX_FDS])
{
	const struct reach_role *const role = request->role;
	int result;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "fgcollect-call");
	close(SOCKET_FD);
	result = role->run(request->bytes, request->len, fds[request->has_target ? 2 : 1]);
	if (request->has_target)
		result = hand(request, fds[1], result);
	send_with(fds[0], &result, sizeof(result), &result,
		  role->gives_fd && !request->has_target && result >= 0);
	_exit(0);
}

static _Noreturn void serve(void)
{
	static struct request request;
	int fds[MAX_FDS];

	for (;;) {
		const ssize_t len = receive_with(SOCKET_FD, &request, sizeof(request), fds);
		pid_t pid = -1;

		if (len == 0 || (len < 0 && errno != EINTR))
			_exit(0); /* the collector has ended */
		if (len > 0)
			pid = fork();
		if (pid == 0)
			make_call(&request, fds);
		for (size_t i = 0; i < MAX_FDS; i++) {
			if (fds[i] >= 0)
				close(fds[i]); /* without a fork, the caller reads the end */
		}
	}
}

static _Noreturn void run_process(int own, pid_t collector)
{
	static const int ended_by_collector[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

	for (size_t i = 0; i < sizeof(ended_by_collector) / sizeof(ended_by_collector[0]); i++)
		signal(ended_by_collector[i], SIG_IGN);
	signal(SIGCHLD, SIG_IGN); /* nobody waits for those that make calls */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "fgcollect-reach");
	atomic_store(&sock, -1); /* what a call calls is made at once */
	if (getppid() != collector || dup2(own, SOCKET_FD) != SOCKET_FD ||
	    close_range(SOCKET_FD + 1, ~0U, 0) < 0)
		_exit(1);
	serve();
}

int reach_start(void)
{
	const pid_t self = getpid();
	int socks[2];
	pid_t pid;

	if (process > 0)
		return 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks) < 0)
		return -errno;
	pid = fork();
	if (pid == 0)
		run_process(socks[1], self);
	close(socks[1]);
	if (pid < 0) {
		const int err = -errno;

		close(socks[0]);
		return err;
	}
	if (atomic_load(&sock) >= 0)
		close(atomic_load(&sock));
	atomic_store(&sock, socks[0]);
	process = pid;
	atomic_fetch_add(&rounds, 1);
	atomic_store(&is_stopping, false);
	return 0;
}

/*
 * The process may be within fork(2), which ends by no signal: a probe that is being opened keeps
 * all processes of the host from forking (kernel/events/uprobes.c, dup_mmap_sem). The process ends
 * by itself then.
 */
static void wait_for_process(void)
{
	const struct timespec step = {.tv_nsec = STOP_STEP_NS};

	for (unsigned i = 0; i < STOP_STEPS; i++) {
		const pid_t pid = waitpid(process, NULL, WNOHANG);

		if (pid == process || (pid < 0 && errno != EINTR))
			return;
		nanosleep(&step, NULL);
	}
	kill(process, SIGKILL);
}

void reach_stop(void)
{
	if (process <= 0)
		return;
	atomic_store(&is_stopping, true);
	shutdown(atomic_load(&sock), SHUT_RDWR);
	wait_for_process();
	process = 0;
}

/* ---- the collector's side ---- */

static int take_answer(int from, bool gives_fd)
{
	struct pollfd polled = {.fd = from, .events = POLLIN};
	int fds[MAX_FDS], result = 0;

	while (poll(&polled, 1, LOOK_MS) <= 0) {
		if (atomic_load(&is_stopping))
			return -ECHILD;
	}
	if (receive_with(from, &result, sizeof(result), fds) != (ssize_t)sizeof(result))
		return -ECHILD;
	if (!gives_fd || result < 0)
		return result;
	return fds[0] >= 0 ? fds[0] : -EMFILE;
}

/* fds: of the target and of the call, n of them. Returns the end for the answer. */
static int ask(struct request *message, const void *request, const int *fds, size_t n)
{
	int socks[2], sent[MAX_FDS], err;

	if (message->len > 0)
		memcpy(message->bytes, request, message->len);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks) < 0)
		return -errno;
	sent[0] = socks[1];
	memcpy(sent + 1, fds, n * sizeof(*fds));
	err = send_with(atomic_load(&sock), message, offsetof(struct request, bytes) + message->len,
			sent, n + 1);
	close(socks[1]);
	if (!err)
		return socks[0];
	close(socks[0]);
	return -ECHILD;
}

int reach_call(const struct reach_role *role, const void *request, size_t len, int fd)
{
	struct request message = {.role = role, .len = len};
	_cleanup_close_ int ours = -1;

	if (atomic_load(&sock) < 0)
		return role->run(request, len, fd);
	if (len > sizeof(message.bytes))
		return -ENAMETOOLONG;
	ours = ask(&message, request, &fd, fd >= 0);
	return ours < 0 ? ours : take_answer(ours, role->gives_fd);
}

static int hand_here(const struct reach_role *role, const struct request *message, int fd,
		     const struct reach_target *target)
{
	_cleanup_close_ const int given = role->run(message->bytes, message->len, fd);

	return hand(message, target->sock, given);
}

int reach_hand(const struct reach_role *role, const void *request, size_t len, int fd,
	       const struct reach_target *target)
{
	struct request message = {
		.role = role, .has_target = true, .target_len = target->len, .len = len};
	const int fds[] = {target->sock, fd};
	_cleanup_close_ int ours = -1;

	if (len > sizeof(message.bytes) || target->len > sizeof(message.for_target))
		return -ENAMETOOLONG;
	memcpy(message.for_target, target->bytes, target->len);
	if (atomic_load(&sock) < 0) {
		if (len > 0)
			memcpy(message.bytes, request, len);
		return hand_here(role, &message, fd, target);
	}
	ours = ask(&message, request, fds, fd >= 0 ? 2 : 1);
	return ours < 0 ? ours : take_answer(ours, false);
}

int reach_leave(const struct reach_role *role, int fd)
{
	struct request message = {.role = role};
	const int ours = ask(&message, NULL, &fd, fd >= 0);

	if (ours < 0)
		return ours;
	close(ours);
	return 0;
}

bool reach_is_begun(void)
{
	return atomic_load(&sock) >= 0;
}

bool reach_is_used(void)
{
	return reach_is_begun() && !atomic_load(&is_stopping);
}

unsigned reach_round(void)
{
	return atomic_load(&rounds);
}

/* ---- both sides ---- */

int reach_send(int to, const void *bytes, size_t len, int fd)
{
	return send_with(to, bytes, len, &fd, fd >= 0);
}

ssize_t reach_receive(int from, void *bytes, size_t size, int *ret_fd)
{
	int fds[MAX_FDS];
	const ssize_t len = receive_with(from, bytes, size, fds);

	*ret_fd = fds[0];
	return len;
}
