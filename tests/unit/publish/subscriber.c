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

/* False: the connection has ended. */
static bool receive(int fd, void *data, size_t len)
{
	return recv(fd, data, len, MSG_WAITALL) == (ssize_t)len;
}

void subscriber_open(struct subscriber *subscriber, const char *path, const char *topic)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	uint8_t greeting[WIRE_SP_GREETING_BYTES];

	*subscriber = (struct subscriber){.topic = topic};
	subscriber->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", path);
	assert_int_equal(connect(subscriber->fd, (const struct sockaddr *)&addr, sizeof(addr)), 0);
	wire_encode_greeting(greeting, SP_SUB);
	assert_int_equal(send(subscriber->fd, greeting, sizeof(greeting), MSG_NOSIGNAL),
			 sizeof(greeting));
	assert_true(receive(subscriber->fd, greeting, sizeof(greeting)));
	assert_int_equal(wire_check_greeting(greeting, SP_PUB), 0);
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

bool subscriber_wait(_Atomic uint64_t *number, uint64_t wanted)
{
	for (int i = 0; i < 1000 && atomic_load(number) != wanted; i++)
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
	return atomic_load(number) == wanted;
}
