// SPDX-License-Identifier: Apache-2.0
/*
 * The collector's side of the zygote's socket and of its keeper's, see zygote.h. The keeper is not
 * only forked: it starts its own program again, so that neither it nor what it forks has anything
 * of the collector's: no memory, environment or arguments, no layout of addresses, no stack canary.
 */
#include "confine/zygote.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/log_limit.h"
#include "base/thread.h"
#include "confine/fd_message.h"
#include "confine/keeper.h"
#include "confine/zygote_wire.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define STOP_PATIENCE_MS 200
#define OUT_OF_THE_WAY	 10			 /* a descriptor past those of the keeper */
#define STALL_NS	 (500 * CLOCK_NS_PER_MS) /* longer, and the collector stood still */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct zygote_stats stats;
static struct log_limit died, refused;
static int zygote_sock = -1, keeper_sock = -1;
static pid_t keeper_pid;
static const struct parser_limits *program_roles; /* of zygote_become */
static const struct parser_limits *zygote_roles;
static struct {
	uint64_t seen_ns;   /* when the collector last looked */
	uint64_t waited_ns; /* while requests waited and nothing was heard */
	bool had_requests;  /* that waited when the collector last looked */
	bool is_reported;   /* to the keeper */
} silence;

/* ---- the keeper's start ---- */

void zygote_become(int argc, char **argv, const struct parser_limits *roles)
{
	socklen_t len = sizeof(int);
	int type = 0;

	program_roles = roles;
	if (argc == 2 && strcmp(argv[0], KEEPER_NAME) == 0 &&
	    getsockopt(ZYGOTE_FD, SOL_SOCKET, SO_TYPE, &type, &len) == 0 && type == SOCK_SEQPACKET)
		keeper_run(strcmp(argv[1], KEEPER_HAS_ROLES) == 0 ? roles : NULL);
}

/* What the loader needs to find this program's libraries again. A sanitizer has options. */
static void choose_environment(const char **ret)
{
	static const char *const names[] = {
		"LD_LIBRARY_PATH",
#ifdef FG_SANITIZED
		"ASAN_OPTIONS",	   "UBSAN_OPTIONS", "TSAN_OPTIONS", "LSAN_OPTIONS",
#endif
	};

	for (char **at = environ; *at; at++) {
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			const size_t len = strlen(names[i]);

			if (strncmp(*at, names[i], len) == 0 && (*at)[len] == '=')
				*ret++ = *at;
		}
	}
	*ret = NULL;
}

/* The sockets have numbers from OUT_OF_THE_WAY on. */
static _Noreturn void start_keeper(int sock, int keeper)
{
	const char *arguments[] = {KEEPER_NAME, zygote_roles ? KEEPER_HAS_ROLES : KEEPER_HAS_NONE,
				   NULL};
	const char *environment[8];
	struct greeting greeting;

	choose_environment(environment);
	if (dup2(sock, ZYGOTE_FD) == ZYGOTE_FD && dup2(keeper, KEEPER_FD) == KEEPER_FD)
		execve("/proc/self/exe", (char **)arguments, (char **)environment);
	greeting = (struct greeting){.err = -errno};
	(void)!send(sock, &greeting, sizeof(greeting), MSG_NOSIGNAL);
	_exit(1);
}

static int greet(int sock)
{
	struct greeting greeting;

	if (recv(sock, &greeting, sizeof(greeting), 0) != (ssize_t)sizeof(greeting))
		return -ECHILD;
	stats = (struct zygote_stats){.is_running = !greeting.err, .uid = greeting.uid};
	return greeting.err;
}

/* A pair of sockets, of which the second one has a number from OUT_OF_THE_WAY on. */
static int make_pair(int ret[2])
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	ret[0] = pair[0];
	ret[1] = fcntl(pair[1], F_DUPFD_CLOEXEC, OUT_OF_THE_WAY);
	close(pair[1]);
	if (ret[1] >= 0)
		return 0;
	close(pair[0]);
	return -EMFILE;
}

static int start_zygote(const struct parser_limits *roles)
{
	int zygote[2], keeper[2], err;

	if (zygote_sock >= 0)
		return 0;
	if (!program_roles)
		return -EINVAL;
	err = make_pair(zygote);
	if (err)
		return err;
	err = make_pair(keeper);
	if (err) {
		close(zygote[0]);
		close(zygote[1]);
		return err;
	}
	zygote_roles = roles;
	keeper_pid = fork();
	if (keeper_pid == 0)
		start_keeper(zygote[1], keeper[1]);
	err = keeper_pid < 0 ? -errno : 0;
	close(zygote[1]);
	close(keeper[1]);
	if (!err)
		err = greet(zygote[0]);
	if (err) {
		close(zygote[0]);
		close(keeper[0]);
		return err;
	}
	zygote_sock = zygote[0];
	keeper_sock = keeper[0];
	memset(&silence, 0, sizeof(silence));
	return 0;
}

int zygote_start(void)
{
	return start_zygote(program_roles);
}

int zygote_start_without_parsers(void)
{
	return start_zygote(NULL);
}

void zygote_stop(void)
{
	THREAD_HOLD(&lock);

	if (zygote_sock >= 0) {
		close(zygote_sock);
		close(keeper_sock);
		for (int i = 0; i < STOP_PATIENCE_MS && waitpid(keeper_pid, NULL, WNOHANG) == 0;
		     i++)
			usleep(1000);
	}
	zygote_sock = keeper_sock = -1;
	stats.is_running = false;
}

bool zygote_is_used(void)
{
	THREAD_HOLD(&lock);

	return zygote_sock >= 0;
}

bool zygote_is_running(void)
{
	THREAD_HOLD(&lock);

	return stats.is_running;
}

/* Called with the lock held. */
static void lose_zygote(const char *how)
{
	if (stats.is_running)
		log_error("the process that starts parsers %s: files met from now on have no "
			  "names; start fgcollect again",
			  how);
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
	lose_zygote("has ended");
	return -ESRCH;
}

bool zygote_has_spares(enum parser_role role)
{
	return zygote_is_used() && zygote_roles && zygote_roles[role].has_spares;
}

int zygote_start_parser(enum parser_role role, uint64_t id, int sock)
{
	const struct request request = {.kind = REQUEST_START, .role = role, .id = id};
	int err;

	THREAD_HOLD(&lock);
	err = send_request(&request, sock);
	stats.started += !err;
	stats.not_started += err != 0;
	return err;
}

void zygote_kill_parser(uint64_t id, bool is_late)
{
	const struct request request = {.kind = REQUEST_KILL, .id = id};

	THREAD_HOLD(&lock);
	send_request(&request, -1);
	stats.killed += is_late;
}

static void count_zygote(const struct report *report)
{
	stats.restarted++;
	if (silence.is_reported)
		log_warning("the process that starts parsers did not answer for %d s: there is "
			    "another one now",
			    (int)(ZYGOTE_PATIENCE_NS / CLOCK_NS_PER_SEC));
	else
		log_warning("the process that starts parsers was ended by signal %d (%s): there is "
			    "another one now",
			    report->signal, strsignal(report->signal));
}

static void count_refused(int err)
{
	stats.not_started++;
	if (log_limit_allows(&refused, 0, clock_now_ns()))
		log_warning("a parser could not be started: %s: its file stays without names",
			    strerror(-err));
}

/* Called with the lock held. */
static void count(const struct report *report)
{
	if (report->kind == REPORT_ZYGOTE)
		count_zygote(report);
	if (report->kind == REPORT_TAKEN && report->err)
		count_refused(report->err);
	if (report->kind != REPORT_ENDED || (report->was_killed && report->signal == SIGKILL))
		return;
	if (report->signal == SIGXCPU) {
		stats.killed++;
		return;
	}
	stats.died++;
	stats.forbidden += report->signal == SIGSYS;
	if (log_limit_allows(&died, 0, clock_now_ns()))
		log_warning("a parser has ended by signal %d (%s): its file stays without names",
			    report->signal, strsignal(report->signal));
}

/* Called with the lock held. Whether the zygote has said anything. */
static bool take_reports(void)
{
	struct report report;
	bool is_heard = false;
	ssize_t n;

	while ((n = recv(zygote_sock, &report, sizeof(report), MSG_DONTWAIT)) ==
	       (ssize_t)sizeof(report)) {
		count(&report);
		is_heard = true;
	}
	if (n == 0)
		lose_zygote("has ended");
	return is_heard;
}

/* Whether requests wait that the zygote has not taken. */
static bool has_requests(void)
{
	int bytes;

	return ioctl(zygote_sock, SIOCOUTQ, &bytes) == 0 && bytes > 0;
}

/*
 * Called with the lock held. What stood still together with the collector was not silent. A request
 * that is seen to wait for the first time may have been made just now.
 */
static void watch_silence(bool is_heard, uint64_t now_ns)
{
	const uint64_t since_ns = now_ns - silence.seen_ns;
	const bool had_requests = silence.had_requests;

	silence.seen_ns = now_ns;
	silence.had_requests = has_requests();
	if (is_heard || !silence.had_requests || !had_requests) {
		silence.waited_ns = 0;
		silence.is_reported = false;
		return;
	}
	silence.waited_ns += since_ns < STALL_NS ? since_ns : STALL_NS;
	if (silence.waited_ns < ZYGOTE_PATIENCE_NS)
		return;
	silence.waited_ns = 0;
	if (silence.is_reported || send(keeper_sock, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		lose_zygote("does not answer, nor does its keeper");
	silence.is_reported = true;
}

void zygote_tend(void)
{
	THREAD_HOLD(&lock);

	if (stats.is_running)
		watch_silence(take_reports(), clock_now_ns());
}

void zygote_stats(struct zygote_stats *ret)
{
	THREAD_HOLD(&lock);

	*ret = stats;
}

static const struct counter counters[] = {
	COUNTER_GAUGE(struct zygote_stats, is_running, "parsers.running", "parsers_can_start",
		      "1 if files of containers can be read, 0 if the process that starts parsers "
		      "has ended.",
		      .unit = COUNTER_TRUTH),
	COUNTER_GAUGE(struct zygote_stats, uid, "parsers.uid", "parsers_uid",
		      "The user ID of processes that read files."),
	COUNTER_SUM(struct zygote_stats, started, "parsers.started", "parsers_started_total",
		    "Processes that were asked for, to read one file."),
	COUNTER_SUM(struct zygote_stats, killed, "parsers.killed", "parsers_killed_total",
		    "Of those that were started, killed: they took too long."),
	COUNTER_SUM(struct zygote_stats, died, "parsers.died", "parsers_died_total",
		    "Of those that were started, ended by a signal: their file has no names."),
	COUNTER_SUM(struct zygote_stats, forbidden, "parsers.forbidden", "parsers_forbidden_total",
		    "Of these that died, ended by a system call that they may not make."),
	COUNTER_SUM(struct zygote_stats, not_started, "parsers.not_started",
		    "parsers_not_started_total",
		    "Processes that could not be asked for, or not be started when they were."),
	COUNTER_SUM(struct zygote_stats, restarted, "parsers.restarted", "parsers_restarted_total",
		    "Times that the process that starts them ended, with them, and was replaced."),
};

const struct counters zygote_counters = COUNTERS(struct zygote_stats, counters);
