// SPDX-License-Identifier: Apache-2.0
/*
 * An nng PULL socket whose callbacks put what happened into one queue: a connection came, a message
 * arrived, a connection went. The reader takes the queue, keeps the sessions, checks sequence
 * numbers and hands on record by record. When the queue holds too many bytes, the next receive is
 * not started until the reader has caught up.
 */
#include "intake/intake.h"

#include "base/log.h"
#include "base/map64.h"
#include "base/process_stat.h"
#include "intake/listen.h"

#include <assert.h>
#include <errno.h>
#include <nng/nng.h>
#include <nng/protocol/pipeline0/pull.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define MAX_QUEUED_BYTES (16u << 20)

struct item {
	struct item *next;
	enum intake_kind kind;
	uint32_t pipe;
	pid_t pid;	      /* INTAKE_OPENED */
	uint64_t start_ticks; /* INTAKE_OPENED */
	nng_msg *msg;	      /* INTAKE_RECORD */
};

struct intake {
	nng_socket socket;
	nng_aio *aio;
	int event_fd;

	pthread_mutex_t lock; /* of what follows, up to the empty line */
	struct item *first, **last;
	size_t queued_bytes;
	size_t connections;
	bool is_stalled; /* no receive under way because of queued_bytes */
	bool is_closing;
	uint64_t refused, lost_items;

	struct map64 sessions; /* the reader's */
	struct intake_stats stats;
};

static void wake_reader(const struct intake *intake)
{
	const uint64_t one = 1;
	const ssize_t n = write(intake->event_fd, &one, sizeof(one));

	(void)n; /* the counter cannot overflow in practice, and then the reader is awake anyway */
}

/* Takes the item over; on no memory the message is freed and counted. */
static void enqueue(struct intake *intake, const struct item *what)
{
	struct item *item = malloc(sizeof(*item));

	pthread_mutex_lock(&intake->lock);
	if (item) {
		*item = *what;
		item->next = NULL;
		*intake->last = item;
		intake->last = &item->next;
		if (item->msg)
			intake->queued_bytes += nng_msg_len(item->msg);
	} else {
		intake->lost_items++;
	}
	pthread_mutex_unlock(&intake->lock);
	if (!item && what->msg)
		nng_msg_free(what->msg);
	wake_reader(intake);
}

static void on_message(void *arg)
{
	struct intake *intake = arg;
	struct item item = {.kind = INTAKE_RECORD};
	bool go_on;

	if (nng_aio_result(intake->aio) != 0)
		return; /* closing */
	item.msg = nng_aio_get_msg(intake->aio);
	item.pipe = (uint32_t)nng_pipe_id(nng_msg_get_pipe(item.msg));
	enqueue(intake, &item);
	pthread_mutex_lock(&intake->lock);
	go_on = intake->queued_bytes < MAX_QUEUED_BYTES && !intake->is_closing;
	intake->is_stalled = !go_on;
	pthread_mutex_unlock(&intake->lock);
	if (go_on)
		nng_recv_aio(intake->socket, intake->aio);
}

static bool count_connection(struct intake *intake)
{
	bool ok;

	pthread_mutex_lock(&intake->lock);
	ok = ++intake->connections <= INTAKE_MAX_SESSIONS; /* REM_POST follows in any case */
	if (!ok)
		intake->refused++;
	pthread_mutex_unlock(&intake->lock);
	return ok;
}

static void on_pipe(nng_pipe pipe, nng_pipe_ev event, void *arg)
{
	struct intake *intake = arg;
	struct item item = {.pipe = (uint32_t)nng_pipe_id(pipe)};
	uint64_t pid = 0;

	if (event == NNG_PIPE_EV_ADD_PRE) {
		if (!count_connection(intake))
			nng_pipe_close(pipe);
		return;
	}
	if (event == NNG_PIPE_EV_ADD_POST) {
		item.kind = INTAKE_OPENED;
		if (nng_pipe_get_uint64(pipe, NNG_OPT_IPC_PEER_PID, &pid) == 0)
			item.pid = (pid_t)pid;
		if (item.pid > 0)
			item.start_ticks = process_stat_start_ticks(item.pid);
		enqueue(intake, &item);
		return;
	}
	pthread_mutex_lock(&intake->lock);
	intake->connections--;
	pthread_mutex_unlock(&intake->lock);
	item.kind = INTAKE_CLOSED;
	enqueue(intake, &item);
}

/* -errno for nng's own error numbers. */
static int errno_of(int nng_err)
{
	if (nng_err & NNG_ESYSERR)
		return -(nng_err & ~NNG_ESYSERR);
	switch (nng_err) {
	case NNG_EADDRINUSE:
		return -EADDRINUSE;
	case NNG_EPERM:
		return -EACCES;
	case NNG_ENOMEM:
		return -ENOMEM;
	default:
		return -EIO;
	}
}

static int start_listening(struct intake *intake, const char *path)
{
	nng_listener listener;
	char url[160];
	int err;

	snprintf(url, sizeof(url), "ipc://%s", path);
	err = nng_listener_create(&listener, intake->socket, url);
	if (!err)
		err = nng_listener_set_int(listener, NNG_OPT_IPC_PERMISSIONS, 0666);
	if (!err)
		err = nng_listener_start(listener, 0);
	if (err)
		log_error("cannot listen on %s: %s: run as root, or choose another place with "
			  "--socket",
			  path, nng_strerror(err));
	return err ? errno_of(err) : 0;
}

static int open_socket(struct intake *intake)
{
	int err = nng_pull0_open(&intake->socket);

	if (!err)
		err = nng_socket_set_size(intake->socket, NNG_OPT_RECVMAXSZ,
					  WIRE_MESSAGE_MAX_BYTES);
	for (nng_pipe_ev ev = NNG_PIPE_EV_ADD_PRE; !err && ev <= NNG_PIPE_EV_REM_POST; ev++)
		err = nng_pipe_notify(intake->socket, ev, on_pipe, intake);
	if (!err)
		err = nng_aio_alloc(&intake->aio, on_message, intake);
	if (err) {
		log_error("cannot open an nng socket: %s", nng_strerror(err));
		return errno_of(err);
	}
	return 0;
}

int intake_open(const char *path, struct intake **ret)
{
	struct intake *intake = calloc(1, sizeof(*intake));
	int err;

	if (!intake)
		return -ENOMEM;
	intake->last = &intake->first;
	intake->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pthread_mutex_init(&intake->lock, NULL);
	err = intake->event_fd < 0 ? -errno : listen_prepare(path);
	if (!err)
		err = open_socket(intake);
	if (!err)
		err = start_listening(intake, path);
	if (err) {
		intake_close(intake);
		return err;
	}
	nng_recv_aio(intake->socket, intake->aio);
	*ret = intake;
	return 0;
}

static void free_items(struct item *item)
{
	while (item) {
		struct item *next = item->next;

		if (item->msg)
			nng_msg_free(item->msg);
		free(item);
		item = next;
	}
}

void intake_close(struct intake *intake)
{
	size_t pos = 0;
	uint64_t key;
	void *session;

	if (!intake)
		return;
	pthread_mutex_lock(&intake->lock);
	intake->is_closing = true;
	pthread_mutex_unlock(&intake->lock);
	if (intake->aio)
		nng_aio_stop(intake->aio);
	if (nng_socket_id(intake->socket) > 0)
		nng_close(intake->socket); /* waits for the callbacks, removes the socket file */
	nng_aio_free(intake->aio);
	free_items(intake->first);
	while (map64_next(&intake->sessions, &pos, &key, &session))
		free(session);
	map64_fini(&intake->sessions);
	if (intake->event_fd >= 0)
		close(intake->event_fd);
	pthread_mutex_destroy(&intake->lock);
	free(intake);
}

int intake_fd(const struct intake *intake)
{
	return intake->event_fd;
}

static struct item *dequeue(struct intake *intake)
{
	struct item *item;
	bool restart = false;

	pthread_mutex_lock(&intake->lock);
	item = intake->first;
	if (item) {
		intake->first = item->next;
		if (!intake->first)
			intake->last = &intake->first;
		if (item->msg)
			intake->queued_bytes -= nng_msg_len(item->msg);
	}
	if (intake->is_stalled && intake->queued_bytes < MAX_QUEUED_BYTES / 2) {
		intake->is_stalled = false;
		restart = true;
	}
	pthread_mutex_unlock(&intake->lock);
	if (restart)
		nng_recv_aio(intake->socket, intake->aio);
	return item;
}

static void open_session(struct intake *intake, const struct item *item, intake_fn fn, void *arg)
{
	struct intake_session *session = calloc(1, sizeof(*session));

	if (!session || map64_put(&intake->sessions, item->pipe, session) < 0) {
		free(session);
		intake_end_session(intake, item->pipe);
		return;
	}
	*session = (struct intake_session){
		.id = item->pipe, .pid = item->pid, .start_ticks = item->start_ticks};
	intake->stats.opened++;
	fn(arg, &(struct intake_event){.kind = INTAKE_OPENED, .session = session});
}

static void close_session(struct intake *intake, uint32_t id, intake_fn fn, void *arg)
{
	struct intake_session *session = map64_remove(&intake->sessions, id);

	if (!session)
		return;
	intake->stats.closed++;
	fn(arg, &(struct intake_event){.kind = INTAKE_CLOSED, .session = session});
	free(session);
}

/* The message cannot be trusted: what came before stands, the agent dials again. */
static void give_up_session(struct intake *intake, struct intake_session *session, int err)
{
	if (err == -EPROTONOSUPPORT) {
		intake->stats.other_version++;
		log_warning("the agent of PID %d speaks another version of the protocol: use the "
			    "agent that came with this collector",
			    (int)session->pid);
	} else {
		intake->stats.broken++;
		session->broken++;
		log_debug("PID %d sent a broken message", (int)session->pid);
	}
	intake_end_session(intake, session->id);
}

static void check_sequence(struct intake *intake, struct intake_session *session, uint64_t seq,
			   intake_fn fn, void *arg)
{
	if (seq != session->next_seq) {
		session->gaps++;
		intake->stats.gaps++;
		fn(arg, &(struct intake_event){.kind = INTAKE_GAP, .session = session});
	}
	session->next_seq = seq + 1;
}

static void read_message(struct intake *intake, const struct item *item, intake_fn fn, void *arg)
{
	struct intake_session *session = map64_find(&intake->sessions, item->pipe);
	struct intake_event event = {.kind = INTAKE_RECORD, .session = session};
	struct wire_message message;
	struct wire_reader reader;
	int n;

	if (!session)
		return; /* closed by us while this was on its way */
	session->messages++;
	session->bytes += nng_msg_len(item->msg);
	intake->stats.messages++;
	intake->stats.bytes += nng_msg_len(item->msg);
	n = wire_decode_message(nng_msg_body(item->msg), nng_msg_len(item->msg), &message);
	if (n < 0) {
		give_up_session(intake, session, n);
		return;
	}
	check_sequence(intake, session, message.seq, fn, arg);
	wire_reader_init(&reader, &message);
	while ((n = wire_reader_next(&reader, &event.record)) > 0)
		fn(arg, &event);
	if (n < 0)
		give_up_session(intake, session, n);
}

size_t intake_read(struct intake *intake, size_t max_messages, intake_fn fn, void *arg)
{
	uint64_t wakes;
	const ssize_t n = read(intake->event_fd, &wakes, sizeof(wakes));
	size_t taken = 0;
	struct item *item;

	(void)n; /* EAGAIN: nobody has woken us, look all the same */
	for (; taken < max_messages && (item = dequeue(intake)); taken++) {
		if (item->kind == INTAKE_OPENED)
			open_session(intake, item, fn, arg);
		else if (item->kind == INTAKE_CLOSED)
			close_session(intake, item->pipe, fn, arg);
		else
			read_message(intake, item, fn, arg);
		item->next = NULL;
		free_items(item);
	}
	if (taken == max_messages)
		wake_reader(intake);
	return taken;
}

void intake_end_session(struct intake *intake, uint32_t id)
{
	(void)intake;
	nng_pipe_close((nng_pipe){.id = id});
}

void intake_stats(const struct intake *intake, struct intake_stats *ret)
{
	struct intake *writable = (struct intake *)intake; /* for the lock only */

	*ret = intake->stats;
	ret->sessions = intake->sessions.count;
	pthread_mutex_lock(&writable->lock);
	ret->refused = intake->refused;
	ret->broken += intake->lost_items;
	pthread_mutex_unlock(&writable->lock);
}
