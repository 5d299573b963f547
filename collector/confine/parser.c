// SPDX-License-Identifier: Apache-2.0
/* Sockets to parsers, see parser.h. */
#include "confine/parser.h"

#include "base/clock.h"
#include "base/thread.h"
#include "confine/fd_message.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define MAX_SPARES 2 /* of a role */
#define MEET_NS	   (60 * CLOCK_NS_PER_SEC)
#define TEND_NS	   (100 * CLOCK_NS_PER_MS)

static _Atomic uint64_t last_id;

static ssize_t send_with_fd(int sock, const void *bytes, size_t len, int fd)
{
	struct iovec part = {.iov_base = (void *)bytes, .iov_len = len};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	union fd_message control = {0};

	fd_message_put(&message, &control, fd);
	return sendmsg(sock, &message, MSG_NOSIGNAL);
}

/* Parsers may not call sendmsg(2), see syscall_filter.c. */
int parser_send(int sock, const void *bytes, size_t len, int fd)
{
	const char *at = bytes;

	while (len > 0) {
		const ssize_t n = fd >= 0 ? send_with_fd(sock, at, len, fd)
					  : send(sock, at, len, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EPIPE || errno == ECONNRESET ? -EBADMSG : -errno;
		fd = -1;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

/* Takes the descriptor of a message. A second one could not have fitted. */
static int take_fd(struct msghdr *message)
{
	const struct cmsghdr *header = CMSG_FIRSTHDR(message);
	int fd = -1;

	if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
	    header->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(&fd, CMSG_DATA(header), sizeof(fd));
	return fd;
}

int parser_receive(int sock, void *bytes, size_t len, int *ret_fd)
{
	char *at = bytes;

	if (ret_fd)
		*ret_fd = -1;
	while (len > 0) {
		struct iovec part = {.iov_base = at, .iov_len = len};
		struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
		union fd_message control = {0};
		ssize_t n;

		if (ret_fd && *ret_fd < 0) {
			message.msg_control = control.bytes;
			message.msg_controllen = sizeof(control.bytes);
		}
		n = recvmsg(sock, &message, MSG_CMSG_CLOEXEC);
		if (n < 0 && errno == EINTR)
			continue;
		if (n > 0 && ret_fd && message.msg_control)
			*ret_fd = take_fd(&message);
		if (n <= 0)
			break;
		at += n;
		len -= (size_t)n;
	}
	if (len == 0)
		return 0;
	if (ret_fd && *ret_fd >= 0) {
		close(*ret_fd);
		*ret_fd = -1;
	}
	return -EBADMSG;
}

/* Whether the socket has something to read, or has ended, before until_ns. */
static bool wait_until(int sock, uint64_t until_ns)
{
	struct pollfd polled = {.fd = sock, .events = POLLIN};
	const uint64_t now_ns = clock_now_ns();
	const uint64_t left_ns = until_ns > now_ns ? until_ns - now_ns : 0;
	const struct timespec left = {.tv_sec = (time_t)(left_ns / CLOCK_NS_PER_SEC),
				      .tv_nsec = (long)(left_ns % CLOCK_NS_PER_SEC)};
	const int n = left_ns > 0 ? ppoll(&polled, 1, &left, NULL) : 0;

	return n > 0 || (n < 0 && errno == EINTR);
}

int parser_receive_until(int sock, void *bytes, size_t len, size_t *got, uint64_t until_ns)
{
	while (*got < len) {
		const ssize_t n = recv(sock, (char *)bytes + *got, len - *got, MSG_DONTWAIT);

		if (n > 0)
			*got += (size_t)n;
		else if (n == 0 || (errno != EAGAIN && errno != EINTR))
			return -EBADMSG;
		else if (!wait_until(sock, until_ns))
			return -EAGAIN;
	}
	return 0;
}

/* Does not wait for the parser. */
static int ask_for_one(enum parser_role role, struct parser *ret)
{
	const uint64_t id = atomic_fetch_add(&last_id, 1) + 1;
	int sockets[2], err;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) < 0)
		return -errno;
	err = zygote_start_parser(role, id, sockets[1]);
	close(sockets[1]);
	if (err) {
		close(sockets[0]);
		return err;
	}
	*ret = (struct parser){.sock = sockets[0], .id = id};
	return 0;
}

/*
 * Waits for the parser's first word. Meanwhile a zygote that takes no request is replaced: the next
 * one takes this parser's.
 */
static int meet(struct parser *parser)
{
	const uint64_t until_ns = clock_now_ns() + MEET_NS;
	size_t got = 0;
	int err;

	do {
		err = parser_receive_until(parser->sock, &parser->pid, sizeof(parser->pid), &got,
					   clock_now_ns() + TEND_NS);
		if (err == -EAGAIN)
			zygote_tend();
	} while (err == -EAGAIN && zygote_is_running() && clock_now_ns() < until_ns);
	if (!err)
		return 0;
	close(parser->sock);
	return -EAGAIN;
}

/* ---- spare parsers, so that nobody has to wait for a fork on a busy host ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct parser spares[PARSER_ROLES][MAX_SPARES];
static unsigned n_spares[PARSER_ROLES];

static bool take_spare(enum parser_role role, struct parser *ret)
{
	bool has_one;

	THREAD_HOLD(&lock);
	has_one = n_spares[role] > 0;
	if (has_one) /* the oldest, which is ready */
		*ret = spares[role][0];
	n_spares[role] -= has_one;
	memmove(&spares[role][0], &spares[role][1], n_spares[role] * sizeof(spares[role][0]));
	return has_one;
}

static void add_spares(enum parser_role role)
{
	THREAD_HOLD(&lock);

	while (n_spares[role] < MAX_SPARES && ask_for_one(role, &spares[role][n_spares[role]]) == 0)
		n_spares[role]++;
}

void parser_drop_spares(void)
{
	struct parser spare;

	for (enum parser_role role = 0; role < PARSER_ROLES; role++) {
		while (take_spare(role, &spare))
			parser_stop(&spare);
	}
}

static int begin(enum parser_role role, struct parser *ret, bool *ret_is_spare)
{
	const bool has_spare = take_spare(role, ret);
	const int err = has_spare ? 0 : ask_for_one(role, ret);

	if (zygote_has_spares(role))
		add_spares(role);
	*ret_is_spare = has_spare;
	return err;
}

int parser_begin(enum parser_role role, struct parser *ret)
{
	bool is_spare;

	return begin(role, ret, &is_spare);
}

int parser_start(enum parser_role role, struct parser *ret)
{
	bool has_spare;
	int err = begin(role, ret, &has_spare);

	if (!err)
		err = meet(ret);
	/* A spare parser that has died in the meantime is nobody's fault. */
	if (err && has_spare && ask_for_one(role, ret) == 0)
		err = meet(ret);
	return err;
}

void parser_stop(struct parser *parser)
{
	if (parser->sock < 0)
		return;
	zygote_kill_parser(parser->id, false);
	close(parser->sock);
	parser->sock = -1;
}
