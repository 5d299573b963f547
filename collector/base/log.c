// SPDX-License-Identifier: Apache-2.0
/* Lines on stderr, see log.h. A line is made whole and written at once. */
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static _Atomic enum log_level max_level = LOG_LEVEL_INFO;
static void (*before_line)(void);

void log_set_level(enum log_level level)
{
	max_level = level;
}

void log_set_before_line(void (*hook)(void))
{
	before_line = hook;
}

void log_line(enum log_level level, const char *format, ...)
{
	static const char prefix[] = "fgcollect: ";
	const int saved = errno;
	char line[2048];
	size_t len = sizeof(prefix) - 1;
	va_list args;
	int n;

	if (level > max_level)
		return;
	memcpy(line, prefix, len);
	va_start(args, format);
	errno = saved; /* for %m */
	n = vsnprintf(line + len, sizeof(line) - len - 1, format, args);
	va_end(args);
	if (n > 0)
		len += (size_t)n < sizeof(line) - len - 1 ? (size_t)n : sizeof(line) - len - 2;
	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f)
			line[i] = '?';
	}
	line[len++] = '\n';
	if (before_line)
		before_line();
	for (size_t done = 0; done < len;) {
		const ssize_t written = write(STDERR_FILENO, line + done, len - done);

		if (written <= 0)
			break;
		done += (size_t)written;
	}
	errno = saved;
}
