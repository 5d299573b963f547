// SPDX-License-Identifier: Apache-2.0
/* Writes lines to stderr, each made whole and written at once, see log.h. */
#include "base/log.h"

#include "base/clock.h"
#include "base/thread.h"
#include "base/utf8.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
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
static _Thread_local struct log_catch *caught; /* NULL: lines go to stderr */

#define MINUTE_NS (60 * CLOCK_NS_PER_SEC)

enum room { ROOM_TROUBLE, ROOM_OTHERS, ROOMS }; /* warnings and errors; all else */

#define MAX_KINDS 64u /* of lines of a room in a minute; all further ones are one */

/* Lines with one format are of one kind. */
struct kind {
	const char *format;
	unsigned lines;
};

/* What is known of the lines of a bounded log. */
static struct {
	pthread_mutex_t lock;
	bool is_on;
	uint64_t minute_began_ns;
	unsigned lines[ROOMS]; /* written in this minute */
	unsigned n_kinds[ROOMS];
	struct kind kinds[ROOMS][MAX_KINDS + 1];
	unsigned lacks;	   /* left out in this minute */
	uint64_t left_out; /* in all */
} bound = {.lock = PTHREAD_MUTEX_INITIALIZER};

enum log_level log_set_level(enum log_level level)
{
	return atomic_exchange(&max_level, level);
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

void log_be_bounded(void)
{
	THREAD_HOLD(&bound.lock);

	bound.is_on = true;
	bound.minute_began_ns = clock_now_ns();
}

uint64_t log_left_out(void)
{
	THREAD_HOLD(&bound.lock);

	return bound.left_out;
}

/* Whether a line can be written at once. A pipe that can be written to has room for a line. */
static bool is_writable(void)
{
	struct pollfd polled = {.fd = STDERR_FILENO, .events = POLLOUT};

	return poll(&polled, 1, 0) == 1;
}

/* Begins another minute if it is time. Returns how many lines the last minute lacks. */
static unsigned begin_minute(void)
{
	const uint64_t now_ns = clock_now_ns();
	const unsigned lacks = bound.lacks;

	if (now_ns - bound.minute_began_ns < MINUTE_NS)
		return 0;
	bound.minute_began_ns = now_ns;
	memset(bound.lines, 0, sizeof(bound.lines));
	memset(bound.n_kinds, 0, sizeof(bound.n_kinds));
	bound.lacks = 0;
	return lacks;
}

static struct kind *kind_of(enum room room, const char *format)
{
	struct kind *const kinds = bound.kinds[room];
	unsigned *const n = &bound.n_kinds[room];
	unsigned i = 0;

	while (i < *n && kinds[i].format != format)
		i++;
	if (i == *n && i <= MAX_KINDS) {
		kinds[i] = (struct kind){.format = format};
		++*n;
	}
	return &kinds[i < MAX_KINDS ? i : MAX_KINDS];
}

/* Counts a line. A kind has as much of the room as is free, so that others find some, too. */
static bool count_line(enum room room, const char *format)
{
	struct kind *const kind = kind_of(room, format);

	if (max_level < LOG_LEVEL_DEBUG && kind->lines >= LOG_MAX_LINES - bound.lines[room])
		return false;
	kind->lines++;
	bound.lines[room]++;
	return true;
}

/* *ret_lacks: how many lines are to be said to have been left out before this one. */
static bool may_write(enum log_level level, const char *format, unsigned *ret_lacks)
{
	const enum room room = level <= LOG_LEVEL_WARNING ? ROOM_TROUBLE : ROOM_OTHERS;
	bool is_allowed = true;

	*ret_lacks = 0;
	THREAD_HOLD(&bound.lock);
	if (bound.is_on) {
		const bool is_room = is_writable();

		if (is_room)
			*ret_lacks = begin_minute();
		is_allowed = is_room && count_line(room, format);
		bound.lacks += !is_allowed;
		bound.left_out += !is_allowed;
	}
	return is_allowed;
}

static void write_all(const char *line, size_t len)
{
	for (size_t done = 0; done < len;) {
		const ssize_t written = write(STDERR_FILENO, line + done, len - done);

		if (written <= 0)
			break;
		done += (size_t)written;
	}
}

static void say_lacks(unsigned lacks)
{
	char line[160];
	size_t len = put_prefix(LOG_LEVEL_WARNING, line);

	len += (size_t)sprintf(line + len,
			       "%u lines were left out before this one: they were too many, or "
			       "nobody read them\n",
			       lacks);
	write_all(line, len);
}

void log_catch(struct log_catch *to)
{
	caught = to;
}

static void catch_line(enum log_level level, const char *format, va_list args)
{
	char *const text = level == LOG_LEVEL_ERROR ? caught->errors : caught->warnings;
	const size_t len = strlen(text);
	char line[LOG_CATCH_BYTES];
	int n;

	vsnprintf(line, sizeof(line), format, args);
	utf8_clean(line, strlen(line), line, sizeof(line));
	n = snprintf(text + len, LOG_CATCH_BYTES - len, "%s%s", len > 0 ? "; " : "", line);
	if (n >= (int)(LOG_CATCH_BYTES - len))
		memcpy(text + LOG_CATCH_BYTES - sizeof("..."), "...", sizeof("..."));
}

void log_line(enum log_level level, const char *format, ...)
{
	const int saved = errno;
	char line[2048];
	unsigned lacks;
	size_t len;
	va_list args;
	int n;

	if (caught && level >= LOG_LEVEL_ERROR && level <= LOG_LEVEL_WARNING) {
		va_start(args, format);
		errno = saved;
		catch_line(level, format, args);
		va_end(args);
		errno = saved;
		return;
	}
	if (level > max_level || !may_write(level, format, &lacks)) {
		errno = saved;
		return;
	}
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
	if (lacks)
		say_lacks(lacks);
	write_all(line, len);
	errno = saved;
}

void log_stats(struct log_stats *ret)
{
	ret->left_out = log_left_out();
}

static const struct counter counters[] = {
	COUNTER_SUM(struct log_stats, left_out, "log.left_out", "log_lines_left_out_total",
		    "Lines of the log that were left out: too many, or nobody read them."),
};

const struct counters log_counters = COUNTERS(struct log_stats, counters);
