// SPDX-License-Identifier: Apache-2.0
/* The other side of the control socket, see control_client.h. */
#include "app/control_client.h"

#include "app/control.h"
#include "base/log.h"

#include <errno.h>
#include <nng/nng.h>
#include <nng/protocol/reqrep0/req.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ANSWER_MS 30000 /* drawing a large graph takes a moment */

struct control_client {
	nng_socket socket;
	nng_msg *last;
	char path[PATH_MAX];
};

int control_client_open(const char *socket_path, struct control_client **ret)
{
	struct control_client *client = calloc(1, sizeof(*client));
	char url[PATH_MAX + 8];
	int err;

	if (!client)
		return -ENOMEM;
	control_path(socket_path, client->path);
	if (access(client->path, F_OK) < 0) {
		free(client);
		return -ENOENT;
	}
	snprintf(url, sizeof(url), "ipc://%s", client->path);
	err = nng_req0_open(&client->socket);
	if (!err)
		err = nng_socket_set_ms(client->socket, NNG_OPT_RECVTIMEO, ANSWER_MS);
	if (!err)
		err = nng_socket_set_ms(client->socket, NNG_OPT_SENDTIMEO, ANSWER_MS);
	if (!err)
		err = nng_socket_set_ms(client->socket, NNG_OPT_REQ_RESENDTIME,
					NNG_DURATION_INFINITE);
	if (!err)
		err = nng_socket_set_size(client->socket, NNG_OPT_RECVMAXSZ, 0);
	if (!err)
		err = nng_dial(client->socket, url, NULL, 0);
	if (err == NNG_ECONNREFUSED) { /* it was killed and left its socket */
		control_client_close(client);
		return -ENOENT;
	}
	if (err) {
		log_error("cannot reach the daemon at %s: %s", client->path, nng_strerror(err));
		control_client_close(client);
		return -EIO;
	}
	*ret = client;
	return 0;
}

void control_client_close(struct control_client *client)
{
	if (!client)
		return;
	if (client->last)
		nng_msg_free(client->last);
	if (nng_socket_id(client->socket) > 0)
		nng_close(client->socket);
	free(client);
}

static int exchange(struct control_client *client, const char *text)
{
	nng_msg *msg = NULL;
	int err;

	if (client->last)
		nng_msg_free(client->last);
	client->last = NULL;
	err = nng_msg_alloc(&msg, 0);
	if (!err)
		err = nng_msg_append(msg, text, strlen(text));
	if (!err) {
		err = nng_sendmsg(client->socket, msg, 0);
		if (!err)
			msg = NULL; /* taken */
	}
	if (msg)
		nng_msg_free(msg);
	if (!err)
		err = nng_recvmsg(client->socket, &client->last, 0);
	return err;
}

int control_client_ask(struct control_client *client, json_t *request, json_t **ret,
		       const char **ret_bytes, size_t *ret_len)
{
	char *text = json_dumps(request, JSON_COMPACT);
	const char *body, *line_end, *error;
	json_t *answer;
	int err;

	json_decref(request);
	if (!text)
		return -ENOMEM;
	err = exchange(client, text);
	free(text);
	if (err) {
		log_error("the daemon at %s does not answer: %s", client->path, nng_strerror(err));
		return -EIO;
	}
	body = nng_msg_body(client->last);
	line_end = memchr(body, '\n', nng_msg_len(client->last));
	answer = line_end ? json_loadb(body, (size_t)(line_end - body), 0, NULL) : NULL;
	if (!answer) {
		log_error("the daemon at %s answers in a language of its own", client->path);
		return -EBADMSG;
	}
	error = json_string_value(json_object_get(answer, "error"));
	if (error) {
		log_error("%s", error);
		json_decref(answer);
		return -EREMOTEIO;
	}
	if (ret_bytes) {
		*ret_bytes = line_end + 1;
		*ret_len = nng_msg_len(client->last) - (size_t)(line_end + 1 - body);
	}
	*ret = answer;
	return 0;
}
