// SPDX-License-Identifier: Apache-2.0
/* Writes lines to stderr, each made whole and written at once, see log.h. */
#include "base/log.h"

#include "base/utf8.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static _Atomic enum log_level max_level = LOG_LEVEL_INFO;
static _Atomic bool has_priorities;
static void (*before_line)(void);

enum log_level log_set_level(enum log_level level)
{
	return atomic_exchange(&max_level, level);
}

int log_level_of(const char *word, enum log_level *ret)
{
	static const char *const words[] = {"error", "warning", "info", "debug"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(word, words[i]) == 0) {
			*ret = (enum log_level)i;
			return 0;
		}
	}
	return -EINVAL;
}

void log_detect_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long device, inode;
	struct stat st;

	has_priorities = stream && sscanf(stream, "%llu:%llu", &device, &inode) == 2 &&
			 fstat(STDERR_FILENO, &st) == 0 && st.st_dev == device &&
			 st.st_ino == inode;
}

/* Writes the text before the message of a line; returns the text's length. */
static size_t put_prefix(enum log_level level, char *line)
{
	static const char *const priorities[] = {"<3>", "<4>", "<6>", "<7>"};
	const char *priority = has_priorities ? priorities[level] : "";

	return (size_t)sprintf(line, "%sfgcollect: ", priority);
}

void log_set_before_line(void (*hook)(void))
{
	before_line = hook;
}

void log_line(enum log_level level, const char *format, ...)
{
	const int saved = errno;
	char line[2048];
	size_t len;
	va_list args;
	int n;

	if (level > max_level)
		return;
	len = put_prefix(level, line);
	va_start(args, format);
	errno = saved; /* for %m */
	n = vsnprintf(line + len, sizeof(line) - len - 1, format, args);
	va_end(args);
	if (n > 0)
		len += (size_t)n < sizeof(line) - len - 1 ? (size_t)n : sizeof(line) - len - 2;
	utf8_clean(line, len, line, sizeof(line)); /* names and paths may be from outside */
	len = strlen(line);
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
