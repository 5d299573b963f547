// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   one line on stderr a call, "fgcollect: text"
 * units:   none
 * threads: any; lines do not mix
 * errors:  none; errno is kept
 * source:  sd-daemon(3): priorities; systemd.exec(5): JOURNAL_STREAM
 *
 * Bytes that could steer a terminal are shown as '?', because texts carry names from outside.
 */
#ifndef FG_BASE_LOG_H
#define FG_BASE_LOG_H

enum log_level {
	LOG_LEVEL_SILENT = -1,
	LOG_LEVEL_ERROR,
	LOG_LEVEL_WARNING,
	LOG_LEVEL_INFO, /* the default */
	LOG_LEVEL_DEBUG,
};

/* Returns the level before. */
enum log_level log_set_level(enum log_level level);
/* By its word: error, warning, info or debug; -EINVAL. */
int log_level_of(const char *word, enum log_level *ret);

/* If stderr is the journal's, lines begin with their priority from now on: "<4>fgcollect: ". */
void log_detect_journal(void);

/* Called before each line that is printed, so that a progress line can be cleared. NULL: none. */
void log_set_before_line(void (*hook)(void));

void log_line(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define log_error(...)	 log_line(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warning(...) log_line(LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_info(...)	 log_line(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...)	 log_line(LOG_LEVEL_DEBUG, __VA_ARGS__)

#endif
