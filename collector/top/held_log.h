// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   text that is written to stderr while a screen is painted -> held, and written afterwards
 * units:   bytes
 * threads: one
 * errors:  negative errno; stderr is unchanged then
 * source:  memfd_create(2)
 */
#ifndef FG_TOP_HELD_LOG_H
#define FG_TOP_HELD_LOG_H

#include <stddef.h>
#include <sys/types.h>

#define HELD_LOG_MAX_BYTES                                                                         \
	(256u << 10) /* held text past this limit is left out, and a line says so */

struct held_log {
	int fd, real_fd; /* -1: nothing is held */
	off_t shown;	 /* held_log_last has returned the text before this offset */
	unsigned left_out;
};

int held_log_begin(struct held_log *held);
/* The last line since the last call, or "". */
void held_log_last(struct held_log *held, char *ret, size_t size);
void held_log_end(struct held_log *held);

#endif
