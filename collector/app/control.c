// SPDX-License-Identifier: Apache-2.0
/* The daemon's side of the control socket, see control.h. Each request is answered at once. */
#include "app/control.h"

#include "app/diagnose.h"
#include "app/jvm_list.h"
#include "base/clock.h"
#include "base/log.h"
#include "intake/listen.h"
#include "render/render.h"

#include <errno.h>
#include <nng/nng.h>
#include <nng/protocol/reqrep0/rep.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_REQUEST_BYTES (64u << 10)

struct control {
	nng_socket socket;
	struct engine *engine;
	const char *socket_path; /* the agents' */
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

/* Whether that process sees the same files as this one: inside a container none does. */
static bool is_same_mount_namespace(pid_t pid)
{
	struct stat ours, theirs;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)pid);
	return stat("/proc/self/ns/mnt", &ours) == 0 && stat(path, &theirs) == 0 &&
	       ours.st_ino == theirs.st_ino && ours.st_dev == theirs.st_dev;
}

/* Asked for each request: a pipe's peer cannot be asked for before the pipe is started. */
static bool is_allowed(nng_pipe pipe)
{
	uint64_t pid = 0, uid = UINT64_MAX;

	if (nng_pipe_get_uint64(pipe, NNG_OPT_IPC_PEER_PID, &pid) == 0 &&
	    nng_pipe_get_uint64(pipe, NNG_OPT_IPC_PEER_UID, &uid) == 0 &&
	    (uid == 0 || uid == geteuid()) && is_same_mount_namespace((pid_t)pid))
		return true;
	log_warning("refused a request of PID %d: it is another user's, or in a container",
		    (int)pid);
	return false;
}

static json_t *failure(const char *text)
{
	json_t *answer = json_object();

	json_object_set_new(answer, "error", json_string(text));
	return answer;
}

static json_t *success(void)
{
	json_t *answer = json_object();

	json_object_set_new(answer, "ok", json_true());
	return answer;
}

static json_t *do_list(struct control *control)
{
	json_t *answer = success();

	json_object_set_new(answer, "jvms", jvm_list_to_json(&control->engine->targets));
	return answer;
}

static json_t *do_record(struct control *control, const json_t *request)
{
	struct recording_options options;
	struct recording *recording;
	char why[DIAGNOSE_BYTES];
	json_t *answer;
	int err = control_options_from_json(request, &options);

	if (err)
		return failure("the daemon does not understand the options: use the fgcollect "
			       "that the daemon is of");
	err = diagnose_targets(&options, &control->engine->targets, control->socket_path, why);
	if (err)
		return failure(why);
	err = engine_start_recording(control->engine, &options, &recording);
	if (err == -EBUSY)
		return failure("the daemon makes as many recordings as it can already: wait for "
			       "one to end");
	if (err)
		return failure("the daemon cannot sample: its log says why");
	recording->asked_ns = clock_now_ns();
	answer = success();
	json_object_set_new(answer, "id", json_integer(recording->id));
	return answer;
}

static struct recording *recording_of(struct control *control, const json_t *request)
{
	const json_int_t id = json_integer_value(json_object_get(request, "id"));
	struct recording *recording = engine_find_recording(control->engine, (uint32_t)id);

	if (recording)
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

/* The graph's bytes into *ret_bytes, which the caller frees. */
static json_t *do_render(const struct recording *recording, const json_t *request,
			 char **ret_bytes, size_t *ret_len)
{
	const struct render_options options = {
		.title = json_string_value(json_object_get(request, "title")),
		.subtitle = json_string_value(json_object_get(request, "subtitle")),
		.notes = json_string_value(json_object_get(request, "notes")),
	};
	const json_int_t format = json_integer_value(json_object_get(request, "format"));
	FILE *stream = open_memstream(ret_bytes, ret_len);
	int err;

	if (!stream)
		return failure("the daemon is out of memory");
	err = render_write(&recording->profile, (enum render_format)format, &options, stream);
	if (fclose(stream) != 0 && !err)
		err = -errno;
	if (!err)
		return success();
	free(*ret_bytes);
	*ret_bytes = NULL;
	return failure(strerror(-err));
}

static json_t *answer_to(struct control *control, const json_t *request, char **ret_bytes,
			 size_t *ret_len)
{
	const char *op = json_string_value(json_object_get(request, "op"));
	struct recording *recording;

	if (!op)
		return failure("not a request");
	if (strcmp(op, "list") == 0)
		return do_list(control);
	if (strcmp(op, "record") == 0)
		return do_record(control, request);
	recording = recording_of(control, request);
	if (!recording)
		return failure("the daemon does not know this recording: it was not asked for it "
			       "for too long, or was started again");
	if (strcmp(op, "status") == 0)
		return do_status(control, recording);
	if (strcmp(op, "render") == 0)
		return do_render(recording, request, ret_bytes, ret_len);
	if (strcmp(op, "stop") == 0)
		recording_stop(recording, clock_now_ns());
	else if (strcmp(op, "end") == 0)
		engine_end_recording(control->engine, recording);
	else
		return failure("the daemon does not know this request: use the fgcollect that the "
			       "daemon is of");
	return success();
}

static void reply(struct control *control, json_t *answer, const char *bytes, size_t len)
{
	char *text = json_dumps(answer, JSON_COMPACT);
	nng_msg *msg = NULL;

	json_decref(answer);
	if (text && nng_msg_alloc(&msg, 0) == 0 && nng_msg_append(msg, text, strlen(text)) == 0 &&
	    nng_msg_append(msg, "\n", 1) == 0 && nng_msg_append(msg, bytes ? bytes : "", len) == 0 &&
	    nng_sendmsg(control->socket, msg, NNG_FLAG_NONBLOCK) == 0)
		msg = NULL; /* taken */
	if (msg)
		nng_msg_free(msg);
	free(text);
}

static void on_ready(void *arg)
{
	struct control *control = arg;
	nng_msg *msg;

	while (nng_recvmsg(control->socket, &msg, NNG_FLAG_NONBLOCK) == 0) {
		json_t *request = json_loadb(nng_msg_body(msg), nng_msg_len(msg), 0, NULL);
		char *bytes = NULL;
		size_t len = 0;
		json_t *answer = is_allowed(nng_msg_get_pipe(msg))
					 ? answer_to(control, request, &bytes, &len)
					 : failure("the daemon serves its own user and root only, "
						   "and nobody in a container");

		reply(control, answer, bytes, bytes ? len : 0);
		free(bytes);
		json_decref(request);
		nng_msg_free(msg);
	}
}

static int start_listening(struct control *control, const char *path)
{
	nng_listener listener;
	char url[PATH_MAX + 8];
	int err = nng_rep0_open(&control->socket);

	snprintf(url, sizeof(url), "ipc://%s", path);
	if (!err)
		err = nng_socket_set_size(control->socket, NNG_OPT_RECVMAXSZ, MAX_REQUEST_BYTES);
	if (!err)
		err = nng_listener_create(&listener, control->socket, url);
	if (!err)
		err = nng_listener_set_int(listener, NNG_OPT_IPC_PERMISSIONS, 0600);
	if (!err)
		err = nng_listener_start(listener, 0);
	if (!err)
		err = nng_socket_get_int(control->socket, NNG_OPT_RECVFD,
					 &control->engine->watch.fd);
	if (err)
		log_error("cannot listen on %s: %s", path, nng_strerror(err));
	return err ? -EIO : 0;
}

int control_open(struct engine *engine, const char *socket_path, struct control **ret)
{
	struct control *control = calloc(1, sizeof(*control));
	char path[PATH_MAX];
	int err;

	if (!control)
		return -ENOMEM;
	control->engine = engine;
	control->socket_path = socket_path;
	control_path(socket_path, path);
	err = listen_prepare(path);
	if (!err)
		err = start_listening(control, path);
	if (err) {
		control_close(control);
		return err;
	}
	engine->watch.ready = on_ready;
	engine->watch.arg = control;
	*ret = control;
	return 0;
}

void control_close(struct control *control)
{
	if (!control)
		return;
	control->engine->watch = (struct engine_watch){.fd = -1};
	if (nng_socket_id(control->socket) > 0)
		nng_close(control->socket);
	free(control);
}
