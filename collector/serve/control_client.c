// SPDX-License-Identifier: Apache-2.0
/* The client's side of the control socket, see control_client.h. */
#include "serve/control_client.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/log.h"
#include "serve/control.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#define ANSWER_SEC	 30 /* drawing a large graph may take long */
#define MAX_ANSWER_BYTES (256u << 20)

struct control_client {
	int fd;
	char path[PATH_MAX];
};

int control_client_open(const char *socket_path, struct control_client **ret)
{
	const struct timeval limit = {.tv_sec = ANSWER_SEC};
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	struct control_client *client = calloc(1, sizeof(*client));
	int err = 0;

	if (!client)
		return -ENOMEM;
	control_path(socket_path, client->path);
	client->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (client->fd < 0)
		err = -errno;
	else if (strlen(client->path) >= sizeof(addr.sun_path))
		err = -ENOENT; /* no daemon can listen at such a path */
	if (!err) {
		memcpy(addr.sun_path, client->path, strlen(client->path) + 1);
		setsockopt(client->fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
		setsockopt(client->fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
		if (connect(client->fd, (const struct sockaddr *)&addr, sizeof(addr)) < 0)
			err = -errno;
	}
	if (!err) {
		*ret = client;
		return 0;
	}
	/*
	 * ECONNREFUSED: the daemon was killed and left its socket. EACCES: the socket is another
	 * user's.
	 */
	if (err == -ECONNREFUSED || err == -EACCES)
		err = -ENOENT;
	if (err != -ENOENT)
		log_error("cannot reach the daemon at %s: %s", client->path, strerror(-err));
	control_client_close(client);
	return err;
}

void control_client_close(struct control_client *client)
{
	if (!client)
		return;
	if (client->fd >= 0)
		close(client->fd);
	free(client);
}

/*
 * Receives an answer. Returns the text's length. *ret_fd becomes the descriptor that came with the
 * answer, if one came.
 */
static ssize_t receive(const struct control_client *client, char *text, size_t size, int *ret_fd)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} ancillary;
	struct iovec part = {.iov_base = text, .iov_len = size};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = ancillary.bytes,
				 .msg_controllen = sizeof(ancillary.bytes)};
	const struct cmsghdr *header;
	ssize_t len;

	do {
		len = recvmsg(client->fd, &message, MSG_CMSG_CLOEXEC);
	} while (len < 0 && errno == EINTR);
	if (len < 0)
		return -errno;
	if (len == 0)
		return -ECONNRESET;
	header = CMSG_FIRSTHDR(&message);
	if (header && header->cmsg_type == SCM_RIGHTS)
		memcpy(ret_fd, CMSG_DATA(header), sizeof(*ret_fd));
	return len;
}

/* Reads an answer that was too long for a message. */
static json_t *read_long_answer(int fd)
{
	_cleanup_free_ char *text = NULL;
	char path[64];
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	len = file_read_whole(path, MAX_ANSWER_BYTES, &text);
	return len > 0 ? json_loadb(text, (size_t)len, 0, NULL) : NULL;
}

static int exchange(struct control_client *client, const char *request, json_t **ret, int *ret_fd)
{
	_cleanup_free_ char *text = malloc(CONTROL_MAX_MESSAGE_BYTES);
	ssize_t len;

	if (!text)
		return -ENOMEM;
	if (send(client->fd, request, strlen(request), MSG_NOSIGNAL) < 0)
		return -errno;
	len = receive(client, text, CONTROL_MAX_MESSAGE_BYTES, ret_fd);
	if (len < 0)
		return (int)len;
	*ret = json_loadb(text, (size_t)len, 0, NULL);
	if (*ret && json_object_size(*ret) == 0 && *ret_fd >= 0) {
		json_decref(*ret);
		*ret = read_long_answer(*ret_fd);
	}
	return *ret ? 0 : -EBADMSG;
}

int control_client_ask(struct control_client *client, json_t *request, json_t **ret, int *ret_fd)
{
	char *text = json_dumps(request, JSON_COMPACT);
	json_t *answer = NULL;
	const char *error;
	int fd = -1, err;

	json_decref(request);
	if (!text)
		return -ENOMEM;
	err = exchange(client, text, &answer, &fd);
	free(text);
	if (err) {
		log_error("the daemon at %s does not answer: %s", client->path,
			  err == -EAGAIN ? "it takes too long" : strerror(-err));
	} else if ((error = json_string_value(json_object_get(answer, "error")))) {
		log_error("%s", error);
		err = -EREMOTEIO;
	}
	if (fd >= 0 && (err || !ret_fd)) {
		close(fd);
		fd = -1;
	}
	if (err) {
		json_decref(answer);
		return err;
	}
	if (ret_fd)
		*ret_fd = fd;
	*ret = answer;
	return 0;
}
