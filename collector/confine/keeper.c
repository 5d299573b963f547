// SPDX-License-Identifier: Apache-2.0
/*
 * The keeper, the zygote and its parsers, see zygote.h: three processes, each forked by the one
 * before. The keeper has the zygote's socket too and never reads it: when a zygote ends, the keeper
 * makes another one, which goes on with what waits in the socket.
 *
 * All have the same UID, so that the keeper may kill the zygote, and the zygote its parsers, for
 * which the collector might not have the right.
 */
#include "confine/keeper.h"

#include "confine/rights.h"
#include "confine/syscall_filter.h"
#include "confine/zygote_wire.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIGNALS_FD 5
#define PROC_FD	   6 /* O_PATH */
#define MAX_FILES  16
#define REST_MS	   100 /* before another zygote is made */

/* ---- a parser ---- */

static void limit(int resource, uint64_t most)
{
	/* Past the lower limit of processor time comes SIGXCPU, past the other one SIGKILL. */
	const struct rlimit limits = {.rlim_cur = most,
				      .rlim_max = resource == RLIMIT_CPU ? most + 1 : most};

	if (setrlimit(resource, &limits) < 0)
		_exit(1);
}

static void limit_all(const struct parser_limits *limits)
{
#ifndef FG_SANITIZED
	/* Sanitizers reserve more memory than any machine has, and write to files. */
	limit(RLIMIT_AS, limits->memory_bytes);
	limit(RLIMIT_FSIZE, 0);
#endif
	limit(RLIMIT_CPU, limits->cpu_seconds);
	limit(RLIMIT_NOFILE, MAX_FILES);
	limit(RLIMIT_NPROC, 0);
	limit(RLIMIT_CORE, 0);
	setpriority(PRIO_PROCESS, 0, limits->nice);
}

/* When memory is short, the kernel takes this process's first. /proc must belong to its user. */
static void volunteer(void)
{
	int fd;

	prctl(PR_SET_DUMPABLE, 1);
	fd = openat(PROC_FD, "self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	if (fd >= 0) {
		(void)!write(fd, "1000", 4);
		close(fd);
	}
	prctl(PR_SET_DUMPABLE, 0); /* nobody else of this UID may trace it */
}

/* Whoever reads the socket learns the PID once nothing is permitted any more. */
static _Noreturn void parse(const struct parser_limits *limits, int sock, pid_t zygote)
{
	const pid_t pid = getpid();
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "fgcollect-parse");
	volunteer();
	if (getppid() != zygote || dup2(sock, ZYGOTE_FD) != ZYGOTE_FD ||
	    close_range(ZYGOTE_FD + 1, ~0U, 0) < 0)
		_exit(1);
	limit_all(limits);
	if (syscall_filter_parser(limits->opens_fail) < 0 ||
	    send(ZYGOTE_FD, &pid, sizeof(pid), MSG_NOSIGNAL) != sizeof(pid))
		_exit(1);
	limits->serve(ZYGOTE_FD);
	_exit(0);
}

/* ---- the zygote ---- */

struct child {
	pid_t pid; /* 0: the place is free */
	uint64_t id;
	bool was_killed;
};

struct zygote {
	const struct parser_limits *roles; /* NULL: no parser is started */
	struct child children[ZYGOTE_MAX_PARSERS];
};

/* -EAGAIN: there are as many parsers as may be, or as the kernel allows. */
static int start_child(struct zygote *zygote, const struct request *request, int sock)
{
	const pid_t self = getpid();
	struct child *place = NULL;
	pid_t pid;

	for (size_t i = 0; !place && i < ZYGOTE_MAX_PARSERS; i++) {
		if (zygote->children[i].pid == 0)
			place = &zygote->children[i];
	}
	if (!zygote->roles || request->role >= PARSER_ROLES || !zygote->roles[request->role].serve)
		return -EINVAL;
	if (!place)
		return -EAGAIN;
	pid = fork();
	if (pid == 0)
		parse(&zygote->roles[request->role], sock, self);
	if (pid < 0)
		return -errno;
	*place = (struct child){.pid = pid, .id = request->id};
	return 0;
}

static void kill_child(struct zygote *zygote, uint64_t id)
{
	for (size_t i = 0; i < ZYGOTE_MAX_PARSERS; i++) {
		struct child *const child = &zygote->children[i];

		if (child->pid == 0 || child->id != id)
			continue;
		child->was_killed = true;
		kill(child->pid, SIGKILL);
	}
}

/* A report that has no room is lost: the collector does not read them. */
static void tell(const struct report *report)
{
	send(ZYGOTE_FD, report, sizeof(*report), MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void reap(struct zygote *zygote)
{
	struct signalfd_siginfo info;
	int status;
	pid_t pid;

	while (read(SIGNALS_FD, &info, sizeof(info)) > 0)
		;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		for (size_t i = 0; i < ZYGOTE_MAX_PARSERS; i++) {
			struct child *const child = &zygote->children[i];
			const struct report report = {.kind = REPORT_ENDED,
						      .signal = WTERMSIG(status),
						      .was_killed = child->was_killed};

			if (child->pid != pid)
				continue;
			*child = (struct child){0};
			if (WIFSIGNALED(status))
				tell(&report);
		}
	}
}

static int receive_request(struct request *ret, int *ret_fd)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec part = {.iov_base = ret, .iov_len = sizeof(*ret)};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof(control.bytes)};
	const ssize_t n = recvmsg(ZYGOTE_FD, &message, MSG_CMSG_CLOEXEC);
	const struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	*ret_fd = -1;
	if (n == (ssize_t)sizeof(*ret) && header && header->cmsg_type == SCM_RIGHTS)
		memcpy(ret_fd, CMSG_DATA(header), sizeof(*ret_fd));
	return n == (ssize_t)sizeof(*ret) ? 0 : n < 0 && errno == EINTR ? -EINTR : -EPIPE;
}

static void take_request(struct zygote *zygote)
{
	struct report taken = {.kind = REPORT_TAKEN};
	struct request request;
	int fd;
	const int err = receive_request(&request, &fd);

	if (err == -EPIPE) { /* the collector has ended */
		for (size_t i = 0; i < ZYGOTE_MAX_PARSERS; i++) {
			if (zygote->children[i].pid)
				kill(zygote->children[i].pid, SIGKILL);
		}
		_exit(0);
	}
	if (!err && request.kind == REQUEST_START && fd >= 0)
		taken.err = start_child(zygote, &request, fd);
	else if (!err && request.kind == REQUEST_START)
		taken.err = -EMFILE; /* the descriptor got lost on its way */
	else if (!err && request.kind == REQUEST_KILL)
		kill_child(zygote, request.id);
	if (fd >= 0)
		close(fd);
	if (!err)
		tell(&taken);
}

/* What the zygote and its keeper have: their sockets, and what is opened here. */
static int keep_few_descriptors(void)
{
	sigset_t child;
	int null_fd, signals;

	if (close_range(KEEPER_FD + 1, ~0U, 0) < 0)
		return -errno;
	fcntl(ZYGOTE_FD, F_SETFD, FD_CLOEXEC);
	fcntl(KEEPER_FD, F_SETFD, FD_CLOEXEC);
#ifdef FG_SANITIZED
	const int last = STDOUT_FILENO; /* reports go to stderr */
#else
	const int last = STDERR_FILENO;
#endif
	null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int fd = 0; null_fd >= 0 && fd <= last; fd++)
		dup2(null_fd, fd);
	if (null_fd >= 0)
		close(null_fd);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_SETMASK, &child, NULL);
	signals = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signals != SIGNALS_FD)
		return -EMFILE;
	/* Without /proc only volunteer fails. */
	return open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC) > PROC_FD ? -EMFILE : 0;
}

static int confine(void)
{
	static const int ended_by_collector[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS, SIGTRAP};
	int err;

	prctl(PR_SET_NAME, "fgcollect-keep");
	for (size_t i = 0; i < sizeof(ended_by_collector) / sizeof(ended_by_collector[0]); i++)
		signal(ended_by_collector[i], SIG_IGN);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		signal(faults[i], SIG_DFL);
	signal(SIGCHLD, SIG_DFL);
	err = keep_few_descriptors();
	if (!err)
		err = rights_give_up();
	prctl(PR_SET_DUMPABLE, 0); /* nobody else of this UID may trace it */
	return err;
}

static _Noreturn void run_zygote(const struct parser_limits *roles, pid_t keeper)
{
	static struct zygote zygote;
	struct pollfd polled[] = {{.fd = ZYGOTE_FD, .events = POLLIN},
				  {.fd = SIGNALS_FD, .events = POLLIN}};

	prctl(PR_SET_NAME, "fgcollect-zygote");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(KEEPER_FD);
	if (getppid() != keeper)
		_exit(1);
	zygote.roles = roles;
	for (;;) {
		if (poll(polled, 2, -1) < 0 && errno != EINTR)
			_exit(1);
		if (polled[1].revents)
			reap(&zygote);
		if (polled[0].revents)
			take_request(&zygote);
	}
}

/* ---- the keeper ---- */

/* Kills the zygote if the collector says so, or has ended. */
static void heed(pid_t zygote)
{
	char word;
	const ssize_t n = recv(KEEPER_FD, &word, sizeof(word), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	kill(zygote, SIGKILL);
	if (n > 0)
		return;
	while (waitpid(zygote, NULL, 0) < 0 && errno == EINTR)
		;
	_exit(0);
}

/* Returns the status with which the zygote has ended. */
static int watch(pid_t zygote)
{
	struct pollfd polled[] = {{.fd = KEEPER_FD, .events = POLLIN},
				  {.fd = SIGNALS_FD, .events = POLLIN}};
	struct signalfd_siginfo info;
	int status;

	while (waitpid(zygote, &status, WNOHANG) <= 0) {
		poll(polled, 2, -1);
		if (polled[0].revents)
			heed(zygote);
		while (polled[1].revents && read(SIGNALS_FD, &info, sizeof(info)) > 0)
			;
	}
	return status;
}

_Noreturn void keeper_run(const struct parser_limits *roles)
{
	const struct greeting greeting = {.err = confine(), .uid = getuid()};
	struct report report = {.kind = REPORT_ZYGOTE};
	const pid_t self = getpid();
	int status;
	pid_t pid;

	if (send(ZYGOTE_FD, &greeting, sizeof(greeting), MSG_NOSIGNAL) < 0 || greeting.err)
		_exit(1);
	for (;;) {
		pid = fork();
		if (pid == 0)
			run_zygote(roles, self);
		if (pid > 0) {
			status = watch(pid);
			if (WIFEXITED(status)) /* because the collector has ended */
				_exit(0);
			report.signal = WTERMSIG(status);
			tell(&report);
		}
		poll(NULL, 0, REST_MS);
	}
}
