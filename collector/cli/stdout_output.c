// SPDX-License-Identifier: Apache-2.0
/*
 * Counts and sums up what goes through, see stdout_output.h. The descriptor may be one that does
 * not block, as whoever started the program left it: then it is waited for.
 */
#include "cli/stdout_output.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

/* Writes all bytes. Returns how many were written before an error. */
static size_t write_all(struct stdout_output *output, const char *bytes, size_t size)
{
	size_t at = 0;

	while (at < size) {
		const ssize_t n = write(output->fd, bytes + at, size - at);
		struct pollfd room = {.fd = output->fd, .events = POLLOUT};

		if (n > 0) {
			at += (size_t)n;
		} else if (n < 0 && errno == EAGAIN) {
			poll(&room, 1, -1);
		} else if (n == 0 || errno != EINTR) {
			output->err = n == 0 ? -EIO : -errno;
			break;
		}
	}
	return at;
}

/* The write function of fopencookie(3), for which 0 is an error. */
static ssize_t take(void *cookie, const char *bytes, size_t size)
{
	struct stdout_output *output = cookie;
	const size_t n = output->err ? 0 : write_all(output, bytes, size);

	output->crc = (uint32_t)crc32(output->crc, (const Bytef *)bytes, (uInt)n);
	output->bytes += n;
	if (n < size)
		errno = -output->err;
	return n < size ? 0 : (ssize_t)n;
}

int stdout_output_open(struct stdout_output *output, int fd)
{
	*output = (struct stdout_output){.fd = fd, .crc = (uint32_t)crc32(0, NULL, 0)};
	output->stream = fopencookie(output, "w", (cookie_io_functions_t){.write = take});
	return output->stream ? 0 : -ENOMEM;
}

int stdout_output_close(struct stdout_output *output)
{
	const int err = fclose(output->stream) != 0 ? -errno : 0;

	output->stream = NULL;
	return output->err ? output->err : err;
}
