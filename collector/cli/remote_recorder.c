// SPDX-License-Identifier: Apache-2.0
/* Records through a running daemon, see recorder.h and control.h. */
#include "cli/recorder.h"
#include "serve/control.h"
#include "serve/control_client.h"
#include "serve/request.h"
#include "serve/status_json.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/json_value.h"
#include "base/log.h"
#include "import/import.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define POLL_MS	 200
#define WAIT_NS	 (4 * CLOCK_NS_PER_SEC) /* for a JVM that has just begun, on a busy host */
#define ALIVE_MS 3000 /* a daemon ends a recording after ten seconds without a request */

struct remote_recorder {
	struct recorder base;
	struct control_client *client;
	json_int_t id; /* 0: not started */
};

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
	(void)number;
	interrupted = 1;
}

static struct remote_recorder *self(struct recorder *recorder)
{
	return (struct remote_recorder *)recorder;
}

static json_t *request_of(const struct remote_recorder *remote, const char *op)
{
	json_t *request = json_object();

	json_object_set_new(request, "op", json_string(op));
	json_object_set_new(request, "id", json_integer(remote->id));
	return request;
}

/* If the daemon wants to be asked again, remote->id stays 0. */
static int ask_to_record(struct remote_recorder *remote, const struct recording_options *options,
			 bool may_wait)
{
	json_t *request = json_object(), *answer;
	const char *missing;
	int err;

	request_put_record(options, request);
	json_object_set_new(request, "op", json_string("record"));
	json_object_set_new(request, "may_wait", json_boolean(may_wait));
	err = control_client_ask(remote->client, request, &answer, NULL);
	if (err)
		return err;
	if (!json_value_bool(answer, "wait"))
		remote->id = json_value_int(answer, "id");
	missing = json_string_value(json_object_get(answer, "missing"));
	if (missing)
		log_warning("%s", missing);
	json_decref(answer);
	return 0;
}

static int remote_start(struct recorder *recorder, const struct recording_options *options)
{
	const uint64_t until_ns = clock_now_ns() + WAIT_NS;
	struct remote_recorder *remote = self(recorder);
	bool may_wait;
	int err;

	remote->id = 0;
	do {
		may_wait = clock_now_ns() < until_ns;
		err = ask_to_record(remote, options, may_wait);
		if (err || remote->id)
			return err;
		poll(NULL, 0, POLL_MS);
	} while (may_wait && !interrupted);
	return interrupted ? -EINTR : -EBADMSG;
}

static int remote_status(struct recorder *recorder, struct recording_status *ret)
{
	struct remote_recorder *remote = self(recorder);
	json_t *answer;
	int err;

	poll(NULL, 0, POLL_MS); /* a signal ends the wait */
	err = control_client_ask(remote->client, request_of(remote, "status"), &answer, NULL);
	if (err)
		return err;
	status_from_json(answer, ret);
	json_decref(answer);
	return 0;
}

static int remote_stop(struct recorder *recorder)
{
	struct remote_recorder *remote = self(recorder);
	json_t *answer;
	const int err =
		control_client_ask(remote->client, request_of(remote, "stop"), &answer, NULL);

	if (!err)
		json_decref(answer);
	return err;
}

static int remote_render(struct recorder *recorder, enum render_format format,
			 const struct render_options *options, FILE *stream)
{
	struct remote_recorder *remote = self(recorder);
	json_t *request = request_of(remote, "render"), *answer;
	int fd, err;

	json_object_set_new(request, "suffix", json_string(render_suffix(format)));
	request_put_render(options, request);
	err = control_client_ask(remote->client, request, &answer, &fd);
	if (err)
		return err;
	json_decref(answer);
	if (fd < 0)
		return -EBADMSG;
	err = file_copy(fd, stream);
	close(fd);
	return err;
}

static int remote_capture(struct recorder *recorder, struct capture_counts *ret)
{
	struct remote_recorder *remote = self(recorder);
	json_t *answer;
	int fd, err;

	err = control_client_ask(remote->client, request_of(remote, "capture"), &answer, &fd);
	if (err)
		return err;
	*ret = (struct capture_counts){
		.samples = json_value_count(answer, "samples"),
		.left_out = json_value_count(answer, "left_out"),
	};
	json_decref(answer);
	return fd < 0 ? -EBADMSG : fd;
}

static int read_window(int fd, struct window_copy *ret)
{
	const struct import_options options = {0};
	struct import_recording recording = {0};
	struct import_target target = {.profile = &ret->profile, .recording = &recording};
	int err = profile_init(&ret->profile, IMPORT_MAX_NODES);

	timeline_init(&recording.timeline, 0);
	if (!err && lseek(fd, 0, SEEK_SET) < 0)
		err = -errno;
	if (!err)
		err = import_read(fd, &options, &target);
	ret->timeline = recording.timeline;
	if (err) {
		log_error("the daemon's window cannot be read: %s",
			  target.report.first_reason ? target.report.first_reason : strerror(-err));
		window_copy_fini(ret);
	}
	return err;
}

static int remote_window(struct recorder *recorder, struct recording_status *ret_status,
			 struct window_copy *ret)
{
	struct remote_recorder *remote = self(recorder);
	json_t *answer;
	int fd, err;

	err = control_client_ask(remote->client, request_of(remote, "window"), &answer, &fd);
	if (err)
		return err;
	status_from_json(answer, ret_status);
	json_decref(answer);
	if (fd < 0)
		return -EBADMSG;
	*ret = (struct window_copy){
		.quality = ret_status->quality,
		.covered_ns = ret_status->elapsed_ns,
	};
	err = read_window(fd, ret);
	close(fd);
	return err;
}

static int say_alive(struct remote_recorder *remote)
{
	json_t *answer;
	const int err =
		control_client_ask(remote->client, request_of(remote, "status"), &answer, NULL);

	if (!err)
		json_decref(answer);
	return err;
}

static int remote_wait(struct recorder *recorder, int fd, uint64_t wait_ns)
{
	struct pollfd polled = {.fd = fd, .events = POLLIN};
	uint64_t left_ms = (wait_ns + 999999) / 1000000;
	int err = 0;

	while (!err && left_ms > 0 && !interrupted) {
		const int ms = left_ms < ALIVE_MS ? (int)left_ms : ALIVE_MS;

		if (poll(&polled, 1, ms) != 0)
			break;
		left_ms -= (uint64_t)ms;
		if (left_ms > 0)
			err = say_alive(self(recorder));
	}
	return err;
}

static bool remote_is_interrupted(struct recorder *recorder)
{
	(void)recorder;
	return interrupted;
}

static void remote_close(struct recorder *recorder)
{
	struct remote_recorder *remote = self(recorder);
	json_t *answer;

	if (remote->id &&
	    control_client_ask(remote->client, request_of(remote, "end"), &answer, NULL) == 0)
		json_decref(answer);
	control_client_close(remote->client);
	free(remote);
}

int recorder_open_remote(const struct options *options, struct recorder **ret)
{
	static const struct recorder_ops ops = {
		.start = remote_start,
		.status = remote_status,
		.stop = remote_stop,
		.render = remote_render,
		.capture = remote_capture,
		.window = remote_window,
		.wait = remote_wait,
		.is_interrupted = remote_is_interrupted,
		.close = remote_close,
	};
	const struct sigaction action = {.sa_handler = on_signal};
	struct remote_recorder *remote = calloc(1, sizeof(*remote));
	int err;

	if (!remote)
		return -ENOMEM;
	remote->base.ops = &ops;
	err = control_client_open(options->socket_path, &remote->client);
	if (err) {
		free(remote);
		return err;
	}
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	*ret = &remote->base;
	return 0;
}
