// SPDX-License-Identifier: Apache-2.0
/* A file in memory in stderr's place, see held_log.h. */
#include "top/held_log.h"

#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int held_log_begin(struct held_log *held)
{
	*held = (struct held_log){.fd = -1, .real_fd = -1};
	held->real_fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	held->fd = memfd_create("fgcollect-log", MFD_CLOEXEC);
	if (held->real_fd < 0 || held->fd < 0 || fcntl(held->fd, F_SETFL, O_APPEND) < 0 ||
	    dup2(held->fd, STDERR_FILENO) < 0) {
		const int err = -errno;

		if (held->fd >= 0)
			close(held->fd);
		if (held->real_fd >= 0)
			close(held->real_fd);
		held->fd = held->real_fd = -1;
		return err;
	}
	return 0;
}

static off_t size_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 ? st.st_size : 0;
}

void held_log_last(struct held_log *held, char *ret, size_t size)
{
	const off_t end = held->fd < 0 ? 0 : size_of(held->fd);
	const off_t from = end > (off_t)size - 1 ? end - ((off_t)size - 1) : 0;
	ssize_t len = 0;
	char *line;

	ret[0] = '\0';
	if (end <= held->shown)
		return;
	held->shown = end;
	len = pread(held->fd, ret, (size_t)(end - from), from);
	while (len > 0 && ret[len - 1] == '\n')
		len--;
	ret[len > 0 ? len : 0] = '\0';
	line = strrchr(ret, '\n');
	if (line)
		memmove(ret, line + 1, strlen(line));
	if (end > (off_t)HELD_LOG_MAX_BYTES && ftruncate(held->fd, 0) == 0) {
		held->shown = 0;
		held->left_out++;
	}
}

void held_log_end(struct held_log *held)
{
	char buf[4096];
	off_t at = 0;
	ssize_t n;

	if (held->fd < 0)
		return;
	dup2(held->real_fd, STDERR_FILENO);
	if (held->left_out)
		log_warning("%u times %u KiB of messages were left out", held->left_out,
			    HELD_LOG_MAX_BYTES >> 10);
	while ((n = pread(held->fd, buf, sizeof(buf), at)) > 0) {
		if (write(STDERR_FILENO, buf, (size_t)n) < 0)
			break;
		at += n;
	}
	close(held->fd);
	close(held->real_fd);
	held->fd = held->real_fd = -1;
}
