// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a message -> one line on stderr, "fgcollect: text"
 * units:   none
 * threads: any; lines do not mix
 * errors:  none; errno is kept; a bounded log counts lines that are left out
 * source:  sd-daemon(3): priorities; systemd.exec(5): JOURNAL_STREAM
 *
 * Control characters, which could steer a terminal, become '?', because messages carry hostile
 * names.
 */
#ifndef FG_BASE_LOG_H
#define FG_BASE_LOG_H

#include "base/counters.h"

#include <stdint.h>

/* A minute; as many warnings and errors, and as many others. One kind of line has half at most. */
#define LOG_MAX_LINES 200

enum log_level {
	LOG_LEVEL_SILENT = -1,
	LOG_LEVEL_ERROR,
	LOG_LEVEL_WARNING,
	LOG_LEVEL_INFO, /* the default */
	LOG_LEVEL_DEBUG,
};

/* Returns the earlier level. */
enum log_level log_set_level(enum log_level level);

/* If stderr is the journal, later lines begin with their priority: "<4>fgcollect: ". */
void log_detect_journal(void);

/*
 * For a program without end: from now on no line waits for who reads stderr, and at most
 * LOG_MAX_LINES warnings and errors a minute are written, and as many other lines, unless the level
 * is debug. Lines of one kind, which have one format, are written while they are fewer than there
 * is room: so no kind keeps others out. A line says how many were left out.
 */
void log_be_bounded(void);
/* Lines left out since the start. */
uint64_t log_left_out(void);

struct log_stats {
	uint64_t left_out; /* lines, since the start */
};
extern const struct counters log_counters;

void log_stats(struct log_stats *ret);

/* Sets a hook that is called before each line, to clear a progress line for instance; or NULL. */
void log_set_before_line(void (*hook)(void));

#define LOG_CATCH_BYTES 1024u

/*
 * What a thread's errors and warnings are caught in. Lines are joined with "; ". What has no room
 * is left out, and the text ends with "...".
 */
struct log_catch {
	char errors[LOG_CATCH_BYTES], warnings[LOG_CATCH_BYTES];
};

/*
 * From now on errors and warnings of this thread go there, so that functions that say on stderr
 * what is wrong can be asked by somebody who is elsewhere; NULL: to stderr again.
 */
void log_catch(struct log_catch *to);

void log_line(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define log_error(...)	 log_line(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warning(...) log_line(LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_info(...)	 log_line(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...)	 log_line(LOG_LEVEL_DEBUG, __VA_ARGS__)

#endif
