// SPDX-License-Identifier: Apache-2.0
/*
 * The daemon's side of the control socket, see control.h. Each request is answered at once. Long
 * answers are handed over as a descriptor of a memory file, so the daemon never waits for a client.
 */
#include "serve/control.h"

#include "base/clock.h"
#include "base/json_value.h"
#include "base/log.h"
#include "base/log_limit.h"
#include "base/mount_namespace.h"
#include "inspect/diagnose.h"
#include "inspect/jvm_list.h"
#include "intake/listen.h"
#include "capture/recording_capture.h"
#include "render/render.h"
#include "sample/sampler.h"
#include "serve/newcomers.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define MAX_CLIENTS    32
#define EVENTS_A_WAIT  (MAX_CLIENTS + 1)
#define FINISH_STEP_NS (50 * CLOCK_NS_PER_MS)
#define LAST_WORDS_MS  200

struct control {
	struct engine *engine;
	const char *socket_path; /* path of the agents' socket */
	char *path;		 /* path of this socket; NULL until it is bound */
	int listen_fd;
	int epoll_fd; /* the data of a client is its descriptor */
	size_t clients;
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

static bool is_allowed(int fd)
{
	static struct log_limit limit;
	struct ucred cred;
	socklen_t len = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0)
		return false;
	/* A process in a container sees other files than this process. */
	if ((cred.uid == 0 || cred.uid == geteuid()) &&
	    mount_namespace_is_other(cred.pid, NULL) == 0)
		return true;
	if (log_limit_allows(&limit, clock_now_ns()))
		log_warning("refused PID %d at the control socket: it is another user's, or in a "
			    "container",
			    (int)cred.pid);
	return false;
}

static json_t *failure(const char *text)
{
	json_t *answer = json_object();

	json_object_set_new(answer, "error", json_value_new_text(text));
	return answer;
}

static json_t *success(void)
{
	json_t *answer = json_object();

	json_object_set_new(answer, "ok", json_true());
	return answer;
}

static json_t *do_list(struct control *control, const json_t *request)
{
	struct targets *targets = &control->engine->targets;
	struct recording_options options = {0};
	struct engine_stats stats;
	char why[DIAGNOSE_BYTES];
	json_t *list, *answer;

	if (control_targets_from_json(request, &options) < 0)
		return failure("the daemon does not understand the options: use the fgcollect "
			       "that the daemon is of");
	engine_stats(control->engine, &stats);
	list = jvm_list_to_json(targets, &stats);
	if (jvm_list_select(list, &options, targets, control->socket_path, why) < 0) {
		json_decref(list);
		return failure(why);
	}
	answer = success();
	json_object_set_new(answer, "list", list);
	return answer;
}

/*
 * Whether a later request may have another answer. If so, all that can be done for that is started.
 */
static bool is_worth_waiting(struct control *control, const struct recording_options *options)
{
	const int err =
		diagnose_targets(options, &control->engine->targets, control->socket_path, NULL);

	return err && err != -ENOTUNIQ && newcomers_expect(control->engine, options) > 0;
}

static bool has_capture(const struct engine *engine)
{
	for (const struct recording *r = engine->recordings; r; r = r->next) {
		if (r->watch)
			return true;
	}
	return false;
}

static json_t *do_record(struct control *control, const json_t *request)
{
	struct recording_options options;
	struct recording *recording;
	char why[DIAGNOSE_BYTES], missing[DIAGNOSE_BYTES];
	json_t *answer;
	int err = control_options_from_json(request, &options);

	if (control->is_finishing)
		return failure("the daemon is ending: try again when it runs anew");
	if (err)
		return failure("the daemon does not understand the options: use the fgcollect "
			       "that the daemon is of");
	if (json_value_bool(request, "may_wait") && is_worth_waiting(control, &options)) {
		answer = success();
		json_object_set_new(answer, "wait", json_true());
		return answer;
	}
	if (options.has_capture && has_capture(control->engine))
		return failure("the daemon writes a capture already, and has memory for one at a "
			       "time: wait until it is done");
	err = diagnose_targets(&options, &control->engine->targets, control->socket_path, missing);
	if (err)
		return failure(missing);
	err = engine_start_recording(control->engine, &options, NULL, &recording);
	if (err == -EBUSY)
		return failure("the daemon makes as many recordings as it can already: wait for "
			       "one to end");
	if (err) {
		snprintf(why, sizeof(why), "the daemon cannot sample: %s",
			 err != -ENOMEM && sampler_problem()[0] ? sampler_problem()
								: strerror(-err));
		return failure(why);
	}
	if (options.has_capture &&
	    recording_capture_start(recording, &control->engine->model) < 0) {
		engine_end_recording(control->engine, recording);
		return failure("the daemon cannot write a capture: it is out of memory");
	}
	recording->asked_ns = clock_now_ns();
	answer = success();
	json_object_set_new(answer, "id", json_integer(recording->id));
	if (missing[0])
		json_object_set_new(answer, "missing", json_value_new_text(missing));
	return answer;
}

/* Whether the recording is the daemon's own. Clients can neither ask for it nor end it. */
static bool is_daemons(const struct recording *recording)
{
	return !recording->tree && !recording->window;
}

static struct recording *recording_of(struct control *control, const json_t *request)
{
	const json_int_t id = json_value_int(request, "id");
	struct recording *recording = engine_find_recording(control->engine, (uint32_t)id);

	if (!recording || is_daemons(recording))
		return NULL;
	recording->asked_ns = clock_now_ns();
	return recording;
}

static json_t *do_status(struct control *control, const struct recording *recording)
{
	struct recording_status status;
	json_t *answer;

	recording_status(recording, &control->engine->model, clock_now_ns(), &status);
	answer = control_status_to_json(&status);
	json_object_set_new(answer, "ok", json_true());
	return answer;
}

/* Returns a descriptor of the bytes that write_bytes has written, or -1. */
static int bytes_of(int (*write_bytes)(void *arg, FILE *stream), void *arg)
{
	const int fd = memfd_create("fgcollect", MFD_CLOEXEC);
	const int writer = fd < 0 ? -1 : dup(fd);
	FILE *stream = writer < 0 ? NULL : fdopen(writer, "w");
	int err;

	if (!stream) {
		if (writer >= 0)
			close(writer);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	err = write_bytes(arg, stream);
	if (fclose(stream) == 0 && !err)
		return fd;
	close(fd);
	return -1;
}

struct graph {
	struct recording *recording;
	enum render_format format;
	struct render_options options;
};

static int write_graph(void *arg, FILE *stream)
{
	const struct graph *graph = arg;

	return recording_render(graph->recording, graph->format, &graph->options, stream);
}

static int format_at(const json_t *request, enum render_format *ret)
{
	char name[64];

	snprintf(name, sizeof(name), "-%s", json_value_text(request, "suffix")); /* a name's end */
	return render_format_of(name, ret);
}

static json_t *do_render(struct recording *recording, const json_t *request, int *ret_fd)
{
	struct graph graph = {
		.recording = recording,
		.options = {.title = json_string_value(json_object_get(request, "title")),
			    .subtitle = json_string_value(json_object_get(request, "subtitle")),
			    .notes = json_string_value(json_object_get(request, "notes")),
			    .splits_levels = json_value_bool(request, "split_levels"),
			    .java_only = json_value_bool(request, "java_only"),
			    .folds_frameworks = json_value_bool(request, "fold_frameworks"),
			    .shows_starts = json_value_bool(request, "thread_starts")},
	};

	if (!recording->tree)
		return failure("this recording keeps its last seconds alone: ask for its window");
	if (format_at(request, &graph.format) < 0)
		return failure("the daemon does not know this format: use the fgcollect that the "
			       "daemon is of");
	*ret_fd = bytes_of(write_graph, &graph);
	recording->asked_ns = clock_now_ns(); /* after drawing, which may take long */
	return *ret_fd < 0 ? failure("the daemon cannot draw the graph: it is out of memory")
			   : success();
}

static int write_window(void *arg, FILE *stream)
{
	return recording_write_window(arg, stream);
}

static json_t *do_window(struct control *control, struct recording *recording, int *ret_fd)
{
	if (!recording->window)
		return failure("this recording has no window: it was not started by top");
	*ret_fd = bytes_of(write_window, recording);
	return *ret_fd < 0 ? failure("the daemon cannot hand over the window: it is out of memory")
			   : do_status(control, recording);
}

static json_t *do_capture(struct recording *recording, int *ret_fd)
{
	struct capture_counts counts;
	json_t *answer;

	if (!recording->is_done)
		return failure("the capture has no end before the recording is done");
	*ret_fd = recording_capture_end(recording, clock_now_ns(), &counts);
	if (*ret_fd < 0)
		return failure(
			*ret_fd == -ENOENT
				? "this recording has no capture, or it was handed over"
				: "the daemon cannot write the capture: it is out of memory");
	answer = success();
	json_value_put_count(answer, "samples", counts.samples);
	json_value_put_count(answer, "left_out", counts.left_out);
	return answer;
}

static json_t *answer_to(struct control *control, const json_t *request, int *ret_fd)
{
	const char *op = json_string_value(json_object_get(request, "op"));
	struct recording *recording;

	if (!op)
		return failure("not a request");
	if (strcmp(op, "list") == 0)
		return do_list(control, request);
	if (strcmp(op, "record") == 0)
		return do_record(control, request);
	recording = recording_of(control, request);
	if (!recording)
		return failure("the daemon does not know this recording: it was not asked for it "
			       "for too long, or was started again");
	if (strcmp(op, "status") == 0)
		return do_status(control, recording);
	if (strcmp(op, "window") == 0)
		return do_window(control, recording, ret_fd);
	if (strcmp(op, "capture") == 0)
		return do_capture(recording, ret_fd);
	if (strcmp(op, "render") == 0)
		return do_render(recording, request, ret_fd);
	if (strcmp(op, "stop") == 0)
		recording_stop(recording, clock_now_ns());
	else if (strcmp(op, "end") == 0)
		engine_end_recording(control->engine, recording);
	else
		return failure("the daemon does not know this request: use the fgcollect that the "
			       "daemon is of");
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
static bool reply(int client, json_t *answer, int fd)
{
	char *text = json_dumps(answer, JSON_COMPACT);
	bool ok = false;

	json_decref(answer);
	if (text && fd < 0 && strlen(text) > CONTROL_MAX_MESSAGE_BYTES) {
		fd = bytes_of(write_text, text);
		ok = fd >= 0 && send_answer(client, "{}", fd);
	} else if (text) {
		ok = send_answer(client, text, fd);
	}
	if (fd >= 0)
		close(fd);
	free(text);
	return ok;
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
	answer = answer_to(control, request, &fd);
	json_decref(request);
	if (!reply(client, answer, fd))
		drop_client(control, client);
}

static void accept_all(struct control *control)
{
	for (;;) {
		const int fd =
			accept4(control->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

		if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
			continue;
		if (fd < 0)
			return;
		control->engine->refused_clients += control->clients >= MAX_CLIENTS;
		if (control->clients >= MAX_CLIENTS || !is_allowed(fd) ||
		    epoll_ctl(control->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0)
			close(fd);
		else
			control->clients++;
	}
}

static void on_ready(void *arg)
{
	struct control *control = arg;
	struct epoll_event events[EVENTS_A_WAIT];
	const int n = epoll_wait(control->epoll_fd, events, EVENTS_A_WAIT, 0);

	for (int i = 0; i < n; i++) {
		if (events[i].data.fd == control->listen_fd)
			accept_all(control);
		else
			serve(control, events[i].data.fd);
	}
}

static int start_listening(struct control *control, const char *path)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	struct epoll_event event = {.events = EPOLLIN};
	mode_t mask;
	int err;

	control->listen_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	control->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (control->listen_fd < 0 || control->epoll_fd < 0)
		return -errno;
	memcpy(addr.sun_path, path, strlen(path) + 1);
	mask = umask(0177); /* mode 0600 from the start */
	err = bind(control->listen_fd, (const struct sockaddr *)&addr, sizeof(addr));
	umask(mask);
	if (err < 0)
		return -errno;
	control->path = strdup(path);
	if (!control->path)
		return -ENOMEM;
	event.data.fd = control->listen_fd;
	if (listen(control->listen_fd, MAX_CLIENTS) < 0 ||
	    epoll_ctl(control->epoll_fd, EPOLL_CTL_ADD, control->listen_fd, &event) < 0)
		return -errno;
	return 0;
}

int control_open(struct engine *engine, const char *socket_path, struct control **ret)
{
	struct control *control = calloc(1, sizeof(*control));
	char path[PATH_MAX];
	int err;

	if (!control)
		return -ENOMEM;
	*control = (struct control){
		.engine = engine, .socket_path = socket_path, .listen_fd = -1, .epoll_fd = -1};
	control_path(socket_path, path);
	err = listen_prepare(path);
	if (!err) {
		err = start_listening(control, path);
		if (err)
			log_error("cannot listen on %s: %s", path, strerror(-err));
	}
	if (err) {
		control_close(control);
		return err;
	}
	engine->control =
		(struct engine_fd){.fd = control->epoll_fd, .ready = on_ready, .arg = control};
	*ret = control;
	return 0;
}

/* Ends the clients' recordings. Samples until now are kept; a recording of top has none to keep. */
static void end_recordings(struct engine *engine)
{
	struct recording *next;

	for (struct recording *r = engine->recordings; r; r = next) {
		next = r->next;
		if (is_daemons(r))
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

void control_finish(struct control *control, uint64_t patience_ns)
{
	const uint64_t until_ns = clock_now_ns() + patience_ns;

	control->is_finishing = true;
	if (control->clients == 0)
		return;
	end_recordings(control->engine);
	while (control->clients > 0 && clock_now_ns() < until_ns)
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
	control->engine->control = (struct engine_fd){.fd = -1};
	if (control->path)
		unlink(control->path);
	free(control->path);
	if (control->listen_fd >= 0)
		close(control->listen_fd);
	if (control->epoll_fd >= 0)
		close(control->epoll_fd);
	free(control); /* clients' descriptors are closed when the process ends */
}
