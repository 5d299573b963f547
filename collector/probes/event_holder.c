// SPDX-License-Identifier: Apache-2.0
/*
 * Both sides of a socket, see event_holder.h. The first message is a struct start with the file,
 * each further one a struct question, with the program if there is one, and its answer a struct
 * answer, with the event if there is one. An empty question says that the collector has closed all.
 */
#include "probes/event_holder.h"

#include "base/cleanup.h"
#include "base/reach.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_EVENTS 64
#define LOOK_MS	   100 /* between two looks whether calls are to end */

struct start {
	pid_t collector, pid;
};

struct question {
	uint64_t file_off, semaphore_off;
	int cpu;
	bool is_disabled, is_end;
};

struct answer {
	int result; /* 0: the event comes with the message */
	enum uprobe_way way;
	char why[UPROBE_WHY_BYTES];
};

struct event_holder {
	int sock;
	bool is_lost; /* the process does not answer any more */
};

/* ---- the process ---- */

struct held {
	struct uprobe uprobe;
	int fd;
};

/* What is open. The process ends with it. */
struct holding {
	int sock, file, collector; /* collector: a pidfd, or -1 */
	pid_t pid;
	struct held events[MAX_EVENTS];
	size_t n;
};

static int open_one(struct holding *holding, const struct question *question, int program,
		    struct answer *answer)
{
	const struct uprobe_place place = {.file_fd = holding->file,
					   .file_off = question->file_off,
					   .semaphore_off = question->semaphore_off};
	const struct uprobe_who who = {.pid = holding->pid,
				       .cpu = question->cpu,
				       .is_disabled = question->is_disabled,
				       .program_fd = program >= 0 ? program : 0};
	struct held *const held = &holding->events[holding->n];

	if (holding->n >= MAX_EVENTS)
		return -E2BIG;
	uprobe_init(&held->uprobe, &place, UPROBE_ANY);
	holding->n++;
	held->fd = uprobe_open_event(&held->uprobe, &who, answer->why);
	answer->way = held->uprobe.way;
	return held->fd;
}

/* Until the collector says that it has closed all: true; or its end of the socket is closed. */
static bool serve(struct holding *holding)
{
	struct question question;

	for (;;) {
		struct answer answer = {0};
		int program, fd;
		const ssize_t len =
			reach_receive(holding->sock, &question, sizeof(question), &program);

		if (len < 0 && errno == EINTR)
			continue;
		if (len != (ssize_t)sizeof(question))
			return false;
		if (question.is_end)
			return true;
		fd = open_one(holding, &question, program, &answer);
		if (program >= 0)
			close(program);
		answer.result = fd < 0 ? fd : 0;
		(void)reach_send(holding->sock, &answer, sizeof(answer),
				 fd >= 0 ? fd : REACH_NO_FD);
	}
}

/* All of its threads have ended, and so its descriptors are closed. */
static void wait_for_collector(const struct holding *holding)
{
	struct pollfd polled = {.fd = holding->collector, .events = POLLIN};

	while (holding->collector >= 0 && poll(&polled, 1, -1) < 0 && errno == EINTR)
		continue;
}

static void close_all(struct holding *holding)
{
	for (size_t i = 0; i < holding->n; i++) {
		if (holding->events[i].fd >= 0)
			close(holding->events[i].fd);
	}
	for (size_t i = 0; i < holding->n; i++)
		uprobe_fini(&holding->events[i].uprobe);
}

/* The call of reach.h, which does not end with the process that forks, but after the collector. */
static int run_holder(const void *request, size_t len, int sock)
{
	static struct holding holding;
	struct start start;

	(void)request;
	(void)len;
	prctl(PR_SET_PDEATHSIG, 0);
	prctl(PR_SET_NAME, "fgcollect-hold");
	holding.sock = sock;
	if (reach_receive(sock, &start, sizeof(start), &holding.file) != (ssize_t)sizeof(start) ||
	    holding.file < 0)
		return -EBADMSG;
	holding.pid = start.pid;
	holding.collector = (int)syscall(SYS_pidfd_open, start.collector, 0);
	if (!serve(&holding))
		wait_for_collector(&holding);
	close_all(&holding);
	return 0;
}

static const struct reach_role holder_role = {run_holder, false};

/* ---- the collector's side ---- */

int event_holder_start(int file, pid_t pid, struct event_holder **ret)
{
	const struct start start = {.collector = getpid(), .pid = pid};
	struct event_holder *const holder = calloc(1, sizeof(*holder));
	int socks[2], err;

	if (!holder)
		return -ENOMEM;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks) < 0) {
		err = -errno;
		free(holder);
		return err;
	}
	holder->sock = socks[0];
	err = reach_send(holder->sock, &start, sizeof(start), file);
	if (!err)
		err = reach_leave(&holder_role, socks[1]);
	close(socks[1]);
	if (!err) {
		*ret = holder;
		return 0;
	}
	close(holder->sock);
	free(holder);
	return err;
}

/* Returns the event, or the error of whoever tried. */
static int take_answer(struct event_holder *holder, struct answer *answer)
{
	struct pollfd polled = {.fd = holder->sock, .events = POLLIN};
	int fd;

	while (poll(&polled, 1, LOOK_MS) <= 0) {
		if (!reach_is_used())
			return -ECHILD;
	}
	if (reach_receive(holder->sock, answer, sizeof(*answer), &fd) != (ssize_t)sizeof(*answer))
		return -ECHILD;
	if (answer->result < 0)
		return answer->result;
	return fd >= 0 ? fd : -EMFILE;
}

int event_holder_open(struct event_holder *holder, const struct uprobe_place *place,
		      const struct uprobe_who *who, enum uprobe_way *ret_way,
		      char why[UPROBE_WHY_BYTES])
{
	const struct question question = {.file_off = place->file_off,
					  .semaphore_off = place->semaphore_off,
					  .cpu = who->cpu,
					  .is_disabled = who->is_disabled};
	struct answer answer = {0};
	int fd;

	fd = reach_send(holder->sock, &question, sizeof(question),
			who->program_fd > 0 ? who->program_fd : REACH_NO_FD);
	if (!fd)
		fd = take_answer(holder, &answer);
	holder->is_lost = fd == -ECHILD;
	snprintf(why, UPROBE_WHY_BYTES, "%s",
		 holder->is_lost ? "the process that opens probes has not answered" : answer.why);
	if (fd >= 0)
		*ret_way = answer.way;
	return fd;
}

void event_holder_end(struct event_holder *holder)
{
	const struct question question = {.is_end = true};
	struct pollfd polled;

	if (!holder)
		return;
	polled = (struct pollfd){.fd = holder->sock, .events = POLLIN};
	if (!holder->is_lost &&
	    reach_send(holder->sock, &question, sizeof(question), REACH_NO_FD) == 0) {
		while (poll(&polled, 1, -1) < 0 && errno == EINTR)
			continue;
	}
	close(holder->sock);
	free(holder);
}
