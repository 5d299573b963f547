// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a stream of bytes -> a descriptor, with their number and their CRC-32
 * units:   bytes
 * threads: one
 * errors:  negative errno of the first write that failed, from close
 * source:  write(2); the CRC-32 of RFC 1952, 8.1.1, as gzip and zlib have it
 *
 * For record -o -: who reads from a pipe or through a connection cannot tell a file that was cut
 * from a whole one. What close returns is said on stderr, for the reader to compare.
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

/* output must stay where it is until close. -ENOMEM. */
int stdout_output_open(struct stdout_output *output, int fd);
/* Writes what is left; bytes and crc are of what the descriptor took. Does not close it. */
int stdout_output_close(struct stdout_output *output);

#endif
