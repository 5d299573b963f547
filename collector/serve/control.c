// SPDX-License-Identifier: Apache-2.0
/*
 * The daemon's side of the control socket, see control.h. Each request is answered at once, but for
 * recordings, which start over several turns, for graphs, which a thread draws, and for lists,
 * which are made over several turns, too. Long answers are handed over as a descriptor of a memory
 * file, so the daemon never waits for a client.
 *
 * One file, because requests share the answers of clients that wait.
 */
#include "serve/control.h"

#include "base/clock.h"
#include "base/json_value.h"
#include "base/log.h"
#include "base/log_limit.h"
#include "guard/loop_clock.h"
#include "guard/peers.h"
#include "inspect/diagnose.h"
#include "intake/listen.h"
#include "capture/recording_capture.h"
#include "options/tables.h"
#include "render/render.h"
#include "sample/sampler.h"
#include "serve/drawing.h"
#include "serve/finishing.h"
#include "serve/listing.h"
#include "serve/request.h"
#include "serve/request_members.h"
#include "serve/starting.h"
#include "serve/status_json.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define MAX_CLIENTS    PEERS_MAX
#define EVENTS_A_WAIT  (MAX_CLIENTS + 3)
#define FINISH_STEP_NS (50 * CLOCK_NS_PER_MS)
#define START_NS       (5 * CLOCK_NS_PER_MS) /* of a turn, for searches */
#define LAST_WORDS_MS  200
#define ENDING	       "the daemon is ending: try again when it runs anew"

struct control {
	struct engine *engine;
	const struct daemon_counts *counts;
	const char *socket_path; /* path of the agents' socket */
	char *path;		 /* path of this socket; NULL until it is bound */
	int listen_fd;
	int epoll_fd;		    /* the data of a client is its descriptor */
	size_t clients;		    /* and those that peers are asked about */
	struct peers peers;	    /* who is not heard yet */
	struct drawing *drawings;   /* their clients wait */
	struct starting *startings; /* theirs too */
	struct listing *listings;   /* the first one is being made, the others wait */
	int drawn_fd;		    /* an eventfd: one of these goes on or is done */
	bool is_finishing;
};

void control_path(const char *socket_path, char *ret)
{
	const char *slash = strrchr(socket_path, '/');

	if (slash && slash != socket_path)
		snprintf(ret, PATH_MAX, "%.*s-control%s", (int)(slash - socket_path), socket_path,
			 slash);
	else
		snprintf(ret, PATH_MAX, "%s-control", socket_path);
}

static json_t *failure(const char *text)
{
	json_t *answer = json_object();

	json_object_set_new(answer, "error", json_value_new_text(text));
	return answer;
}

/* what: "cannot draw the graph". err is negative errno: -EMFILE is no matter of memory. */
static json_t *failure_of(const char *what, int err)
{
	char text[256];

	if (err == -EMFILE || err == -ENFILE)
		snprintf(text, sizeof(text),
			 "the daemon %s: %s. Raise LimitNOFILE of its unit, or ulimit -n", what,
			 strerror(-err));
	else
		snprintf(text, sizeof(text), "the daemon %s: %s", what, strerror(-err));
	return failure(text);
}

/* why: as request.h has it. */
static json_t *refusal(const char *why)
{
	char text[REQUEST_WHY_BYTES + 128];

	snprintf(text, sizeof(text),
		 "the daemon does not understand the request: %.*s. Use the fgcollect that the "
		 "daemon is of",
		 REQUEST_WHY_BYTES, why);
	return failure(text);
}

/* A member of a request that is none of an option. */
static json_t *refusal_of(const json_t *request, const char *key, const char *wanted)
{
	char why[REQUEST_WHY_BYTES];

	request_refuse(request, key, wanted, why);
	return refusal(why);
}

static json_t *success(void)
{
	json_t *answer = json_object();

	json_object_set_new(answer, "ok", json_true());
	return answer;
}

/* The client has to wait. Until its answer it is not heard. */
static void unhear(const struct control *control, int client)
{
	epoll_ctl(control->epoll_fd, EPOLL_CTL_DEL, client, NULL);
}

/* NULL: the answer comes when the list is made, after those that others have asked for. */
static json_t *do_list(struct control *control, const json_t *request, int client)
{
	struct recording_options options = {0};
	struct listing *listing, **end = &control->listings;
	char why[REQUEST_WHY_BYTES];
	int err;

	if (request_take_list(request, &options, why) < 0)
		return refusal(why);
	if (request_check(request, OPTIONS_OF_LIST, why))
		return failure(why);
	err = listing_begin(control->engine, control->counts, &options, control->drawn_fd,
			    &listing);
	if (err < 0)
		return failure_of("cannot make the list", err);
	listing->client = client;
	while (*end)
		end = &(*end)->next;
	*end = listing;
	unhear(control, client);
	eventfd_write(control->drawn_fd, 1); /* the list is begun in this turn or the next one */
	return NULL;
}

static bool has_capture(const struct control *control)
{
	for (const struct recording *r = control->engine->recordings; r; r = r->next) {
		if (r->watch)
			return true;
	}
	for (const struct starting *s = control->startings; s; s = s->next) {
		if (s->options.has_capture)
			return true;
	}
	return false;
}

static size_t count_recordings(const struct control *control)
{
	size_t n = control->engine->n_recordings;

	for (const struct starting *s = control->startings; s; s = s->next)
		n++;
	return n;
}

static json_t *start_failure(int err)
{
	char why[DIAGNOSE_BYTES];

	if (err == -EBUSY)
		return failure("the daemon makes as many recordings as it can already: wait for "
			       "one to end");
	snprintf(why, sizeof(why), "the daemon cannot sample: %s",
		 err != -ENOMEM && sampler_problem()[0] ? sampler_problem() : strerror(-err));
	return failure(why);
}

/* The answer to a client whose recording has started, or has not. */
static json_t *started(const struct recording *recording, const char *missing)
{
	json_t *const answer = success();

	json_object_set_new(answer, "id", json_integer(recording->id));
	if (missing[0])
		json_object_set_new(answer, "missing", json_value_new_text(missing));
	return answer;
}

/* NULL: the answer comes when the recording has started, or is not to start. */
static json_t *do_record(struct control *control, const json_t *request, int client)
{
	struct starting demand = {.engine = control->engine,
				  .socket_path = control->socket_path,
				  .wake_fd = control->drawn_fd,
				  .client = client};
	struct starting *starting, **end = &control->startings;
	char obstacle[BPF_LOAD_WHY_BYTES], why[BPF_LOAD_WHY_BYTES + REQUEST_WHY_BYTES];

	if (control->is_finishing)
		return failure(ENDING);
	if (request_take_record(request, &demand.options, why))
		return refusal(why);
	if (!request_is_flag(request, "may_wait"))
		return refusal_of(request, "may_wait", "true or false is needed");
	if (request_check(request, OPTIONS_OF_RECORD, why))
		return failure(why);
	if (demand.options.has_capture && has_capture(control))
		return failure("the daemon writes a capture already, and has memory for one at a "
			       "time: wait until it is done");
	if (demand.options.waits.is_asked && wait_source_check(obstacle) < 0) {
		snprintf(why, sizeof(why), "the daemon cannot look at short waits: %s", obstacle);
		return failure(why);
	}
	if (count_recordings(control) >= ENGINE_MAX_RECORDINGS)
		return start_failure(-EBUSY);
	demand.may_expect = json_value_bool(request, "may_wait");
	if (starting_begin(&demand, &starting) < 0)
		return start_failure(-ENOMEM);
	while (*end)
		end = &(*end)->next;
	*end = starting;
	unhear(control, client);
	eventfd_write(control->drawn_fd, 1); /* the search is begun in this turn or the next one */
	return NULL;
}

/* Whether the recording is the daemon's own. Clients can neither ask for it nor end it. */
static bool is_daemons(const struct recording *recording)
{
	return !recording->n_trees && !recording->window;
}

static struct recording *recording_of(struct control *control, const json_t *request)
{
	const json_int_t id = json_value_int(request, "id");
	struct recording *recording = NULL;

	if (id > 0 && id <= UINT32_MAX)
		recording = engine_find_recording(control->engine, (uint32_t)id);
	if (!recording || is_daemons(recording))
		return NULL;
	recording->asked_ns = loop_clock_now_ns();
	return recording;
}

static json_t *do_status(struct control *control, const struct recording *recording)
{
	struct recording_status status;
	json_t *answer;

	recording_status(recording, &control->engine->model, clock_now_ns(), &status);
	answer = status_to_json(&status);
	json_object_set_new(answer, "ok", json_true());
	return answer;
}

static int format_at(const json_t *request, enum render_format *ret)
{
	char name[64];

	snprintf(name, sizeof(name), "-%s", json_value_text(request, "suffix")); /* a name's end */
	return render_format_of(name, ret);
}

/*
 * Has a thread draw the graph of a recording that is over; NULL: the answer comes when the thread
 * is done.
 */
static json_t *do_render(struct control *control, struct recording *recording,
			 const json_t *request, int client)
{
	char why[REQUEST_WHY_BYTES];
	struct render_options options;
	enum render_format format;
	struct drawing *drawing;
	int err;

	if (!recording->n_trees)
		return failure("this recording keeps its last seconds alone: ask for its window");
	if (!recording->is_done)
		return failure("a graph is drawn when the recording is done");
	if (format_at(request, &format) < 0)
		return refusal_of(request, "suffix",
				  "the suffix of a format is needed, such as "
				  "svg or pb.gz");
	if (request_take_render(request, &options, why) < 0)
		return refusal(why);
	err = drawing_start(recording, request, format, control->drawn_fd, &drawing);
	if (err < 0)
		return failure_of("cannot draw the graph", err);
	recording->is_being_drawn = true;
	drawing->client = client;
	drawing->next = control->drawings;
	control->drawings = drawing;
	unhear(control, client);
	return NULL;
}

static int write_window(void *arg, FILE *stream)
{
	return recording_write_window(arg, stream);
}

static json_t *do_window(struct control *control, struct recording *recording, int *ret_fd)
{
	if (!recording->window)
		return failure("this recording has no window: it was not started by top");
	*ret_fd = drawing_bytes_of(write_window, recording);
	return *ret_fd < 0 ? failure_of("cannot hand over the window", *ret_fd)
			   : do_status(control, recording);
}

static json_t *do_capture(struct recording *recording, int *ret_fd)
{
	struct capture_counts counts;
	json_t *answer;

	if (!recording->is_done)
		return failure("the capture has no end before the recording is done");
	*ret_fd = recording_capture_end(recording, clock_now_ns(), &counts);
	if (*ret_fd == -ENOENT)
		return failure("this recording has no capture, or it was handed over");
	if (*ret_fd < 0)
		return failure_of("cannot write the capture", *ret_fd);
	answer = success();
	json_value_put_count(answer, "samples", counts.samples);
	json_value_put_count(answer, "left_out", counts.left_out);
	return answer;
}

/* The answer to the client; NULL: the answer comes later. */
static json_t *answer_to(struct control *control, const json_t *request, int client, int *ret_fd)
{
	const char *op = json_string_value(json_object_get(request, "op"));
	struct recording *recording;

	if (!op)
		return refusal_of(request, "op", "what is asked for is needed, such as list");
	if (strcmp(op, "list") == 0)
		return do_list(control, request, client);
	if (strcmp(op, "record") == 0)
		return do_record(control, request, client);
	recording = recording_of(control, request);
	if (!recording)
		return failure("the daemon does not know this recording: it was not asked for it "
			       "for too long, or was started again");
	if (recording->is_being_drawn)
		return failure("the graph of this recording is being drawn: wait until it is done");
	if (strcmp(op, "status") == 0)
		return do_status(control, recording);
	if (strcmp(op, "window") == 0)
		return do_window(control, recording, ret_fd);
	if (strcmp(op, "capture") == 0)
		return do_capture(recording, ret_fd);
	if (strcmp(op, "render") == 0)
		return do_render(control, recording, request, client);
	if (strcmp(op, "stop") == 0)
		recording_stop(recording, clock_now_ns());
	else if (strcmp(op, "end") == 0)
		engine_end_recording(control->engine, recording);
	else
		return refusal_of(request, "op",
				  "there are: list, record, status, window, capture, render, stop, "
				  "end");
	return success();
}

static int write_text(void *arg, FILE *stream)
{
	return fputs(arg, stream) < 0 ? -EIO : 0;
}

/*
 * Sends one message: the answer, or {} if the answer is too long and comes as bytes. fd >= 0: sends
 * the descriptor too.
 */
static bool send_answer(int client, const char *text, int fd)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} ancillary = {0};
	struct iovec part = {.iov_base = (void *)(uintptr_t)text, .iov_len = strlen(text)};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

	if (fd >= 0) {
		struct cmsghdr *header;

		message.msg_control = ancillary.bytes;
		message.msg_controllen = sizeof(ancillary.bytes);
		header = CMSG_FIRSTHDR(&message);
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(header), &fd, sizeof(fd));
	}
	return sendmsg(client, &message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
}

/*
 * Sends the answer. A client that does not take the answer is dropped, because nothing here waits
 * for a client.
 */
static bool reply_text(int client, char *text, int fd)
{
	bool ok = false;

	if (text && fd < 0 && strlen(text) > CONTROL_MAX_MESSAGE_BYTES) {
		fd = drawing_bytes_of(write_text, text);
		ok = fd >= 0 && send_answer(client, "{}", fd);
	} else if (text) {
		ok = send_answer(client, text, fd);
	}
	if (fd >= 0)
		close(fd);
	free(text);
	return ok;
}

static char *text_of(json_t *answer)
{
	char *const text = json_dumps(answer, JSON_COMPACT);

	json_decref(answer);
	return text;
}

static bool reply(int client, json_t *answer, int fd)
{
	return reply_text(client, text_of(answer), fd);
}

static void drop_client(struct control *control, int client)
{
	close(client); /* also takes the client out of the epoll set */
	control->clients--;
}

static void serve(struct control *control, int client)
{
	char request_text[CONTROL_MAX_MESSAGE_BYTES];
	const ssize_t len = recv(client, request_text, sizeof(request_text), MSG_DONTWAIT);
	json_t *request, *answer;
	int fd = -1;

	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (len <= 0) {
		drop_client(control, client);
		return;
	}
	request = json_loadb(request_text, (size_t)len, 0, NULL);
	answer = answer_to(control, request, client, &fd);
	json_decref(request);
	if (answer && !reply(client, answer, fd))
		drop_client(control, client);
}

/* Answers a client that had to wait, and listens to the client again. False: the client is gone. */
static bool answer_late(struct control *control, int client, char *text, int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = client};

	if (reply_text(client, text, fd) &&
	    epoll_ctl(control->epoll_fd, EPOLL_CTL_ADD, client, &event) == 0)
		return true;
	drop_client(control, client);
	return false;
}

/* Hands a graph over to the client that asked for it. */
static void hand_over(struct control *control, struct drawing *drawing)
{
	struct recording *const recording = drawing->recording;
	const int client = drawing->client, fd = drawing_end(drawing);
	json_t *const answer = fd < 0 ? failure_of("cannot draw the graph", fd) : success();

	recording->is_being_drawn = false;
	recording->asked_ns = loop_clock_now_ns();
	answer_late(control, client, text_of(answer), fd < 0 ? -1 : fd);
}

static void take_drawings(struct control *control)
{
	for (struct drawing **link = &control->drawings, *drawing; (drawing = *link);) {
		if (!drawing_is_done(drawing)) {
			link = &drawing->next;
			continue;
		}
		*link = drawing->next;
		hand_over(control, drawing);
	}
}

static json_t *expects(void)
{
	json_t *const answer = success();

	json_object_set_new(answer, "wait", json_true());
	return answer;
}

/* Starts the recording. */
static json_t *start(struct control *control, struct starting *starting, struct recording **ret)
{
	const bool has_capture = starting->options.has_capture;
	char missing[DIAGNOSE_BYTES];
	int err;

	memcpy(missing, starting->message, sizeof(missing));
	err = starting_end(starting, control->is_finishing ? NULL : ret);
	if (*ret) {
		(*ret)->asked_ns = loop_clock_now_ns();
		return started(*ret, missing);
	}
	if (!err)
		return failure(ENDING);
	if (err == -ENOMEM && has_capture)
		return failure_of("cannot write a capture", err);
	return start_failure(err);
}

/* Answers a client whose recording can start now, or is not to start. */
static void answer_start(struct control *control, struct starting *starting,
			 enum starting_state state)
{
	const int client = starting->client;
	struct recording *recording = NULL;
	json_t *answer;

	if (state == STARTING_OPENED) {
		answer = start(control, starting, &recording);
	} else {
		answer = state == STARTING_EXPECTS   ? expects()
			 : state == STARTING_REFUSED ? failure(starting->message)
						     : start_failure(starting->error);
		starting_end(starting, NULL);
	}
	if (!answer_late(control, client, text_of(answer), -1) && recording)
		engine_end_recording(control->engine, recording);
}

/* Goes on with all that starts, one client after the other, for START_NS in all. */
static void take_startings(struct control *control)
{
	const uint64_t until_ns = clock_now_ns() + START_NS;
	bool goes_on = false;

	for (struct starting **link = &control->startings, *starting; (starting = *link);) {
		enum starting_state state;

		if (clock_now_ns() >= until_ns) {
			goes_on = true;
			break;
		}
		state = starting_step(starting, until_ns);
		if (state == STARTING_GOES_ON || state == STARTING_SLEEPS) {
			goes_on |= state == STARTING_GOES_ON;
			link = &starting->next;
			continue;
		}
		*link = starting->next;
		answer_start(control, starting, state);
	}
	if (goes_on)
		eventfd_write(control->drawn_fd, 1);
}

/* Goes on with the first list. The others wait, so that there is memory for one at a time. */
static void take_listings(struct control *control)
{
	struct listing *const listing = control->listings;
	int client;

	if (!listing)
		return;
	if (!listing_step(listing, control->socket_path)) {
		eventfd_write(control->drawn_fd, 1); /* goes on in the next turn */
		return;
	}
	if (!listing_is_done(listing))
		return;
	client = listing->client;
	control->listings = listing->next;
	answer_late(control, client, listing_end(listing), -1);
	if (control->listings)
		eventfd_write(control->drawn_fd, 1);
}

static void take_done(struct control *control)
{
	eventfd_t count;

	eventfd_read(control->drawn_fd, &count);
	take_drawings(control);
	take_startings(control);
	take_listings(control);
}

static void say_refused(pid_t pid, uid_t uid, const char *why)
{
	static struct log_limit limit;

	if (log_limit_allows(&limit, uid, clock_now_ns()))
		log_warning("refused PID %d at the control socket: %s", (int)pid, why);
}

/* What the client has said is read first: an answer is lost with what is left unread. */
static void refuse_silent(struct control *control, int client, pid_t pid)
{
	char request[1];

	(void)!recv(client, request, sizeof(request), MSG_DONTWAIT);
	reply(client,
	      failure("the daemon was not told in time whether this process is in a container, "
		      "because other processes do not answer: try again"),
	      -1);
	drop_client(control, client);
	say_refused(pid, geteuid(), "it did not answer in time whether it is in a container");
}

/* Listens to those of whom it is known that they may be heard. */
static void take_peers(struct control *control)
{
	enum peers_verdict verdict;
	pid_t pid;
	int client;

	while ((client = peers_next(&control->peers, loop_clock_now_ns(), &verdict, &pid)) >= 0) {
		struct epoll_event event = {.events = EPOLLIN, .data.fd = client};

		if (verdict == PEERS_WELCOME &&
		    epoll_ctl(control->epoll_fd, EPOLL_CTL_ADD, client, &event) == 0)
			continue;
		control->engine->refused_clients++;
		if (verdict == PEERS_SILENT) {
			refuse_silent(control, client, pid);
			continue;
		}
		drop_client(control, client);
		if (verdict == PEERS_IN_CONTAINER)
			say_refused(pid, geteuid(), "it is in a container");
	}
}

static void take_client(struct control *control, int client)
{
	struct ucred cred = {0};
	socklen_t len = sizeof(cred);
	const int err = peers_ask(&control->peers, client, loop_clock_now_ns());

	if (!err) {
		control->clients++;
		return;
	}
	control->engine->refused_clients++;
	if (err == -EACCES && getsockopt(client, SOL_SOCKET, SO_PEERCRED, &cred, &len) == 0)
		say_refused(cred.pid, cred.uid, "it is another user's");
	close(client);
}

static void accept_all(struct control *control)
{
	for (;;) {
		const int fd =
			accept4(control->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
			continue;
		if (fd < 0)
			return;
		control->engine->refused_clients += control->clients >= MAX_CLIENTS;
		if (control->clients >= MAX_CLIENTS)
			close(fd);
		else
			take_client(control, fd);
	}
}

static int ready_fd(const void *arg)
{
	const struct control *const control = arg;

	return control->epoll_fd;
}

static void on_ready(void *arg)
{
	struct control *control = arg;
	struct epoll_event events[EVENTS_A_WAIT];
	const int n = epoll_wait(control->epoll_fd, events, EVENTS_A_WAIT, 0);

	for (int i = 0; i < n; i++) {
		if (events[i].data.fd == control->listen_fd)
			accept_all(control);
		else if (events[i].data.fd == control->drawn_fd)
			take_done(control);
		else if (events[i].data.fd == control->peers.timer_fd)
			take_peers(control);
		else
			serve(control, events[i].data.fd);
	}
}

/* Whoever starts and waits for names of JVMs goes on. */
static void on_named(void *arg)
{
	const struct control *const control = arg;

	eventfd_write(control->drawn_fd, 1);
}

static int start_listening(struct control *control, const char *path)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	struct epoll_event event = {.events = EPOLLIN};
	mode_t mask;
	int err;

	control->listen_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	control->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	control->drawn_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (control->listen_fd < 0 || control->epoll_fd < 0 || control->drawn_fd < 0)
		return -errno;
	err = peers_open(&control->peers);
	if (err < 0)
		return err;
	memcpy(addr.sun_path, path, strlen(path) + 1);
	mask = umask(0177); /* mode 0600 from the start */
	err = bind(control->listen_fd, (const struct sockaddr *)&addr, sizeof(addr));
	umask(mask);
	if (err < 0)
		return -errno;
	control->path = strdup(path);
	if (!control->path)
		return -ENOMEM;
	event.data.fd = control->drawn_fd;
	if (epoll_ctl(control->epoll_fd, EPOLL_CTL_ADD, control->drawn_fd, &event) < 0)
		return -errno;
	event.data.fd = control->peers.timer_fd;
	if (epoll_ctl(control->epoll_fd, EPOLL_CTL_ADD, control->peers.timer_fd, &event) < 0)
		return -errno;
	event.data.fd = control->listen_fd;
	if (listen(control->listen_fd, MAX_CLIENTS) < 0 ||
	    epoll_ctl(control->epoll_fd, EPOLL_CTL_ADD, control->listen_fd, &event) < 0)
		return -errno;
	return 0;
}

int control_open(struct engine *engine, const char *socket_path, const struct daemon_counts *counts,
		 struct control **ret)
{
	struct control *control = calloc(1, sizeof(*control));
	char path[PATH_MAX];
	int err;

	if (!control)
		return -ENOMEM;
	*control = (struct control){.engine = engine,
				    .socket_path = socket_path,
				    .counts = counts,
				    .listen_fd = -1,
				    .epoll_fd = -1,
				    .drawn_fd = -1,
				    .peers = {.timer_fd = -1}};
	control_path(socket_path, path);
	err = listen_prepare(path, "--socket");
	if (!err) {
		err = start_listening(control, path);
		if (err)
			log_error("cannot listen on %s: %s", path, strerror(-err));
	}
	if (err) {
		control_close(control);
		return err;
	}
	engine_add_part(engine, &(struct part){.stage = TURN_CONTROL,
					       .fd = ready_fd,
					       .ready = on_ready,
					       .arg = control});
	engine->targets.on_named = on_named;
	engine->targets.on_named_arg = control;
	*ret = control;
	return 0;
}

/* Ends the clients' recordings. Samples until now are kept; a recording of top has none to keep. */
static void end_recordings(struct engine *engine)
{
	struct recording *next;

	for (struct recording *r = engine->recordings; r; r = next) {
		next = r->next;
		if (is_daemons(r) || r->is_being_drawn)
			continue;
		if (r->window)
			engine_end_recording(engine, r);
		else
			recording_stop(r, clock_now_ns());
	}
}

static bool has_unfetched(const struct engine *engine)
{
	bool has = false;

	for (const struct recording *r = engine->recordings; r; r = r->next)
		has |= !is_daemons(r) && r->asked_ns;
	return has;
}

static bool is_awaited(const struct control *control, uint64_t begun_ns)
{
	struct finishing finishing = {.begun_ns = begun_ns,
				      .is_busy = control->drawings || control->startings ||
						 control->listings};

	for (const struct recording *r = control->engine->recordings; r; r = r->next) {
		if (!is_daemons(r) && r->asked_ns > finishing.asked_ns)
			finishing.asked_ns = r->asked_ns;
	}
	return finishing_goes_on(&finishing, loop_clock_now_ns());
}

void control_finish(struct control *control)
{
	const uint64_t begun_ns = loop_clock_now_ns();

	control->is_finishing = control->engine->model.is_ending = true;
	if (control->clients == 0)
		return;
	end_recordings(control->engine);
	while (control->clients > 0 && is_awaited(control, begun_ns))
		engine_step(control->engine, FINISH_STEP_NS);
	if (has_unfetched(control->engine))
		log_warning("a recording was asked for and not fetched in time: it is lost");
	/* Clients end with the container. Their last output is still on the way. */
	poll(NULL, 0, LAST_WORDS_MS);
}

void control_close(struct control *control)
{
	if (!control)
		return;
	engine_remove_part(control->engine, control);
	control->engine->targets.on_named = NULL;
	for (struct drawing *drawing; (drawing = control->drawings);) {
		control->drawings = drawing->next;
		close(drawing_end(drawing)); /* nobody waits for the graph any more */
	}
	for (struct starting *starting; (starting = control->startings);) {
		control->startings = starting->next;
		starting_end(starting, NULL);
	}
	for (struct listing *listing; (listing = control->listings);) {
		control->listings = listing->next;
		free(listing_end(listing));
	}
	worker_wait(control->engine->worker); /* they write to drawn_fd */
	peers_close(&control->peers);
	if (control->drawn_fd >= 0)
		close(control->drawn_fd);
	if (control->path)
		unlink(control->path);
	free(control->path);
	if (control->listen_fd >= 0)
		close(control->listen_fd);
	if (control->epoll_fd >= 0)
		close(control->epoll_fd);
	free(control); /* clients' descriptors are closed when the process ends */
}
