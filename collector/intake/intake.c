// SPDX-License-Identifier: Apache-2.0
/*
 * The PULL end of the Scalability Protocols over a Unix socket, all of it in the reader's thread:
 * an epoll set holds the listening socket and the connections, each connection collects bytes until
 * a message is whole, and a message's records are handed on at once.
 *
 * This is not libnng's PULL socket, which the protocol is borrowed from and which the tests speak
 * to it with: the listener of nng 1.5 ends for good, and unseen, when a client goes away before it
 * has been greeted, and here any process of any container may be that client.
 */
#include "intake/intake.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/map64.h"
#include "base/process_stat.h"
#include "intake/listen.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define LISTEN_ID	  0 /* in epoll; connections count from 1 */
#define BACKLOG		  128
#define MAX_OF_ONE_PID	  16
#define GREETING_LIMIT_NS (5 * CLOCK_NS_PER_SEC)
#define ACCEPT_PAUSE_NS	  (1 * CLOCK_NS_PER_SEC)
#define FIRST_BUFFER	  (64u << 10)
#define MAX_BUFFER	  (WIRE_MESSAGE_MAX_BYTES + WIRE_SP_FRAME_HEADER_BYTES)
#define EVENTS_A_WAIT	  64

struct connection {
	struct intake_session session;
	int fd;
	bool is_greeted;  /* and so known to the caller */
	bool is_ending;
	uint64_t opened_ns;
	uint8_t *buf;
	size_t len, size;
};

struct intake {
	int listen_fd, epoll_fd;
	char *path; /* NULL until it is bound: then it is ours to remove */
	uint32_t next_id;
	uint64_t accept_again_ns; /* no descriptors left: not before this; 0: accepting */
	size_t not_greeted, ending;
	struct map64 connections; /* by ID */
	struct intake_stats stats;
};

/* Where events go while intake_read runs. */
struct sink {
	intake_fn fn;
	void *arg;
	size_t messages_left;
};

static int watch(const struct intake *intake, int fd, uint32_t id, uint32_t events, int op)
{
	struct epoll_event event = {.events = events, .data.u32 = id};

	return epoll_ctl(intake->epoll_fd, op, fd, &event) < 0 ? -errno : 0;
}

static int start_listening(struct intake *intake, const char *path)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};

	intake->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	intake->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (intake->listen_fd < 0 || intake->epoll_fd < 0)
		return -errno;
	memcpy(addr.sun_path, path, strlen(path) + 1);
	if (bind(intake->listen_fd, (const struct sockaddr *)&addr, sizeof(addr)) < 0)
		return -errno;
	intake->path = strdup(path);
	if (!intake->path)
		return -ENOMEM;
	/* JVMs of any user must be able to connect, which takes the right to write. */
	if (chmod(path, 0666) < 0 || listen(intake->listen_fd, BACKLOG) < 0)
		return -errno;
	return watch(intake, intake->listen_fd, LISTEN_ID, EPOLLIN, EPOLL_CTL_ADD);
}

int intake_open(const char *path, struct intake **ret)
{
	struct intake *intake = calloc(1, sizeof(*intake));
	int err;

	if (!intake)
		return -ENOMEM;
	intake->listen_fd = intake->epoll_fd = -1;
	intake->next_id = LISTEN_ID + 1;
	err = listen_prepare(path);
	if (!err) {
		err = start_listening(intake, path);
		if (err)
			log_error("cannot listen on %s: %s: run as root, or choose another place "
				  "with --socket",
				  path, strerror(-err));
	}
	if (err) {
		intake_close(intake);
		return err;
	}
	*ret = intake;
	return 0;
}

static void free_connection(struct connection *connection)
{
	if (connection->fd >= 0)
		close(connection->fd);
	free(connection->buf);
	free(connection);
}

void intake_close(struct intake *intake)
{
	size_t pos = 0;
	uint64_t key;
	void *connection;

	if (!intake)
		return;
	while (map64_next(&intake->connections, &pos, &key, &connection))
		free_connection(connection);
	map64_fini(&intake->connections);
	if (intake->path)
		unlink(intake->path);
	free(intake->path);
	if (intake->listen_fd >= 0)
		close(intake->listen_fd);
	if (intake->epoll_fd >= 0)
		close(intake->epoll_fd);
	free(intake);
}

int intake_fd(const struct intake *intake)
{
	return intake->epoll_fd;
}

static size_t connections_of(const struct intake *intake, pid_t pid)
{
	size_t pos = 0, n = 0;
	uint64_t key;
	void *value;

	while (map64_next(&intake->connections, &pos, &key, &value))
		n += ((const struct connection *)value)->session.pid == pid;
	return n;
}

/* The kernel's word on who connected; 0 if that process is outside of our PID namespace. */
static pid_t peer_pid(int fd)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0 || cred.pid < 0)
		return 0;
	return cred.pid;
}

static int add_connection(struct intake *intake, int fd, pid_t pid)
{
	struct connection *connection = calloc(1, sizeof(*connection));
	uint8_t greeting[WIRE_SP_GREETING_BYTES];
	int err;

	if (!connection)
		return -ENOMEM;
	connection->fd = fd;
	connection->opened_ns = clock_now_ns();
	connection->session = (struct intake_session){.id = intake->next_id, .pid = pid};
	err = pid > 0 ? process_stat_start_ticks(pid, &connection->session.start_ticks) : 0;
	if (!err)
		err = map64_put(&intake->connections, connection->session.id, connection);
	if (!err)
		err = watch(intake, fd, connection->session.id, EPOLLIN, EPOLL_CTL_ADD);
	if (err) {
		map64_remove(&intake->connections, connection->session.id);
		free(connection);
		return err;
	}
	intake->next_id = intake->next_id == UINT32_MAX ? LISTEN_ID + 1 : intake->next_id + 1;
	intake->not_greeted++;
	/* It may be gone already, which the next read tells. */
	wire_encode_greeting(greeting, WIRE_SP_PULL);
	if (send(fd, greeting, sizeof(greeting), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		log_debug("PID %d left before it was greeted", (int)pid);
	return 0;
}

/* Out of descriptors: the listening socket would stay readable, so it is not looked at for a while. */
static void pause_accepting(struct intake *intake)
{
	intake->accept_again_ns = clock_now_ns() + ACCEPT_PAUSE_NS;
	watch(intake, intake->listen_fd, LISTEN_ID, 0, EPOLL_CTL_MOD);
	log_warning("cannot accept agents: %s: raise the limit of open files", strerror(errno));
}

static void accept_all(struct intake *intake)
{
	for (;;) {
		const int fd = accept4(intake->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		pid_t pid;

		if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
			continue;
		if (fd < 0) {
			if (errno != EAGAIN)
				pause_accepting(intake);
			return;
		}
		pid = peer_pid(fd);
		if (intake->connections.count >= INTAKE_MAX_SESSIONS ||
		    (pid > 0 && connections_of(intake, pid) >= MAX_OF_ONE_PID) ||
		    add_connection(intake, fd, pid) < 0) {
			intake->stats.refused++;
			close(fd);
		}
	}
}

/* Its CLOSED event, if its OPENED was told, comes when it is removed. */
static void end_connection(struct intake *intake, struct connection *connection)
{
	if (connection->is_ending)
		return;
	connection->is_ending = true;
	intake->ending++;
	epoll_ctl(intake->epoll_fd, EPOLL_CTL_DEL, connection->fd, NULL);
	shutdown(connection->fd, SHUT_RDWR);
}

void intake_end_session(struct intake *intake, uint32_t id)
{
	struct connection *connection = map64_find(&intake->connections, id);

	if (connection)
		end_connection(intake, connection);
}

static void tell(const struct sink *sink, const struct connection *connection,
		 enum intake_kind kind)
{
	sink->fn(sink->arg,
		 &(struct intake_event){.kind = kind, .session = &connection->session});
}

/* The message cannot be trusted: what came before stands, the agent dials again. */
static void give_up(struct intake *intake, struct connection *connection, int err)
{
	if (err == -EPROTONOSUPPORT) {
		intake->stats.other_version++;
		log_warning("the agent of PID %d speaks another version of the protocol: use the "
			    "agent that came with this collector",
			    (int)connection->session.pid);
	} else {
		intake->stats.broken++;
		connection->session.broken++;
		log_debug("PID %d sent a broken message", (int)connection->session.pid);
	}
	end_connection(intake, connection);
}

static void take_message(struct intake *intake, struct connection *connection,
			 const uint8_t *data, size_t len, struct sink *sink)
{
	struct intake_session *session = &connection->session;
	struct intake_event event = {.kind = INTAKE_RECORD, .session = session};
	struct wire_message message;
	struct wire_reader reader;
	int n;

	sink->messages_left--;
	session->messages++;
	session->bytes += len;
	intake->stats.messages++;
	intake->stats.bytes += len;
	n = wire_decode_message(data, len, &message);
	if (n < 0) {
		give_up(intake, connection, n);
		return;
	}
	if (message.seq != session->next_seq) {
		session->gaps++;
		intake->stats.gaps++;
		tell(sink, connection, INTAKE_GAP);
	}
	session->next_seq = message.seq + 1;
	wire_reader_init(&reader, &message);
	while ((n = wire_reader_next(&reader, &event.record)) > 0)
		sink->fn(sink->arg, &event);
	if (n < 0)
		give_up(intake, connection, n);
}

/*
 * Whether the PID still means the process that connected. The kernel says the PID of then, and a
 * connection can be handed on: without this, whoever gets the PID next would answer for it.
 */
static bool is_same_process(const struct intake_session *session)
{
	uint64_t ticks;

	if (session->pid <= 0)
		return true; /* out of sight, which its user is told */
	return process_stat_start_ticks(session->pid, &ticks) == 0 && ticks == session->start_ticks;
}

/* The greeting must be a PUSH socket's. Returns the bytes used, 0 if there are too few yet. */
static size_t take_greeting(struct intake *intake, struct connection *connection,
			    const struct sink *sink)
{
	if (connection->len < WIRE_SP_GREETING_BYTES)
		return 0;
	if (wire_check_greeting(connection->buf, WIRE_SP_PUSH) < 0) {
		give_up(intake, connection, -EBADMSG);
		return connection->len;
	}
	if (!is_same_process(&connection->session)) {
		give_up(intake, connection, -EBADMSG);
		return connection->len;
	}
	connection->is_greeted = true;
	intake->not_greeted--;
	intake->stats.opened++;
	tell(sink, connection, INTAKE_OPENED);
	return WIRE_SP_GREETING_BYTES;
}

/* The frame's length, or 0 if its header is not whole yet; a lie ends the connection. */
static size_t frame_bytes(struct intake *intake, struct connection *connection, const uint8_t *p,
			  size_t left)
{
	uint64_t len = 0;

	if (left < WIRE_SP_FRAME_HEADER_BYTES)
		return 0;
	for (int i = 1; i < WIRE_SP_FRAME_HEADER_BYTES; i++)
		len = len << 8 | p[i];
	if (p[0] != 1 || len > WIRE_MESSAGE_MAX_BYTES) {
		give_up(intake, connection, -EBADMSG);
		return 0;
	}
	return WIRE_SP_FRAME_HEADER_BYTES + (size_t)len;
}

/* Hands on every whole message; returns the bytes that the next one needs to be whole. */
static size_t take_buffer(struct intake *intake, struct connection *connection, struct sink *sink)
{
	size_t at = 0, need = FIRST_BUFFER;

	if (!connection->is_greeted)
		at = take_greeting(intake, connection, sink);
	while (connection->is_greeted && !connection->is_ending && sink->messages_left > 0) {
		const uint8_t *p = connection->buf + at;
		const size_t left = connection->len - at;
		const size_t bytes = frame_bytes(intake, connection, p, left);

		if (bytes == 0 || bytes > left) {
			need = bytes > need ? bytes : need;
			break;
		}
		take_message(intake, connection, p + WIRE_SP_FRAME_HEADER_BYTES,
			     bytes - WIRE_SP_FRAME_HEADER_BYTES, sink);
		at += bytes;
	}
	memmove(connection->buf, connection->buf + at, connection->len - at);
	connection->len -= at;
	return need;
}

static bool resize(struct connection *connection, size_t size)
{
	uint8_t *buf;

	if (size <= connection->size)
		return true;
	buf = realloc(connection->buf, size);
	if (!buf)
		return false;
	connection->buf = buf;
	connection->size = size;
	return true;
}

static void read_connection(struct intake *intake, struct connection *connection,
			    struct sink *sink)
{
	size_t need = FIRST_BUFFER;

	while (sink->messages_left > 0 && !connection->is_ending) {
		ssize_t n;

		if (!resize(connection, need)) {
			give_up(intake, connection, -ENOMEM);
			return;
		}
		n = recv(connection->fd, connection->buf + connection->len,
			 connection->size - connection->len, MSG_DONTWAIT);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0) {
			end_connection(intake, connection);
			return;
		}
		connection->len += (size_t)n;
		need = take_buffer(intake, connection, sink);
	}
}

static void remove_ended(struct intake *intake, const struct sink *sink)
{
	size_t pos = 0;
	uint64_t id;
	void *value;

	while (intake->ending > 0 && map64_next(&intake->connections, &pos, &id, &value)) {
		struct connection *connection = value;

		if (!connection->is_ending)
			continue;
		map64_remove(&intake->connections, id);
		intake->ending--;
		pos = 0;
		if (connection->is_greeted) {
			intake->stats.closed++;
			tell(sink, connection, INTAKE_CLOSED);
		} else {
			intake->not_greeted--;
		}
		free_connection(connection);
	}
}

/* Those that connected and say nothing. */
static void end_silent(struct intake *intake, uint64_t now_ns)
{
	size_t pos = 0;
	uint64_t id;
	void *value;

	if (intake->not_greeted == 0)
		return;
	while (map64_next(&intake->connections, &pos, &id, &value)) {
		struct connection *connection = value;

		if (!connection->is_greeted && now_ns > connection->opened_ns + GREETING_LIMIT_NS)
			end_connection(intake, connection);
	}
}

/*
 * A message that was left because messages_left ran out lies in a buffer, of which epoll knows
 * nothing: buffers are looked at first.
 */
static void read_left_over(struct intake *intake, struct sink *sink)
{
	size_t pos = 0;
	uint64_t id;
	void *value;

	while (sink->messages_left > 0 && map64_next(&intake->connections, &pos, &id, &value)) {
		struct connection *connection = value;

		if (connection->len > 0 && connection->is_greeted && !connection->is_ending)
			take_buffer(intake, connection, sink);
	}
}

size_t intake_read(struct intake *intake, size_t max_messages, intake_fn fn, void *arg)
{
	struct sink sink = {.fn = fn, .arg = arg, .messages_left = max_messages};
	struct epoll_event events[EVENTS_A_WAIT];
	const uint64_t now = clock_now_ns();
	int n;

	read_left_over(intake, &sink);
	n = epoll_wait(intake->epoll_fd, events, EVENTS_A_WAIT, 0);
	for (int i = 0; i < n; i++) {
		struct connection *connection =
			map64_find(&intake->connections, events[i].data.u32);

		if (events[i].data.u32 == LISTEN_ID)
			accept_all(intake);
		else if (connection && !connection->is_ending)
			read_connection(intake, connection, &sink);
	}
	end_silent(intake, now);
	remove_ended(intake, &sink);
	if (intake->accept_again_ns && now > intake->accept_again_ns) {
		intake->accept_again_ns = 0;
		watch(intake, intake->listen_fd, LISTEN_ID, EPOLLIN, EPOLL_CTL_MOD);
	}
	return max_messages - sink.messages_left;
}

void intake_stats(const struct intake *intake, struct intake_stats *ret)
{
	*ret = intake->stats;
	ret->sessions = intake->connections.count - intake->not_greeted;
}
