// SPDX-License-Identifier: Apache-2.0
/*
 * The collector's side and the zygote's side of one socket, see zygote.h. Between the two stands a
 * keeper, which has the socket too and never reads it: when the zygote ends, the keeper makes
 * another one, which goes on with what waits in the socket. The collector sends
 * requests; with a request to start a parser goes the parser's end of a socket. The zygote sends a
 * greeting, and a report of each parser that has ended by a signal.
 *
 * The zygote and its parsers have the same UID, so that the zygote may kill parsers, for which the
 * collector might not have the right.
 */
#include "confine/zygote.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/log_limit.h"
#include "confine/fd_message.h"
#include "confine/rights.h"
#include "confine/syscall_filter.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define SOCKET_FD	 3 /* of the zygote to the collector, and of a parser */
#define SIGNALS_FD	 4
#define PROC_FD		 5 /* the zygote's, O_PATH */
#define MAX_FILES	 16
#define MAX_FILE_BYTES	 (256u << 20) /* of a file in memory */
#define STOP_PATIENCE_MS 200
#define REST_MS		 100 /* before another zygote is made */

enum request_kind { REQUEST_START, REQUEST_KILL };

struct request {
	enum request_kind kind;
	enum parser_role role;
	uint64_t id;
};

struct greeting {
	int err;
	uint32_t uid;
};

struct report {
	int signal;
	bool was_killed; /* on request */
	bool is_zygote;	 /* the zygote itself has ended, and there is another one */
};

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
	/* Sanitizers reserve more memory than any machine has. */
	limit(RLIMIT_AS, limits->memory_bytes);
#endif
	limit(RLIMIT_CPU, limits->cpu_seconds);
	limit(RLIMIT_FSIZE, MAX_FILE_BYTES);
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
	if (getppid() != zygote || dup2(sock, SOCKET_FD) != SOCKET_FD ||
	    close_range(SOCKET_FD + 1, ~0U, 0) < 0)
		_exit(1);
	limit_all(limits);
	if (syscall_filter_parser(limits->opens_fail) < 0 ||
	    send(SOCKET_FD, &pid, sizeof(pid), MSG_NOSIGNAL) != sizeof(pid))
		_exit(1);
	limits->serve(SOCKET_FD);
	_exit(0);
}

/* ---- the zygote ---- */

struct child {
	pid_t pid; /* 0: the place is free */
	uint64_t id;
	bool was_killed;
};

struct zygote {
	const struct parser_limits *roles;
	struct child children[ZYGOTE_MAX_PARSERS];
};

static void start_child(struct zygote *zygote, const struct request *request, int sock)
{
	const pid_t self = getpid();
	struct child *place = NULL;
	pid_t pid;

	for (size_t i = 0; !place && i < ZYGOTE_MAX_PARSERS; i++) {
		if (zygote->children[i].pid == 0)
			place = &zygote->children[i];
	}
	if (!place || request->role >= PARSER_ROLES || !zygote->roles[request->role].serve)
		return;
	pid = fork();
	if (pid == 0)
		parse(&zygote->roles[request->role], sock, self);
	if (pid > 0)
		*place = (struct child){.pid = pid, .id = request->id};
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
			const struct report report = {.signal = WTERMSIG(status),
						      .was_killed = child->was_killed};

			if (child->pid != pid)
				continue;
			*child = (struct child){0};
			/* A report that has no room is lost: the collector does not read them. */
			if (WIFSIGNALED(status))
				send(SOCKET_FD, &report, sizeof(report),
				     MSG_NOSIGNAL | MSG_DONTWAIT);
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
	const ssize_t n = recvmsg(SOCKET_FD, &message, MSG_CMSG_CLOEXEC);
	const struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	*ret_fd = -1;
	if (n == (ssize_t)sizeof(*ret) && header && header->cmsg_type == SCM_RIGHTS)
		memcpy(ret_fd, CMSG_DATA(header), sizeof(*ret_fd));
	return n == (ssize_t)sizeof(*ret) ? 0 : n < 0 && errno == EINTR ? -EINTR : -EPIPE;
}

static void take_request(struct zygote *zygote)
{
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
		start_child(zygote, &request, fd);
	else if (!err && request.kind == REQUEST_KILL)
		kill_child(zygote, request.id);
	if (fd >= 0)
		close(fd);
}

static int keep_few_descriptors(int sock)
{
	sigset_t child;
	int null_fd, signals;

	if (dup2(sock, SOCKET_FD) != SOCKET_FD || close_range(SOCKET_FD + 1, ~0U, 0) < 0)
		return -errno;
	fcntl(SOCKET_FD, F_SETFD, FD_CLOEXEC);
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

static int confine_zygote(int sock)
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
	err = keep_few_descriptors(sock);
	if (!err)
		err = rights_give_up();
	prctl(PR_SET_DUMPABLE, 0); /* nobody else of this UID may trace it */
	return err;
}

static _Noreturn void run_zygote(const struct parser_limits *roles, pid_t keeper)
{
	static struct zygote zygote;
	struct pollfd polled[] = {{.fd = SOCKET_FD, .events = POLLIN},
				  {.fd = SIGNALS_FD, .events = POLLIN}};

	prctl(PR_SET_NAME, "fgcollect-zygote");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
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

/* Makes a zygote, and another one when that has not ended because the collector has. */
static _Noreturn void run_keeper(const struct parser_limits *roles, int sock)
{
	const struct greeting greeting = {.err = confine_zygote(sock), .uid = getuid()};
	struct report report = {.is_zygote = true};
	const pid_t self = getpid();
	int status;
	pid_t pid;

	if (send(SOCKET_FD, &greeting, sizeof(greeting), MSG_NOSIGNAL) < 0 || greeting.err)
		_exit(1);
	for (;;) {
		pid = fork();
		if (pid == 0)
			run_zygote(roles, self);
		if (pid > 0) {
			while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
				;
			if (WIFEXITED(status))
				_exit(0);
			report.signal = WTERMSIG(status);
			send(SOCKET_FD, &report, sizeof(report), MSG_NOSIGNAL | MSG_DONTWAIT);
		}
		poll(NULL, 0, REST_MS);
	}
}

/* ---- the collector ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct zygote_stats stats;
static struct log_limit died;
static int zygote_sock = -1;
static pid_t zygote_pid;
static const struct parser_limits *zygote_roles;

static int greet(int sock)
{
	struct greeting greeting;

	if (recv(sock, &greeting, sizeof(greeting), 0) != (ssize_t)sizeof(greeting))
		return -ECHILD;
	stats = (struct zygote_stats){.is_running = !greeting.err, .uid = greeting.uid};
	return greeting.err;
}

int zygote_start(const struct parser_limits *roles)
{
	int sockets[2], err;

	if (zygote_sock >= 0)
		return 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0)
		return -errno;
	zygote_pid = fork();
	if (zygote_pid == 0)
		run_keeper(roles, sockets[1]);
	err = zygote_pid < 0 ? -errno : 0;
	close(sockets[1]);
	if (!err)
		err = greet(sockets[0]);
	if (err) {
		close(sockets[0]);
		return err;
	}
	zygote_sock = sockets[0];
	zygote_roles = roles;
	return 0;
}

void zygote_stop(void)
{
	pthread_mutex_lock(&lock);
	if (zygote_sock >= 0) {
		close(zygote_sock);
		for (int i = 0; i < STOP_PATIENCE_MS && waitpid(zygote_pid, NULL, WNOHANG) == 0;
		     i++)
			usleep(1000);
	}
	zygote_sock = -1;
	stats.is_running = false;
	pthread_mutex_unlock(&lock);
}

bool zygote_is_used(void)
{
	bool is_used;

	pthread_mutex_lock(&lock);
	is_used = zygote_sock >= 0;
	pthread_mutex_unlock(&lock);
	return is_used;
}

/* Called with the lock held. */
static void lose_zygote(void)
{
	if (stats.is_running)
		log_error("the process that starts parsers has ended: files met from now on have "
			  "no names; start fgcollect again");
	stats.is_running = false;
}

/* Called with the lock held. */
static int send_request(const struct request *request, int fd)
{
	union fd_message control = {0};
	struct iovec part = {.iov_base = (void *)request, .iov_len = sizeof(*request)};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

	if (!stats.is_running)
		return -ESRCH;
	if (fd >= 0)
		fd_message_put(&message, &control, fd);
	if (sendmsg(zygote_sock, &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
		return 0;
	if (errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM || errno == ETOOMANYREFS)
		return -EAGAIN;
	lose_zygote();
	return -ESRCH;
}

bool zygote_has_spares(enum parser_role role)
{
	return zygote_is_used() && zygote_roles[role].has_spares;
}

int zygote_start_parser(enum parser_role role, uint64_t id, int sock)
{
	const struct request request = {.kind = REQUEST_START, .role = role, .id = id};
	int err;

	pthread_mutex_lock(&lock);
	err = send_request(&request, sock);
	stats.started += !err;
	stats.not_started += err != 0;
	pthread_mutex_unlock(&lock);
	return err;
}

void zygote_kill_parser(uint64_t id, bool is_late)
{
	const struct request request = {.kind = REQUEST_KILL, .id = id};

	pthread_mutex_lock(&lock);
	send_request(&request, -1);
	stats.killed += is_late;
	pthread_mutex_unlock(&lock);
}

/* Called with the lock held. */
static void count(const struct report *report)
{
	if (report->is_zygote) {
		stats.restarted++;
		log_warning("the process that starts parsers was ended by signal %d (%s): there is "
			    "another one now",
			    report->signal, strsignal(report->signal));
		return;
	}
	if (report->was_killed && report->signal == SIGKILL)
		return;
	if (report->signal == SIGXCPU) {
		stats.killed++;
		return;
	}
	stats.died++;
	stats.forbidden += report->signal == SIGSYS;
	if (log_limit_allows(&died, clock_now_ns()))
		log_warning("a parser has ended by signal %d (%s): its file stays without names",
			    report->signal, strsignal(report->signal));
}

void zygote_tend(void)
{
	struct report report;
	ssize_t n;

	pthread_mutex_lock(&lock);
	while (stats.is_running &&
	       (n = recv(zygote_sock, &report, sizeof(report), MSG_DONTWAIT)) != 0) {
		if (n != (ssize_t)sizeof(report))
			break;
		count(&report);
	}
	if (stats.is_running && n == 0)
		lose_zygote();
	pthread_mutex_unlock(&lock);
}

void zygote_stats(struct zygote_stats *ret)
{
	pthread_mutex_lock(&lock);
	*ret = stats;
	pthread_mutex_unlock(&lock);
}
