// SPDX-License-Identifier: Apache-2.0
/* Questions whose answers are looked for by a timer, see peers.h. */
#include "guard/peers.h"

#include "base/guarded.h"
#include "guard/mount_namespace.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define NO_ANSWER INT32_MAX

/* The call and the asker each hold it once, and the last one frees it. */
struct peers_question {
	struct guarded_call base;
	pid_t pid;
	atomic_int answer; /* of mount_namespace_is_other, or NO_ANSWER */
	atomic_uint holders;
};

static void drop(struct peers_question *question)
{
	if (atomic_fetch_sub(&question->holders, 1) == 1)
		free(question);
}

static void run_question(struct guarded_call *base)
{
	struct peers_question *const question = (struct peers_question *)base;

	atomic_store(&question->answer, mount_namespace_is_other(question->pid, NULL));
}

static void free_question(struct guarded_call *base)
{
	drop((struct peers_question *)base);
}

int peers_open(struct peers *peers)
{
	*peers = (struct peers){
		.timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)};
	return peers->timer_fd < 0 ? -errno : 0;
}

void peers_close(struct peers *peers)
{
	while (peers->count > 0)
		drop(peers->asked[--peers->count].question);
	if (peers->timer_fd >= 0)
		close(peers->timer_fd);
	peers->timer_fd = -1;
}

static void set_timer(const struct peers *peers)
{
	const struct itimerspec when = {.it_value.tv_nsec = peers->count ? PEERS_LOOK_NS : 0};

	timerfd_settime(peers->timer_fd, 0, &when, NULL); /* also takes back that it is readable */
}

int peers_ask(struct peers *peers, int fd, uint64_t now_ns)
{
	struct peers_question *question;
	struct ucred cred;
	socklen_t len = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0)
		return -errno;
	if (cred.uid != 0 && cred.uid != geteuid())
		return -EACCES;
	if (peers->count == PEERS_MAX)
		return -EAGAIN;
	question = malloc(sizeof(*question));
	if (!question)
		return -ENOMEM;
	*question = (struct peers_question){.base = {.run = run_question, .free = free_question},
					    .pid = cred.pid};
	atomic_init(&question->answer, NO_ANSWER);
	atomic_init(&question->holders, 2);
	peers->asked[peers->count].fd = fd;
	peers->asked[peers->count].pid = cred.pid;
	peers->asked[peers->count].since_ns = now_ns;
	peers->asked[peers->count].question = question;
	peers->count++;
	guarded_leave(cred.pid, &question->base);
	set_timer(peers);
	return 0;
}

static bool is_known(const struct peers_question *question, uint64_t asked_ns,
		     enum peers_verdict *ret)
{
	const int answer = atomic_load(&question->answer);

	if (answer == NO_ANSWER && asked_ns < PEERS_PATIENCE_NS)
		return false;
	*ret = answer == NO_ANSWER ? PEERS_SILENT
	       : answer == 0	   ? PEERS_WELCOME
				   : PEERS_IN_CONTAINER;
	return true;
}

int peers_next(struct peers *peers, uint64_t now_ns, enum peers_verdict *ret, pid_t *ret_pid)
{
	for (size_t i = 0; i < peers->count; i++) {
		const int fd = peers->asked[i].fd;

		if (!is_known(peers->asked[i].question, now_ns - peers->asked[i].since_ns, ret))
			continue;
		*ret_pid = peers->asked[i].pid;
		drop(peers->asked[i].question);
		peers->count--;
		memmove(&peers->asked[i], &peers->asked[i + 1],
			(peers->count - i) * sizeof(peers->asked[0]));
		return fd;
	}
	set_timer(peers);
	return -1;
}
