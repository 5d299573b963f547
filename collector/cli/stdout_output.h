// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a stream of bytes -> a descriptor, with their number and their CRC-32
 * units:   bytes
 * threads: one
 * errors:  negative errno of the first write that failed, from close
 * source:  write(2); the CRC-32 of RFC 1952, 8.1.1, as gzip and zlib have it
 *
 * For record -o -. The reader of a pipe or connection cannot tell a file that was cut from a whole
 * file. The number and the CRC-32 are written to stderr, so that the reader can compare.
 */
#ifndef FG_CLI_STDOUT_OUTPUT_H
#define FG_CLI_STDOUT_OUTPUT_H

#include <stdint.h>
#include <stdio.h>

struct stdout_output {
	FILE *stream; /* to write to */
	int fd;	      /* borrowed */
	int err;      /* of the first write that failed */
	uint64_t bytes;
	uint32_t crc;
};

/* output must not move until stdout_output_close. -ENOMEM. */
int stdout_output_open(struct stdout_output *output, int fd);
/* Writes all bytes that wait. bytes and crc count what the descriptor took; fd stays open. */
int stdout_output_close(struct stdout_output *output);

#endif
