// SPDX-License-Identifier: Apache-2.0
/* Publishes by libnng, see publish_socket.h. */
#include "publish/publish_socket.h"

#include "base/log.h"
#include "base/thread.h"
#include "shared/wire.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define SP_SUB 0x0021

static int fail(const char *path, const char *what, int nng_err)
{
	log_error("--publish ipc://%s: cannot %s: %s", path, what, nng_strerror(nng_err));
	return nng_err & NNG_ESYSERR ? -(nng_err & ~NNG_ESYSERR) : -EIO;
}

/* ---- subscribers ---- */

static bool may_subscribe(nng_pipe pipe)
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

/* Takes the connection of the check, which is no subscriber. */
static bool take_check(struct publish_socket *socket, nng_pipe pipe)
{
	int begun = PUBLISH_CHECK_BEGUN;

	return is_own(pipe) &&
	       atomic_compare_exchange_strong(&socket->check, &begun, PUBLISH_CHECK_SEEN);
}

/* False: there are as many as may be. */
static bool add_pipe(struct publish_socket *socket, int id)
{
	bool has_room;

	THREAD_HOLD(&socket->lock);
	has_room = socket->subscribers < PUBLISH_MAX_SUBSCRIBERS;
	if (has_room)
		socket->pipes[socket->subscribers++] = id;
	return has_room;
}

static void remove_pipe(struct publish_socket *socket, int id)
{
	THREAD_HOLD(&socket->lock);

	for (uint64_t i = 0; i < socket->subscribers; i++) {
		if (socket->pipes[i] != id)
			continue;
		socket->pipes[i] = socket->pipes[--socket->subscribers];
		break;
	}
}

static void on_coming(struct publish_socket *socket, nng_pipe pipe)
{
	if (take_check(socket, pipe)) {
		nng_pipe_close(pipe);
	} else if (!may_subscribe(pipe) || !add_pipe(socket, nng_pipe_id(pipe))) {
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
	int pipes[PUBLISH_MAX_SUBSCRIBERS];
	uint64_t n, pid;

	pthread_mutex_lock(&socket->lock);
	n = socket->subscribers;
	memcpy(pipes, socket->pipes, sizeof(pipes));
	pthread_mutex_unlock(&socket->lock);
	for (uint64_t i = 0; i < n; i++)
		if (nng_pipe_get_uint64((nng_pipe){(uint32_t)pipes[i]}, NNG_OPT_IPC_PEER_PID,
					&pid) == NNG_ENOENT)
			remove_pipe(socket, pipes[i]);
}

/* ---- listeners ---- */

static int start_listener(struct publish_socket *socket)
{
	struct stat st;
	char url[sizeof("ipc://") + sizeof(((struct sockaddr_un *)0)->sun_path)];
	int err;

	snprintf(url, sizeof(url), "ipc://%s", socket->path);
	err = nng_listener_create(&socket->listener, socket->socket, url);
	if (err)
		return err;
	err = nng_listener_set_int(socket->listener, NNG_OPT_IPC_PERMISSIONS, 0600);
	if (!err)
		err = nng_listener_start(socket->listener, 0);
	if (err) {
		nng_listener_close(socket->listener);
		return err;
	}
	socket->inode = lstat(socket->path, &st) == 0 ? st.st_ino : 0;
	return 0;
}

/* Puts another listener at the path, unless the path is somebody else's by now. */
static void renew_listener(struct publish_socket *socket)
{
	struct stat st;
	int err;

	if (lstat(socket->path, &st) == 0 && st.st_ino != socket->inode) {
		log_error("--publish ipc://%s: something else is there now: nobody can subscribe "
			  "until it is removed",
			  socket->path);
		return;
	}
	nng_listener_close(socket->listener); /* removes the path */
	err = start_listener(socket);
	if (err) {
		fail(socket->path, "listen anew", err);
		return;
	}
	socket->renewed++;
	log_warning("--publish ipc://%s: listening anew, because a client that went away while it "
		    "was greeted has ended libnng's listener, or the socket was removed: "
		    "subscribers have to connect again",
		    socket->path);
}

/* ---- the check ---- */

static int connect_to(const char *path)
{
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	uint8_t greeting[WIRE_SP_GREETING_BYTES];

	if (fd < 0)
		return -errno;
	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", path);
	wire_encode_greeting(greeting, SP_SUB);
	if (connect(fd, (const struct sockaddr *)&addr, sizeof(addr)) == 0 &&
	    send(fd, greeting, sizeof(greeting), MSG_NOSIGNAL) == sizeof(greeting))
		return fd;
	close(fd);
	return -ECONNREFUSED;
}

static void end_check(struct publish_socket *socket, uint64_t now_ns)
{
	if (socket->check_fd >= 0)
		close(socket->check_fd);
	socket->check_fd = -1;
	atomic_store(&socket->check, PUBLISH_CHECK_NONE);
	socket->check_ns = now_ns + PUBLISH_CHECK_NS;
}

static void begin_check(struct publish_socket *socket, uint64_t now_ns)
{
	atomic_store(&socket->check, PUBLISH_CHECK_BEGUN);
	socket->check_fd = connect_to(socket->path);
	if (socket->check_fd >= 0) {
		socket->check_ns = now_ns;
		return;
	}
	if (socket->check_fd == -ECONNREFUSED)
		renew_listener(socket);
	end_check(socket, now_ns);
}

void publish_socket_step(struct publish_socket *socket, uint64_t now_ns)
{
	forget_ended(socket);
	if (socket->check_fd < 0) {
		if (now_ns >= socket->check_ns)
			begin_check(socket, now_ns);
	} else if (atomic_load(&socket->check) == PUBLISH_CHECK_SEEN) {
		end_check(socket, now_ns);
	} else if (now_ns >= socket->check_ns + PUBLISH_CHECK_WAIT_NS) {
		renew_listener(socket);
		end_check(socket, now_ns);
	}
}

/* ---- the socket ---- */

int publish_socket_open(struct publish_socket *socket, const char *path, unsigned messages,
			uint64_t now_ns)
{
	static const nng_pipe_ev events[] = {NNG_PIPE_EV_ADD_PRE, NNG_PIPE_EV_ADD_POST,
					     NNG_PIPE_EV_REM_POST};
	const char *const why = lazy_nng_load();
	int err;

	if (why) {
		log_error("--publish ipc://%s: %s", path, why);
		return -ELIBACC;
	}
	*socket = (struct publish_socket){.check_fd = -1, .check_ns = now_ns + PUBLISH_CHECK_NS};
	pthread_mutex_init(&socket->lock, NULL);
	err = nng_pub0_open(&socket->socket);
	if (err)
		return fail(path, "open libnng's socket", err);
	socket->path = strdup(path);
	if (!socket->path)
		err = NNG_ENOMEM;
	for (size_t i = 0; !err && i < sizeof(events) / sizeof(*events); i++)
		err = nng_pipe_notify(socket->socket, events[i], on_pipe, socket);
	if (!err)
		err = nng_socket_set_int(socket->socket, NNG_OPT_SENDBUF, (int)messages);
	if (!err)
		err = start_listener(socket);
	if (!err)
		return 0;
	err = fail(path, "listen there", err);
	publish_socket_close(socket);
	return err;
}

void publish_socket_close(struct publish_socket *socket)
{
	if (socket->check_fd >= 0)
		close(socket->check_fd);
	nng_close(socket->socket); /* libnng removes the path */
	free(socket->path);
	socket->path = NULL;
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
