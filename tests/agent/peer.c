// SPDX-License-Identifier: Apache-2.0
/*
 * A collector of few words, with nothing but libc and the wire decoder, so that it can be built for
 * musl too. That the protocol is really that of the SP sockets is test_uplink.c's business.
 */
#include "peer.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define PATIENCE_MS 30000
#define DIAL_MS	    10

_Noreturn void peer_fail(const char *file, int line, const char *what)
{
	fprintf(stderr, "%s:%d: failed: %s\n", file, line, what);
	exit(1);
}

void peer_init(struct peer *peer)
{
	*peer = (struct peer){.listen_fd = -1, .fd = -1};
	peer->message = malloc(WIRE_MESSAGE_MAX_BYTES);
	peer->known = calloc(1, sizeof(*peer->known));
	CHECK(peer->message && peer->known);
}

void peer_listen(struct peer *peer, const char *path)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};

	peer_init(peer);
	CHECK(strlen(path) < sizeof(addr.sun_path));
	strcpy(addr.sun_path, path);
	peer->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK(peer->listen_fd >= 0);
	CHECK(bind(peer->listen_fd, (const struct sockaddr *)&addr, sizeof(addr)) == 0);
	CHECK(listen(peer->listen_fd, 4) == 0);
}

static void wait_readable(int fd)
{
	struct pollfd in = {.fd = fd, .events = POLLIN};

	CHECK(poll(&in, 1, PATIENCE_MS) == 1);
}

static void begin(struct peer *peer, const void *greeting, size_t len)
{
	static const uint8_t pull[] = {0, 'S', 'P', 0, 0, 0x51, 0, 0};

	peer->next_seq = 0;
	known_clear(peer->known);
	peer->reader = (struct wire_reader){0};
	if (!greeting) {
		greeting = pull;
		len = sizeof(pull);
	}
	CHECK(len == 0 || write(peer->fd, greeting, len) == (ssize_t)len);
}

void peer_accept(struct peer *peer, const void *greeting, size_t len)
{
	wait_readable(peer->listen_fd);
	peer->fd = accept(peer->listen_fd, NULL, NULL);
	CHECK(peer->fd >= 0);
	begin(peer, greeting, len);
}

void peer_dial(struct peer *peer, const char *path, const void *greeting, size_t len)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int tries = PATIENCE_MS / DIAL_MS;

	CHECK(strlen(path) < sizeof(addr.sun_path));
	strcpy(addr.sun_path, path);
	peer->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK(peer->fd >= 0);
	while (connect(peer->fd, (const struct sockaddr *)&addr, sizeof(addr)) != 0) {
		CHECK(tries-- > 0);
		poll(NULL, 0, DIAL_MS);
	}
	begin(peer, greeting, len);
}

/* Reads exactly len bytes; false if the stream ends before. */
static bool read_all(struct peer *peer, void *data, size_t len)
{
	size_t got = 0;

	while (got < len) {
		ssize_t n;

		wait_readable(peer->fd);
		n = read(peer->fd, (uint8_t *)data + got, len - got);
		if (n <= 0)
			return false;
		got += (size_t)n;
	}
	return true;
}

void peer_expect_greeting(struct peer *peer)
{
	uint8_t greeting[WIRE_SP_GREETING_BYTES];

	CHECK(read_all(peer, greeting, sizeof(greeting)));
	CHECK(wire_check_greeting(greeting, WIRE_SP_PUSH) == 0);
}

static bool read_message(struct peer *peer)
{
	uint8_t frame[WIRE_SP_FRAME_HEADER_BYTES];
	struct wire_message message;
	uint64_t len = 0;

	if (!read_all(peer, frame, sizeof(frame)))
		return false;
	CHECK(frame[0] == 1);
	for (int i = 1; i < 9; i++)
		len = len << 8 | frame[i];
	CHECK(len <= WIRE_MESSAGE_MAX_BYTES);
	if (!read_all(peer, peer->message, (size_t)len))
		return false;
	CHECK(wire_decode_message(peer->message, (size_t)len, &message) == 0);
	CHECK(message.seq == peer->next_seq++);
	wire_reader_init(&peer->reader, &message);
	return true;
}

bool peer_next(struct peer *peer, struct wire_record *ret)
{
	int got;

	while ((got = wire_reader_next(&peer->reader, ret)) == 0) {
		if (!read_message(peer))
			return false;
	}
	CHECK(got == 1);
	if (ret->kind == WIRE_METHOD_LOAD)
		CHECK(known_take(peer->known, ret, &peer->load) == 0);
	return true;
}

void peer_expect_close(struct peer *peer)
{
	uint8_t byte;

	wait_readable(peer->fd);
	CHECK(read(peer->fd, &byte, 1) <= 0);
	peer_close(peer);
}

void peer_close(struct peer *peer)
{
	close(peer->fd);
	peer->fd = -1;
}

void peer_fini(struct peer *peer)
{
	if (peer->listen_fd >= 0)
		close(peer->listen_fd);
	free(peer->message);
	known_clear(peer->known);
	free(peer->known);
}
