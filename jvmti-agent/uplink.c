// SPDX-License-Identifier: Apache-2.0
/*
 * The PUSH end of the Scalability Protocols over a Unix stream socket.
 *
 * Each side sends 8 bytes, 00 'S' 'P' 00, its protocol as u16 big-endian, 00 00. Then a message is
 * 01, its length as u64 big-endian, and its bytes. A PUSH socket never receives anything more.
 */
#include "uplink.h"

#include "clock.h"
#include "shared/wire.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

/*
 * 0: fd has one of events or an error. -ETIMEDOUT, or -ECANCELED if cancel_fd, which may be -1, is
 * readable.
 */
static int wait_for(int fd, short events, int cancel_fd, uint64_t deadline_ns)
{
	struct pollfd fds[2] = {{.fd = fd, .events = events}, {.fd = cancel_fd, .events = POLLIN}};
	int n;

	do {
		n = poll(fds, 2, clock_ms_until(deadline_ns));
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	if (fds[1].revents)
		return -ECANCELED;
	return n == 0 ? -ETIMEDOUT : 0;
}

static int dial(const char *path)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	const size_t len = strlen(path);
	int fd, err;

	if (len >= sizeof(addr.sun_path))
		return -ENAMETOOLONG;
	memcpy(addr.sun_path, path, len + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (const struct sockaddr *)&addr, sizeof(addr)) == 0)
		return fd;
	err = errno;
	close(fd);
	return -err;
}

/*
 * The collector empties its queue of connections every few milliseconds. So whoever tries several
 * times finds a place, even while others fill the queue again and again.
 */
static int dial_patiently(const char *path, int cancel_fd)
{
	int fd = dial(path);

	for (unsigned i = 0; fd == -EAGAIN && i < UPLINK_FULL_TRIES; i++) {
		const uint64_t wait_ns = (UPLINK_FULL_WAIT_MS << i) * CLOCK_NS_PER_MS;
		const int err = wait_for(-1, 0, cancel_fd, clock_monotonic_ns() + wait_ns);

		if (err != -ETIMEDOUT)
			return err;
		fd = dial(path);
	}
	return fd;
}

/* Reads some of the greeting. Returns the number of bytes, 0 if there are none yet. */
static ssize_t read_greeting(const struct own_fd *own, uint8_t *to, size_t size)
{
	ssize_t n;

	if (!own_fd_is_own(own))
		return -EBADF;
	n = recv(own->fd, to, size, 0);
	if (n > 0)
		return n;
	if (n == 0)
		return -ECONNRESET;
	return errno == EAGAIN || errno == EINTR ? 0 : -errno;
}

static int greet(const struct own_fd *own, int cancel_fd)
{
	const uint64_t deadline_ns =
		clock_monotonic_ns() + UPLINK_GREETING_TIMEOUT_MS * CLOCK_NS_PER_MS;
	uint8_t greeting[WIRE_SP_GREETING_BYTES];
	size_t got = 0;

	wire_encode_greeting(greeting, WIRE_SP_PUSH);
	if (!own_fd_is_own(own))
		return -EBADF;
	if (send(own->fd, greeting, sizeof(greeting), MSG_NOSIGNAL) != (ssize_t)sizeof(greeting))
		return -EPROTO;
	while (got < sizeof(greeting)) {
		const ssize_t n = read_greeting(own, greeting + got, sizeof(greeting) - got);
		int err = n < 0 ? (int)n : 0;

		if (n == 0)
			err = wait_for(own->fd, POLLIN, cancel_fd, deadline_ns);
		if (err < 0)
			return err;
		got += (size_t)n;
	}
	return wire_check_greeting(greeting, WIRE_SP_PULL);
}

int uplink_take(struct uplink *uplink, int fd, int cancel_fd, const atomic_bool *hurry)
{
	struct own_fd own = own_fd_take(fd);
	const int err = greet(&own, cancel_fd);

	if (err < 0) {
		own_fd_close(&own);
		return err;
	}
	*uplink = (struct uplink){.own = own, .hurry = hurry};
	return 0;
}

int uplink_open(struct uplink *uplink, const char *path, int cancel_fd, const atomic_bool *hurry)
{
	const int fd = dial_patiently(path, cancel_fd);

	return fd < 0 ? fd : uplink_take(uplink, fd, cancel_fd, hurry);
}

void uplink_close(struct uplink *uplink)
{
	own_fd_close(&uplink->own);
}

bool uplink_is_open(const struct uplink *uplink)
{
	return uplink->own.fd >= 0;
}

/* Skips n bytes of the two parts, which were sent. */
static void advance(struct iovec parts[2], size_t n)
{
	for (int i = 0; i < 2; i++) {
		const size_t step = n < parts[i].iov_len ? n : parts[i].iov_len;

		parts[i].iov_base = (uint8_t *)parts[i].iov_base + step;
		parts[i].iov_len -= step;
		n -= step;
	}
}

/* Waits for room in short steps, to notice when hurry becomes true. */
static int wait_for_room(const struct uplink *uplink)
{
	const uint64_t begin_ns = clock_monotonic_ns();
	uint64_t now_ns = begin_ns, limit_ns;
	int err;

	do {
		err = wait_for(uplink->own.fd, POLLOUT, -1,
			       now_ns + UPLINK_HURRY_TIMEOUT_MS * CLOCK_NS_PER_MS);
		now_ns = clock_monotonic_ns();
		limit_ns = (atomic_load(uplink->hurry) ? UPLINK_HURRY_TIMEOUT_MS
						       : UPLINK_STALL_TIMEOUT_MS) *
			   CLOCK_NS_PER_MS;
	} while (err == -ETIMEDOUT && now_ns - begin_ns < limit_ns);
	return err;
}

static int send_parts(const struct uplink *uplink, struct iovec parts[2])
{
	while (parts[0].iov_len + parts[1].iov_len > 0) {
		const struct msghdr msg = {.msg_iov = parts, .msg_iovlen = 2};
		ssize_t n;
		int err;

		if (!own_fd_is_own(&uplink->own))
			return -EBADF;
		n = sendmsg(uplink->own.fd, &msg, MSG_NOSIGNAL);
		if (n > 0) {
			advance(parts, (size_t)n);
			continue;
		}
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		err = wait_for_room(uplink);
		if (err < 0)
			return err;
	}
	return 0;
}

int uplink_send(struct uplink *uplink, const uint8_t *records, size_t len)
{
	uint8_t header[WIRE_SP_FRAME_HEADER_BYTES + WIRE_MESSAGE_HEADER_BYTES];
	struct iovec parts[2] = {
		{.iov_base = header, .iov_len = sizeof(header)},
		{.iov_base = (void *)(uintptr_t)records, .iov_len = len},
	};

	wire_encode_frame(header, WIRE_MESSAGE_HEADER_BYTES + len);
	wire_encode_message(header + WIRE_SP_FRAME_HEADER_BYTES, uplink->seq++,
			    clock_monotonic_ns());
	return send_parts(uplink, parts);
}

int uplink_check(struct uplink *uplink)
{
	uint8_t byte;
	ssize_t n;

	if (!own_fd_is_own(&uplink->own))
		return -EBADF;
	n = recv(uplink->own.fd, &byte, sizeof(byte), MSG_PEEK);
	if (n > 0)
		return -EPROTO;
	if (n == 0)
		return -ECONNRESET;
	return errno == EAGAIN || errno == EINTR ? 0 : -errno;
}
