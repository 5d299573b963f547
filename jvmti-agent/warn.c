// SPDX-License-Identifier: Apache-2.0
/*
 * Warnings are the agent's only output besides its socket. A line is one write(2), so that other
 * writers do not tear it, and is written only if the pipe has room: a full pipe must not delay the
 * JVM's start.
 */
#include "warn.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

void warn_line(const char *format, ...)
{
	struct pollfd err = {.fd = STDERR_FILENO, .events = POLLOUT};
	char line[512] = "fgagent: ";
	size_t len = sizeof("fgagent: ") - 1;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(line + len, sizeof(line) - len - 1, format, args);
	va_end(args);
	if (n < 0)
		return;
	len += (size_t)n < sizeof(line) - len - 2 ? (size_t)n : sizeof(line) - len - 2;
	line[len++] = '\n';
	if (poll(&err, 1, 0) == 1 && (err.revents & POLLOUT)) {
		if (write(STDERR_FILENO, line, len) < 0)
			return;
	}
}
