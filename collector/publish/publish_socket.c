// SPDX-License-Identifier: Apache-2.0
/* Listens and sends by libnng, see publish_socket.h. */
#include "publish/publish_socket.h"

#include "base/log.h"
#include "base/thread.h"
#include "publish/publish_threads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SP_SUB 0x0021
#define SP_REQ 0x0030

static int fail(const struct publish_paths *paths, size_t i, const char *what, int nng_err)
{
	log_error("%s ipc://%s: cannot %s: %s", paths->option, paths->paths[i], what,
		  nng_strerror(nng_err));
	if (nng_err == NNG_ENOMEM)
		return -ENOMEM;
	return nng_err & NNG_ESYSERR ? -(nng_err & ~NNG_ESYSERR) : -EIO;
}

/* ---- clients ---- */

static bool may_connect(nng_pipe pipe)
{
	uint64_t uid;

	return nng_pipe_get_uint64(pipe, NNG_OPT_IPC_PEER_UID, &uid) == 0 &&
	       (uid == 0 || uid == geteuid());
}

static bool is_own(nng_pipe pipe)
{
	uint64_t pid;

	return nng_pipe_get_uint64(pipe, NNG_OPT_IPC_PEER_PID, &pid) == 0 &&
	       pid == (uint64_t)getpid();
}

/* Takes the connection of a listener's check, which is no client. */
static bool take_check(struct publish_socket *socket, nng_pipe pipe)
{
	bool is_check = false;

	for (size_t i = 0; is_own(pipe) && !is_check && i < socket->n_listeners; i++)
		is_check = publish_listener_take_check(&socket->listeners[i], pipe);
	return is_check;
}

/* False: there are as many as may be. */
static bool add_pipe(struct publish_socket *socket, int id)
{
	bool has_room;

	THREAD_HOLD(&socket->lock);
	has_room = socket->clients < PUBLISH_MAX_CLIENTS;
	if (has_room)
		socket->pipes[socket->clients++] = id;
	return has_room;
}

static void remove_pipe(struct publish_socket *socket, int id)
{
	THREAD_HOLD(&socket->lock);

	for (uint64_t i = 0; i < socket->clients; i++) {
		if (socket->pipes[i] != id)
			continue;
		socket->pipes[i] = socket->pipes[--socket->clients];
		break;
	}
}

static void on_coming(struct publish_socket *socket, nng_pipe pipe)
{
	if (take_check(socket, pipe)) {
		nng_pipe_close(pipe);
	} else if (!may_connect(pipe) || !add_pipe(socket, nng_pipe_id(pipe))) {
		socket->refused++;
		nng_pipe_close(pipe);
	}
}

/* Called in libnng's threads. libnng tells of the end of refused connections too. */
static void on_pipe(nng_pipe pipe, nng_pipe_ev event, void *arg)
{
	struct publish_socket *const socket = arg;

	if (event == NNG_PIPE_EV_ADD_PRE)
		on_coming(socket, pipe);
	else if (event == NNG_PIPE_EV_ADD_POST)
		socket->joined++;
	else if (event == NNG_PIPE_EV_REM_POST)
		remove_pipe(socket, nng_pipe_id(pipe));
}

/* Forgets pipes that ended while libnng told of them: the two events may come in any order then. */
static void forget_ended(struct publish_socket *socket)
{
	int pipes[PUBLISH_MAX_CLIENTS];
	uint64_t n, pid;

	pthread_mutex_lock(&socket->lock);
	n = socket->clients;
	memcpy(pipes, socket->pipes, sizeof(pipes));
	pthread_mutex_unlock(&socket->lock);
	for (uint64_t i = 0; i < n; i++)
		if (nng_pipe_get_uint64((nng_pipe){(uint32_t)pipes[i]}, NNG_OPT_IPC_PEER_PID,
					&pid) == NNG_ENOENT)
			remove_pipe(socket, pipes[i]);
}

void publish_socket_step(struct publish_socket *socket, uint64_t now_ns)
{
	forget_ended(socket);
	for (size_t i = 0; i < socket->n_listeners; i++)
		publish_listener_step(&socket->listeners[i], now_ns);
}

uint64_t publish_socket_renewed(const struct publish_socket *socket)
{
	uint64_t renewed = 0;

	for (size_t i = 0; i < socket->n_listeners; i++)
		renewed += socket->listeners[i].renewed;
	return renewed;
}

/* ---- the socket ---- */

static int set_up(struct publish_socket *socket, enum publish_protocol protocol, unsigned messages)
{
	static const nng_pipe_ev events[] = {NNG_PIPE_EV_ADD_PRE, NNG_PIPE_EV_ADD_POST,
					     NNG_PIPE_EV_REM_POST};
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(events) / sizeof(*events); i++)
		err = nng_pipe_notify(socket->socket, events[i], on_pipe, socket);
	if (!err && protocol == PUBLISH_PUB)
		err = nng_socket_set_int(socket->socket, NNG_OPT_SENDBUF, (int)messages);
	if (!err)
		err = nng_socket_set_size(socket->socket, NNG_OPT_RECVMAXSZ, PUBLISH_REQUEST_BYTES);
	return err;
}

static int listen_at(struct publish_socket *socket, enum publish_protocol protocol,
		     const struct publish_paths *paths, uint64_t now_ns)
{
	int err = 0;

	for (size_t i = 0; !err && i < paths->count; i++) {
		struct publish_listener *const listener = &socket->listeners[i];

		listener->path = strdup(paths->paths[i]);
		listener->option = paths->option;
		listener->peer = protocol == PUBLISH_PUB ? SP_SUB : SP_REQ;
		listener->socket = socket->socket;
		socket->n_listeners++;
		err = publish_listener_open(listener, now_ns);
		if (err)
			return fail(paths, i, "listen there", err);
	}
	return 0;
}

struct opening {
	enum publish_protocol protocol;
	nng_socket *socket;
	int err;
};

/* libnng's threads are those of whoever opens the first socket. */
static void *open_socket(void *arg)
{
	struct opening *const opening = arg;

	publish_threads_yield();
	opening->err = opening->protocol == PUBLISH_PUB ? nng_pub0_open(opening->socket)
							: nng_rep0_open(opening->socket);
	return NULL;
}

static int open_by_thread(struct publish_socket *socket, enum publish_protocol protocol)
{
	struct opening opening = {.protocol = protocol, .socket = &socket->socket};
	pthread_t thread;

	if (thread_start(&thread, open_socket, &opening) < 0)
		return NNG_ENOMEM;
	pthread_join(thread, NULL);
	return opening.err;
}

int publish_socket_open(struct publish_socket *socket, enum publish_protocol protocol,
			const struct publish_paths *paths, unsigned messages, uint64_t now_ns)
{
	const char *const why = lazy_nng_load();
	int err;

	if (why) {
		log_error("%s ipc://%s: %s", paths->option, paths->paths[0], why);
		return -ELIBACC;
	}
	*socket = (struct publish_socket){0};
	err = open_by_thread(socket, protocol);
	if (err)
		return fail(paths, 0, "open libnng's socket", err);
	pthread_mutex_init(&socket->lock, NULL);
	err = set_up(socket, protocol, messages);
	if (err)
		err = fail(paths, 0, "set libnng's socket up", err);
	else
		err = listen_at(socket, protocol, paths, now_ns);
	if (err)
		publish_socket_close(socket);
	return err;
}

void publish_socket_close(struct publish_socket *socket)
{
	nng_close(socket->socket); /* libnng removes the paths */
	for (size_t i = 0; i < socket->n_listeners; i++)
		publish_listener_fini(&socket->listeners[i]);
	socket->n_listeners = 0;
}

void publish_socket_set_queue(struct publish_socket *socket, unsigned messages)
{
	nng_socket_set_int(socket->socket, NNG_OPT_SENDBUF, (int)messages);
}

int publish_socket_send(struct publish_socket *socket, nng_msg *msg)
{
	const int err = nng_sendmsg(socket->socket, msg, NNG_FLAG_NONBLOCK);

	if (err)
		nng_msg_free(msg);
	return err ? -EIO : 0;
}
