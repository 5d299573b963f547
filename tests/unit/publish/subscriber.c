// SPDX-License-Identifier: Apache-2.0
/* Subscribes as other programs do, see subscriber.h. */
#include "subscriber.h"

#include "shared/wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define SP_PUB 0x0020
#define SP_SUB 0x0021
#define SP_REQ 0x0030
#define SP_REP 0x0031

#define REQUEST_HEADER_BYTES 4u /* a number, whose highest bit is set; the answer has it too */

/* False: the connection has ended. */
static bool receive(int fd, void *data, size_t len)
{
	return recv(fd, data, len, MSG_WAITALL) == (ssize_t)len;
}

static void open_as(struct subscriber *subscriber, const char *path, uint16_t own, uint16_t peer)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	uint8_t greeting[WIRE_SP_GREETING_BYTES];

	subscriber->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", path);
	assert_int_equal(connect(subscriber->fd, (const struct sockaddr *)&addr, sizeof(addr)), 0);
	wire_encode_greeting(greeting, own);
	assert_int_equal(send(subscriber->fd, greeting, sizeof(greeting), MSG_NOSIGNAL),
			 sizeof(greeting));
	assert_true(receive(subscriber->fd, greeting, sizeof(greeting)));
	assert_int_equal(wire_check_greeting(greeting, peer), 0);
}

void subscriber_open(struct subscriber *subscriber, const char *path, const char *topic)
{
	*subscriber = (struct subscriber){.topic = topic};
	open_as(subscriber, path, SP_SUB, SP_PUB);
}

void subscriber_open_asker(struct subscriber *subscriber, const char *path)
{
	*subscriber = (struct subscriber){.topic = ""};
	open_as(subscriber, path, SP_REQ, SP_REP);
}

bool subscriber_ask(struct subscriber *subscriber, const char *request)
{
	const size_t len = REQUEST_HEADER_BYTES + strlen(request);
	uint8_t frame[1024] = {[0] = 1, [WIRE_SP_FRAME_HEADER_BYTES] = 0x80};
	const size_t all = WIRE_SP_FRAME_HEADER_BYTES + len;

	assert_true(all < sizeof(frame));
	frame[7] = (uint8_t)(len >> 8);
	frame[8] = (uint8_t)len;
	memcpy(frame + WIRE_SP_FRAME_HEADER_BYTES + REQUEST_HEADER_BYTES, request, strlen(request));
	return send(subscriber->fd, frame, all, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)all;
}

void subscriber_close(struct subscriber *subscriber)
{
	free(subscriber->message);
	close(subscriber->fd);
	*subscriber = (struct subscriber){.fd = -1};
}

/* The next message of any topic. */
static bool next(struct subscriber *subscriber, int patience_ms, size_t *ret_len)
{
	struct pollfd fd = {.fd = subscriber->fd, .events = POLLIN};
	uint8_t head[WIRE_SP_FRAME_HEADER_BYTES];
	size_t len = 0;

	if (subscriber->has_ended || poll(&fd, 1, patience_ms) <= 0)
		return false;
	subscriber->has_ended = !receive(subscriber->fd, head, sizeof(head));
	if (subscriber->has_ended)
		return false;
	for (size_t i = 1; i < sizeof(head); i++)
		len = len << 8 | head[i];
	assert_in_range(len, 1, 1 << 20);
	free(subscriber->message);
	subscriber->message = malloc(len + 1);
	assert_true(receive(subscriber->fd, subscriber->message, len));
	subscriber->message[len] = '\0';
	*ret_len = len;
	return true;
}

const char *subscriber_next(struct subscriber *subscriber, int patience_ms, size_t *ret_len)
{
	const size_t len = strlen(subscriber->topic);

	while (next(subscriber, patience_ms, ret_len))
		if (*ret_len >= len && memcmp(subscriber->message, subscriber->topic, len) == 0)
			return subscriber->message;
	return NULL;
}

const char *subscriber_answer(struct subscriber *subscriber, int patience_ms, size_t *ret_len)
{
	const char *const message = subscriber_next(subscriber, patience_ms, ret_len);

	if (!message)
		return NULL;
	assert_true(*ret_len > REQUEST_HEADER_BYTES);
	assert_int_equal((uint8_t)message[0], 0x80);
	*ret_len -= REQUEST_HEADER_BYTES;
	return message + REQUEST_HEADER_BYTES;
}

bool subscriber_wait(_Atomic uint64_t *number, uint64_t wanted)
{
	for (int i = 0; i < 1000 && atomic_load(number) != wanted; i++)
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
	return atomic_load(number) == wanted;
}
