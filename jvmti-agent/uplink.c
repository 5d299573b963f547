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
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define NAP_MIN_NS  (CLOCK_NS_PER_MS / 2)
#define NAP_MAX_NS  (20 * CLOCK_NS_PER_MS)
#define CHUNK_BYTES 4096u /* of a header and the records behind it, in one call */

/* Sleeps for some milliseconds, also if the JVM ends: then a little later than it could. */
static void rest(struct uplink_patience patience, uint64_t ns)
{
	wake_forget(patience.wake);
	wake_sleep(patience.wake, clock_monotonic_ns() + ns);
}

/* Sleeps unless the JVM ends: -ECANCELED. */
static int nap(struct uplink_patience patience, uint64_t ns)
{
	if (!atomic_load(patience.hurry))
		rest(patience, ns);
	return atomic_load(patience.hurry) ? -ECANCELED : 0;
}

static uint64_t next_nap_ns(uint64_t nap_ns)
{
	return nap_ns * 2 < NAP_MAX_NS ? nap_ns * 2 : NAP_MAX_NS;
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
static int dial_patiently(const char *path, struct uplink_patience patience)
{
	int fd = dial(path);

	for (unsigned i = 0; fd == -EAGAIN && i < UPLINK_FULL_TRIES; i++) {
		const int err = nap(patience, (UPLINK_FULL_WAIT_MS << i) * CLOCK_NS_PER_MS);

		if (err < 0)
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
	n = recv(own->fd, to, size, MSG_DONTWAIT);
	if (n > 0)
		return n;
	if (n == 0)
		return -ECONNRESET;
	return errno == EAGAIN || errno == EINTR ? 0 : -errno;
}

static int hear_greeting(const struct own_fd *own, struct uplink_patience patience)
{
	const uint64_t deadline_ns =
		clock_monotonic_ns() + UPLINK_GREETING_TIMEOUT_MS * CLOCK_NS_PER_MS;
	uint8_t greeting[WIRE_SP_GREETING_BYTES];
	uint64_t nap_ns = NAP_MIN_NS;
	size_t got = 0;

	while (got < sizeof(greeting)) {
		const ssize_t n = read_greeting(own, greeting + got, sizeof(greeting) - got);
		int err = n < 0 ? (int)n : 0;

		if (n == 0 && clock_monotonic_ns() >= deadline_ns)
			return -ETIMEDOUT;
		if (n == 0)
			err = nap(patience, nap_ns);
		if (err < 0)
			return err;
		nap_ns = next_nap_ns(nap_ns);
		got += (size_t)n;
	}
	return wire_check_greeting(greeting, WIRE_SP_PULL);
}

static int greet(const struct own_fd *own, struct uplink_patience patience)
{
	uint8_t greeting[WIRE_SP_GREETING_BYTES];

	wire_encode_greeting(greeting, WIRE_SP_PUSH);
	if (!own_fd_is_own(own))
		return -EBADF;
	if (send(own->fd, greeting, sizeof(greeting), MSG_NOSIGNAL | MSG_DONTWAIT) !=
	    (ssize_t)sizeof(greeting))
		return -EPROTO;
	return hear_greeting(own, patience);
}

int uplink_take(struct uplink *uplink, int fd, struct uplink_patience patience)
{
	struct own_fd own = own_fd_take(fd);
	const int err = greet(&own, patience);

	if (err < 0) {
		own_fd_close(&own);
		return err;
	}
	*uplink = (struct uplink){.own = own, .patience = patience};
	return 0;
}

int uplink_open(struct uplink *uplink, const char *path, struct uplink_patience patience)
{
	const int fd = dial_patiently(path, patience);

	return fd < 0 ? fd : uplink_take(uplink, fd, patience);
}

void uplink_close(struct uplink *uplink)
{
	own_fd_close(&uplink->own);
	uplink->records_len = 0;
}

bool uplink_is_open(const struct uplink *uplink)
{
	return uplink->own.fd >= 0;
}

/* One call. Returns the number of bytes that were taken, 0 if there is no room now. */
static ssize_t send_some(const struct uplink *uplink, const uint8_t *data, size_t len)
{
	ssize_t n;

	if (!own_fd_is_own(&uplink->own))
		return -EBADF;
	n = send(uplink->own.fd, data, len, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n >= 0)
		return n;
	return errno == EAGAIN || errno == EINTR ? 0 : -errno;
}

/*
 * The header and the first records go in one call, because a header alone would wake the collector
 * for nothing.
 */
static ssize_t send_begin(const struct uplink *uplink, const uint8_t *records)
{
	const size_t left = UPLINK_HEADER_BYTES - uplink->done;
	uint8_t chunk[CHUNK_BYTES];
	size_t more = sizeof(chunk) - left;

	if (more > uplink->records_len)
		more = uplink->records_len;
	memcpy(chunk, uplink->header + uplink->done, left);
	memcpy(chunk + left, records, more);
	return send_some(uplink, chunk, left + more);
}

static ssize_t send_next(const struct uplink *uplink, const uint8_t *records)
{
	const size_t sent = uplink->done - UPLINK_HEADER_BYTES;

	return send_some(uplink, records + sent, uplink->records_len - sent);
}

static void begin_message(struct uplink *uplink, size_t len)
{
	uplink->records_len = len;
	uplink->done = 0;
	wire_encode_frame(uplink->header, WIRE_MESSAGE_HEADER_BYTES + len);
	wire_encode_message(uplink->header + WIRE_SP_FRAME_HEADER_BYTES, uplink->seq++,
			    clock_monotonic_ns());
}

int uplink_offer(struct uplink *uplink, const uint8_t *records, size_t len)
{
	ssize_t n;

	if (uplink->records_len == 0)
		begin_message(uplink, len);
	while (uplink->done < UPLINK_HEADER_BYTES + uplink->records_len) {
		n = uplink->done < UPLINK_HEADER_BYTES ? send_begin(uplink, records)
						       : send_next(uplink, records);
		if (n <= 0)
			return n == 0 ? -EAGAIN : (int)n;
		uplink->done += (size_t)n;
	}
	uplink->records_len = 0;
	return 0;
}

int uplink_send(struct uplink *uplink, const uint8_t *records, size_t len)
{
	uint64_t progress_ns = clock_monotonic_ns(), nap_ns = NAP_MIN_NS, limit_ms;
	size_t done = uplink->done;
	int err;

	while ((err = uplink_offer(uplink, records, len)) == -EAGAIN) {
		if (uplink->done != done) {
			progress_ns = clock_monotonic_ns();
			nap_ns = NAP_MIN_NS;
			done = uplink->done;
		}
		limit_ms = atomic_load(uplink->patience.hurry) ? UPLINK_HURRY_TIMEOUT_MS
							       : UPLINK_STALL_TIMEOUT_MS;
		if (clock_monotonic_ns() - progress_ns >= limit_ms * CLOCK_NS_PER_MS)
			return -ETIMEDOUT;
		rest(uplink->patience, nap_ns);
		nap_ns = next_nap_ns(nap_ns);
	}
	return err;
}

int uplink_check(struct uplink *uplink)
{
	uint8_t byte;
	ssize_t n;

	if (!own_fd_is_own(&uplink->own))
		return -EBADF;
	n = recv(uplink->own.fd, &byte, sizeof(byte), MSG_PEEK | MSG_DONTWAIT);
	if (n > 0)
		return -EPROTO;
	if (n == 0)
		return -ECONNRESET;
	return errno == EAGAIN || errno == EINTR ? 0 : -errno;
}
