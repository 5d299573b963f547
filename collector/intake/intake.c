// SPDX-License-Identifier: Apache-2.0
/*
 * The PULL end of the Scalability Protocols over a Unix socket, in the reader's thread, see
 * intake.h. An epoll set holds the listening socket and the connections. Each connection collects
 * bytes until a message is whole, and the message's records are handed on at once.
 *
 * libnng's PULL socket speaks this protocol, but is not used: the listener of nng 1.5 ends for
 * good, and unseen, when a client goes away before it has been greeted, and any process of any
 * container may be this client. The tests let libnng's PUSH socket speak to the intake.
 *
 * One file, because a connection's states, its limits and their counters change together.
 */
#include "intake/intake.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/log_limit.h"
#include "guard/loop_clock.h"
#include "base/map64.h"
#include "base/process_stat.h"
#include "guard/pool.h"
#include "guard/heap_bytes.h"
#include "intake/listen.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define LISTEN_ID	 0 /* ID in epoll; connections count from 1 */
#define BACKLOG		 128
#define MAX_OF_ONE_PID	 16
#define MAX_OF_GROUP	 1024			 /* of a container, or of a user of the host */
#define SILENCE_LIMIT_NS (10 * CLOCK_NS_PER_SEC) /* to complete a greeting or message */
#define ACCEPT_PAUSE_NS	 (1 * CLOCK_NS_PER_SEC)
#define FIRST_BUFFER	 (64u << 10)
#define BYTES_A_TURN	 (256u << 10) /* of one connection; then others have a turn */
#define NS_A_TURN	 (1 * CLOCK_NS_PER_MS)
#define RECORDS_A_LOOK	 4 /* short records handed on before the clock is looked at again */
#define SHORT_RECORD	 512
#define BYTES_A_READ	 (4u << 20) /* of all connections; then the caller has a turn */
#define EVENTS_A_WAIT	 64

struct connection {
	struct intake_session session;
	int fd;
	bool is_greeted; /* greeted, and therefore known to the caller */
	bool is_ending;
	uint64_t began_ns; /* when the message that is not complete yet began */
	uint8_t *buf;	   /* NULL while no bytes wait */
	size_t len, size;
	size_t done; /* bytes handed on of the records of buf's first message; 0: not begun */
};

struct intake {
	int listen_fd, epoll_fd;
	char *path; /* NULL until the path is bound; then intake removes it */
	uint32_t next_id;
	uint64_t accept_again_ns; /* when accepting goes on; 0: accepting */
	size_t not_greeted, ending;
	size_t buffers_bytes;
	size_t turn; /* position in connections at which the next call begins */
	bool has_more;
	uint64_t heard_ns;
	struct map64 connections; /* by ID */
	struct intake_stats stats;
	size_t max_sessions, max_buffer_bytes;
	owner_fn owner; /* or NULL */
	void *owner_arg;
};

/* Where events go while intake_read runs, and how much intake_read may still read. */
struct sink {
	intake_fn fn;
	void *arg;
	size_t messages_left;
	size_t bytes_left;
	size_t turn_left; /* bytes left for this connection */
	uint64_t until_ns, turn_until_ns;
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
	/* JVMs of any user must be able to connect. Connecting needs the right to write. */
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
	intake->heard_ns = clock_now_ns();
	intake_set_limits(intake, INTAKE_MAX_SESSIONS, INTAKE_MAX_BUFFER_BYTES);
	err = listen_prepare(path, "--socket");
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

static void free_buffer(struct intake *intake, struct connection *connection)
{
	intake->buffers_bytes -= connection->size;
	free(connection->buf);
	connection->buf = NULL;
	connection->size = connection->len = 0;
}

static void free_connection(struct intake *intake, struct connection *connection)
{
	free_buffer(intake, connection);
	close(connection->fd);
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
		free_connection(intake, connection);
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

void intake_set_limits(struct intake *intake, size_t sessions, size_t buffer_bytes)
{
	intake->max_sessions = sessions;
	intake->max_buffer_bytes = buffer_bytes;
}

void intake_set_owner(struct intake *intake, owner_fn owner, void *arg)
{
	intake->owner = owner;
	intake->owner_arg = arg;
}

int intake_fd(const struct intake *intake)
{
	return intake->epoll_fd;
}

/* Whether the process, or its container or user, has as many connections as it may have. */
static bool has_too_many(const struct intake *intake, pid_t pid, uint64_t group)
{
	size_t pos = 0, of_pid = 0, of_group = 0;
	uint64_t key;
	void *value;

	while (map64_next(&intake->connections, &pos, &key, &value)) {
		const struct connection *connection = value;

		of_pid += pid > 0 && connection->session.pid == pid;
		of_group += connection->session.group == group;
	}
	return of_pid >= MAX_OF_ONE_PID || of_group >= MAX_OF_GROUP;
}

uint64_t intake_group(const struct intake *intake, pid_t pid)
{
	if (pid <= 0)
		return 0;
	return owner_group(intake->owner ? intake->owner(intake->owner_arg, pid)
					 : owner_of_process(pid, "", 0));
}

static uint64_t one(const struct connection *connection)
{
	return connection != NULL;
}

static uint64_t buffer_bytes(const struct connection *connection)
{
	return connection->size;
}

/*
 * The connection that makes room for one of the group, which is to have so much more of a pool:
 * one of the group that has the most, and the largest of these, or the latest. NULL: no group has
 * more than this one is to have.
 */
static struct connection *choose_payer(const struct intake *intake, uint64_t group, uint64_t more,
				       uint64_t (*amount_of)(const struct connection *connection))
{
	_cleanup_(pool_fini) struct pool pool = {0};
	struct connection *payer = NULL;
	uint64_t greediest, id;
	size_t pos = 0;
	void *value;

	while (map64_next(&intake->connections, &pos, &id, &value)) {
		const struct connection *const connection = value;

		if (!connection->is_ending)
			pool_charge(&pool, connection->session.group, amount_of(connection));
	}
	if (!pool_choose(&pool, group, more, &greediest))
		return NULL;
	pos = 0;
	while (map64_next(&intake->connections, &pos, &id, &value)) {
		struct connection *const connection = value;

		if (connection->session.group != greediest || connection->is_ending)
			continue;
		if (!payer || amount_of(connection) > amount_of(payer) ||
		    (amount_of(connection) == amount_of(payer) &&
		     connection->session.id > payer->session.id))
			payer = connection;
	}
	return payer;
}

/* Ends the connection. If OPENED was told, CLOSED is told when the connection is removed. */
static void end_connection(struct intake *intake, struct connection *connection)
{
	if (connection->is_ending)
		return;
	connection->is_ending = true;
	intake->ending++;
	epoll_ctl(intake->epoll_fd, EPOLL_CTL_DEL, connection->fd, NULL);
	shutdown(connection->fd, SHUT_RDWR);
}

static void evict(struct intake *intake, struct connection *payer)
{
	static struct log_limit limit;

	intake->stats.evicted++;
	if (log_limit_allows(&limit, payer->session.group, clock_now_ns()))
		log_warning("PID %d: its connection makes room for others: of all containers and "
			    "users, its own has the most",
			    (int)payer->session.pid);
	end_connection(intake, payer);
	free_buffer(intake, payer);
}

/* Whether there may be a further connection. If all places are taken, the greediest makes room. */
static bool has_room(struct intake *intake, pid_t pid, uint64_t group)
{
	struct connection *payer;

	if (has_too_many(intake, pid, group))
		return false;
	if (intake->connections.count - intake->ending < intake->max_sessions)
		return true;
	payer = choose_payer(intake, group, 1, one);
	if (payer)
		evict(intake, payer);
	return payer != NULL;
}

/*
 * The PID of the process that connected, as the kernel says; 0 if the process is outside of our PID
 * namespace.
 */
static pid_t peer_pid(int fd)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0 || cred.pid < 0)
		return 0;
	return cred.pid;
}

static int add_connection(struct intake *intake, int fd, pid_t pid, uint64_t group, bool is_dialled)
{
	struct connection *connection = calloc(1, sizeof(*connection));
	uint8_t greeting[WIRE_SP_GREETING_BYTES];
	int err;

	if (!connection)
		return -ENOMEM;
	connection->fd = fd;
	connection->began_ns = loop_clock_now_ns();
	connection->session = (struct intake_session){
		.id = intake->next_id, .pid = pid, .group = group, .is_dialled = is_dialled};
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
	do {
		intake->next_id++;
	} while (intake->next_id == LISTEN_ID || map64_find(&intake->connections, intake->next_id));
	intake->not_greeted++;
	/* The peer may be gone already. The next read then shows that. */
	wire_encode_greeting(greeting, WIRE_SP_PULL);
	if (send(fd, greeting, sizeof(greeting), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		log_debug("PID %d left before it was greeted", (int)pid);
	return 0;
}

/*
 * Stops accepting for a while when descriptors run out, because the listening socket would stay
 * readable.
 */
static void pause_accepting(struct intake *intake, int err)
{
	intake->accept_again_ns = clock_now_ns() + ACCEPT_PAUSE_NS;
	watch(intake, intake->listen_fd, LISTEN_ID, 0, EPOLL_CTL_MOD);
	log_warning("cannot accept agents: %s: raise the limit of open files", strerror(-err));
}

/* Stops accepting for as long as it has taken. */
static void rest_from_accepting(struct intake *intake)
{
	intake->accept_again_ns = clock_now_ns() + INTAKE_ACCEPT_NS;
	watch(intake, intake->listen_fd, LISTEN_ID, 0, EPOLL_CTL_MOD);
}

static void accept_one(struct intake *intake, int fd)
{
	const pid_t pid = peer_pid(fd);
	const uint64_t group = intake_group(intake, pid);

	if (!has_room(intake, pid, group) || add_connection(intake, fd, pid, group, false) < 0) {
		intake->stats.refused++;
		close(fd);
	}
}

static void accept_waiting(struct intake *intake)
{
	const uint64_t until_ns = clock_now_ns() + INTAKE_ACCEPT_NS;

	do {
		const int fd = accept4(intake->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd >= 0) {
			accept_one(intake, fd);
		} else if (errno != EINTR && errno != ECONNABORTED) {
			if (errno != EAGAIN)
				pause_accepting(intake, -errno);
			return;
		}
	} while (clock_now_ns() < until_ns);
	rest_from_accepting(intake);
}

int intake_add(struct intake *intake, int fd, pid_t pid, uint32_t *ret_id)
{
	const uint64_t group = intake_group(intake, pid);
	const uint32_t id = intake->next_id;
	int err;

	if (!has_room(intake, pid, group)) {
		intake->stats.refused++;
		return -EUSERS;
	}
	err = add_connection(intake, fd, pid, group, true);
	if (!err)
		*ret_id = id;
	return err;
}

bool intake_has(const struct intake *intake, uint32_t id, bool *ret_greeted)
{
	const struct connection *connection = map64_find(&intake->connections, id);

	*ret_greeted = connection && connection->is_greeted;
	return connection && !connection->is_ending;
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
	sink->fn(sink->arg, &(struct intake_event){.kind = kind, .session = &connection->session});
}

/*
 * Ends a connection with a message that cannot be trusted. Earlier messages count; the agent dials
 * again.
 */
static void give_up(struct intake *intake, struct connection *connection, int err)
{
	static struct log_limit limit;

	if (err == -EPROTONOSUPPORT) {
		intake->stats.other_version++;
		if (log_limit_allows(&limit, connection->session.group, clock_now_ns()))
			log_warning("the agent of PID %d speaks another version of the protocol: "
				    "use the agent that came with this collector",
				    (int)connection->session.pid);
	} else {
		intake->stats.broken++;
		connection->session.broken++;
		log_debug("PID %d sent a broken message", (int)connection->session.pid);
	}
	end_connection(intake, connection);
}

static void count_message(struct intake *intake, struct intake_session *session, size_t len,
			  struct sink *sink)
{
	sink->messages_left--;
	session->messages++;
	session->bytes += len;
	intake->stats.messages++;
	intake->stats.bytes += len;
}

static void check_sequence(struct intake *intake, struct connection *connection,
			   const struct wire_message *message, const struct sink *sink)
{
	struct intake_session *session = &connection->session;

	if (message->seq != session->next_seq) {
		session->gaps++;
		intake->stats.gaps++;
		tell(sink, connection, INTAKE_GAP);
	}
	session->next_seq = message->seq + 1;
}

/*
 * Hands records on until the turn is over: a record may take milliseconds, and a message may have
 * thousands of them. Returns wire_reader_next's last answer: 1 if there are more.
 */
static int take_records(struct wire_reader *reader, const struct connection *connection,
			const struct sink *sink)
{
	struct intake_event event = {.kind = INTAKE_RECORD, .session = &connection->session};
	int n;

	for (unsigned i = 1; (n = wire_reader_next(reader, &event.record)) > 0; i++) {
		sink->fn(sink->arg, &event);
		if ((i % RECORDS_A_LOOK == 0 || event.record.len > SHORT_RECORD) &&
		    reader->pos < reader->len && clock_now_ns() >= sink->turn_until_ns)
			break;
	}
	return n;
}

/* Whether all records of the message have been handed on; the rest is for the next turn. */
static bool take_message(struct intake *intake, struct connection *connection, const uint8_t *data,
			 size_t len, struct sink *sink)
{
	struct wire_message message;
	struct wire_reader reader;
	const bool is_new = connection->done == 0;
	int n = wire_decode_message(data, len, &message);

	if (is_new)
		count_message(intake, &connection->session, len, sink);
	if (n < 0) {
		give_up(intake, connection, n);
		return true;
	}
	if (is_new)
		check_sequence(intake, connection, &message, sink);
	wire_reader_init(&reader, &message);
	reader.pos = connection->done;
	n = take_records(&reader, connection, sink);
	connection->done = n > 0 ? reader.pos : 0;
	if (n < 0)
		give_up(intake, connection, n);
	return n <= 0;
}

/*
 * Whether the PID still means the process that connected. The kernel says the PID at the time of
 * the connection, and a connection can be handed on: a later process with the PID must not answer
 * for it.
 */
static bool is_same_process(const struct intake_session *session)
{
	uint64_t ticks;

	if (session->pid <= 0)
		return true; /* the process cannot be seen, and its user is told so */
	return process_stat_start_ticks(session->pid, &ticks) == 0 && ticks == session->start_ticks;
}

/*
 * Reads the greeting, which must be a PUSH socket's. Returns the bytes used, or 0 if more are
 * needed.
 */
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
	log_debug("intake: PID %d has an agent", (int)connection->session.pid);
	tell(sink, connection, INTAKE_OPENED);
	return WIRE_SP_GREETING_BYTES;
}

/*
 * The length of the frame, or 0 if its header is not complete. A wrong header ends the connection.
 */
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

static bool has_turn(const struct connection *connection, const struct sink *sink)
{
	return !connection->is_ending && sink->messages_left > 0 && sink->bytes_left > 0 &&
	       sink->turn_left > 0 && clock_now_ns() < sink->turn_until_ns;
}

static void spend(size_t *left, size_t bytes)
{
	*left -= bytes < *left ? bytes : *left;
}

/* Hands on all complete messages. Returns the bytes that the next message needs to be complete. */
static size_t take_buffer(struct intake *intake, struct connection *connection, struct sink *sink)
{
	size_t at = 0, need = FIRST_BUFFER;

	if (!connection->is_greeted)
		at = take_greeting(intake, connection, sink);
	while (connection->is_greeted && has_turn(connection, sink)) {
		const uint8_t *p = connection->buf + at;
		const size_t left = connection->len - at;
		const size_t bytes = frame_bytes(intake, connection, p, left);

		if (bytes == 0 || bytes > left) {
			need = bytes > need ? bytes : need;
			break;
		}
		connection->began_ns = loop_clock_now_ns(); /* as long as records are handed on */
		if (!take_message(intake, connection, p + WIRE_SP_FRAME_HEADER_BYTES,
				  bytes - WIRE_SP_FRAME_HEADER_BYTES, sink))
			break;
		spend(&sink->bytes_left, bytes);
		spend(&sink->turn_left, bytes);
		at += bytes;
	}
	if (at > 0)
		connection->began_ns = loop_clock_now_ns();
	memmove(connection->buf, connection->buf + at, connection->len - at);
	connection->len -= at;
	return need;
}

/* Whether there is room for so many bytes more; if not, the greediest makes room. */
static bool has_buffer_room(struct intake *intake, const struct connection *connection, size_t more)
{
	while (intake->buffers_bytes + more > intake->max_buffer_bytes) {
		struct connection *const payer =
			choose_payer(intake, connection->session.group, more, buffer_bytes);

		if (!payer)
			return false;
		evict(intake, payer);
	}
	return true;
}

static bool resize(struct intake *intake, struct connection *connection, size_t size)
{
	uint8_t *buf;

	if (size <= connection->size)
		return true;
	if (!has_buffer_room(intake, connection, size - connection->size))
		return false;
	buf = realloc(connection->buf, size);
	if (!buf)
		return false;
	intake->buffers_bytes += size - connection->size;
	connection->buf = buf;
	connection->size = size;
	return true;
}

/* need: the bytes that the buffer has to have room for, as take_buffer says. */
static void receive(struct intake *intake, struct connection *connection, size_t need,
		    struct sink *sink)
{
	while (has_turn(connection, sink)) {
		ssize_t n;

		if (!resize(intake, connection, need)) {
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
	intake->has_more |= !connection->is_ending;
}

/*
 * One connection's turn. Bytes left from its last turn come first, because epoll does not know of
 * them.
 */
static void read_connection(struct intake *intake, struct connection *connection, struct sink *sink)
{
	const uint64_t turn_until_ns = clock_now_ns() + NS_A_TURN;
	size_t need = FIRST_BUFFER;

	sink->turn_left = BYTES_A_TURN;
	sink->turn_until_ns = turn_until_ns < sink->until_ns ? turn_until_ns : sink->until_ns;
	if (connection->len > 0)
		need = take_buffer(intake, connection, sink);
	receive(intake, connection, need, sink);
	if (connection->len == 0)
		free_buffer(intake, connection); /* most connections mostly wait without bytes */
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
			log_debug("intake: the agent of PID %d is gone after %llu messages",
				  (int)connection->session.pid,
				  (unsigned long long)connection->session.messages);
			tell(sink, connection, INTAKE_CLOSED);
		} else {
			intake->not_greeted--;
		}
		free_connection(intake, connection);
	}
}

/* Ends connections that began a greeting or message and did not complete it in time. */
static void end_silent(struct intake *intake, uint64_t now_ns)
{
	size_t pos = 0;
	uint64_t id;
	void *value;

	if (intake->not_greeted == 0 && intake->buffers_bytes == 0)
		return;
	while (map64_next(&intake->connections, &pos, &id, &value)) {
		struct connection *connection = value;

		if ((!connection->is_greeted || connection->len > 0) &&
		    loop_clock_at(now_ns) > connection->began_ns + SILENCE_LIMIT_NS)
			end_connection(intake, connection);
	}
}

static bool is_over(const struct sink *sink)
{
	return sink->messages_left == 0 || sink->bytes_left == 0 ||
	       clock_now_ns() >= sink->until_ns;
}

/* Reads messages that were complete when the last call's budget ran out. Connections take turns. */
static void read_left_over(struct intake *intake, struct sink *sink)
{
	const size_t first = intake->turn;
	size_t pos = first;
	uint64_t id;
	void *value;

	if (!intake->has_more)
		return;
	intake->has_more = false;
	for (int round = 0; round < 2; round++, pos = 0) {
		while (map64_next(&intake->connections, &pos, &id, &value)) {
			struct connection *connection = value;

			if (round == 1 && pos > first)
				return;
			if (is_over(sink)) {
				intake->turn = pos - 1;
				intake->has_more = true;
				return;
			}
			if (connection->len > 0 && !connection->is_ending)
				read_connection(intake, connection, sink);
		}
	}
}

size_t intake_read(struct intake *intake, size_t max_messages, intake_fn fn, void *arg)
{
	struct sink sink = {
		.fn = fn, .arg = arg, .messages_left = max_messages, .bytes_left = BYTES_A_READ};
	struct epoll_event events[EVENTS_A_WAIT];
	const uint64_t now = clock_now_ns(); /* before anything that comes during this read */
	int n;

	sink.until_ns = now + INTAKE_TURN_NS / 2; /* the others have the other half */
	read_left_over(intake, &sink);
	sink.until_ns = now + INTAKE_TURN_NS;
	n = epoll_wait(intake->epoll_fd, events, EVENTS_A_WAIT, 0);
	for (int i = 0; i < n; i++) {
		struct connection *connection =
			map64_find(&intake->connections, events[i].data.u32);

		if (events[i].data.u32 == LISTEN_ID)
			accept_waiting(intake);
		else if (connection && !connection->is_ending)
			read_connection(intake, connection, &sink);
	}
	intake->has_more |= n == EVENTS_A_WAIT; /* more events may wait */
	if (!intake->has_more)
		intake->heard_ns = now;
	else if (intake->heard_ns + INTAKE_PATIENCE_NS < now)
		intake->heard_ns = now - INTAKE_PATIENCE_NS;
	end_silent(intake, now);
	remove_ended(intake, &sink);
	if (intake->accept_again_ns && now >= intake->accept_again_ns) {
		intake->accept_again_ns = 0;
		watch(intake, intake->listen_fd, LISTEN_ID, EPOLLIN, EPOLL_CTL_MOD);
	}
	return max_messages - sink.messages_left;
}

uint64_t intake_heard_ns(const struct intake *intake)
{
	return intake->heard_ns;
}

uint64_t intake_due_ns(const struct intake *intake)
{
	return intake->accept_again_ns;
}

bool intake_has_more(const struct intake *intake)
{
	return intake->has_more;
}

void intake_stats(const struct intake *intake, struct intake_stats *ret)
{
	*ret = intake->stats;
	ret->buffer_bytes = intake->buffers_bytes;
	ret->connection_bytes = intake->connections.count * heap_bytes(sizeof(struct connection)) +
				map64_bytes(&intake->connections);
	ret->sessions = intake->connections.count - intake->not_greeted;
}
