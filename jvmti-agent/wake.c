// SPDX-License-Identifier: Apache-2.0
/*
 * A message of no bytes does no harm to whoever has got the number: a file refuses it (ENOTSOCK),
 * and a stream has nothing to send. With one end gone the other one hangs up, which poll(2) tells.
 */
#include "wake.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define POSTED_MAX 64 /* more than the kernel lets wait, /proc/sys/net/unix/max_dgram_qlen */

static uint64_t target_of(int fd, ino_t ino)
{
	return (uint64_t)(uint32_t)fd << 32 | (uint32_t)ino;
}

bool wake_open(struct wake *wake)
{
	int ends[2];

	wake->polled.fd = wake->posted.fd = -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0)
		return false;
	wake->polled = own_fd_take(ends[0]);
	wake->posted = own_fd_take(ends[1]);
	atomic_store(&wake->target, target_of(wake->posted.fd, wake->posted.ino));
	return true;
}

void wake_post(struct wake *wake)
{
	const uint64_t target = atomic_load(&wake->target);
	const int fd = (int)(target >> 32);
	struct stat st = {0};

	if (target == 0 || syscall(SYS_fstat, fd, &st) != 0 || !S_ISSOCK(st.st_mode) ||
	    target_of(fd, st.st_ino) != target)
		return;
	if (send(fd, "", 0, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		return; /* EAGAIN: so many wake-ups wait already */
}

static void close_pair(struct wake *wake)
{
	atomic_store(&wake->target, 0);
	own_fd_close(&wake->posted);
	own_fd_close(&wake->polled);
}

void wake_drain(struct wake *wake)
{
	struct pollfd polled = {.fd = wake->polled.fd, .events = POLLIN};
	char none;

	if (poll(&polled, 1, 0) > 0 && polled.revents & (POLLHUP | POLLERR | POLLNVAL)) {
		close_pair(wake);
		return;
	}
	for (int i = 0; i < POSTED_MAX && own_fd_is_own(&wake->polled); i++) {
		if (recv(wake->polled.fd, &none, sizeof(none), MSG_DONTWAIT) < 0)
			return;
	}
}

bool wake_mend(struct wake *wake)
{
	if (own_fd_is_own(&wake->polled) && own_fd_is_own(&wake->posted))
		return true;
	close_pair(wake);
	return wake_open(wake);
}
