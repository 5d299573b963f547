// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what is written to stderr while a screen is painted -> kept, and written afterwards
 * units:   bytes
 * threads: one
 * errors:  negative errno: then stderr is as it was
 * source:  memfd_create(2)
 */
#ifndef FG_CLI_HELD_LOG_H
#define FG_CLI_HELD_LOG_H

#include <stddef.h>
#include <sys/types.h>

#define HELD_LOG_MAX_BYTES (256u << 10) /* past it, what was held is left out, and that is said */

struct held_log {
	int fd, real_fd; /* -1: nothing is held */
	off_t shown;	 /* up to here held_log_last has told of */
	unsigned left_out;
};

int held_log_begin(struct held_log *held);
/* The last line that is new, or "". */
void held_log_last(struct held_log *held, char *ret, size_t size);
void held_log_end(struct held_log *held);

#endif
