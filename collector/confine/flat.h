// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a table -> arrays without pointers -> a socket -> a table
 * units:   bytes
 * threads: one at a time
 * errors:  negative errno; -EBADMSG: a length past its limit, or the socket has ended
 * source:  none
 *
 * Both ends are the same program, so that structs without pointers are sent as they are. The
 * reader trusts no value in them.
 */
#ifndef FG_CONFINE_FLAT_H
#define FG_CONFINE_FLAT_H

#include <stddef.h>
#include <stdint.h>

/* Sends bytes; the first error stays. */
struct flat_writer {
	int sock, err;
};

void flat_write(struct flat_writer *writer, const void *bytes, size_t len);

/* Receives bytes; the first error stays. */
struct flat_reader {
	int sock, err;
};

/* Without bytes the value is filled with zeros. */
void flat_read(struct flat_reader *reader, void *ret, size_t len);
/*
 * Receives an array of count elements into new memory, which the caller frees. NULL: count is 0 or
 * past max, or the reader has an error; only the first is none.
 */
void *flat_read_array(struct flat_reader *reader, uint64_t count, size_t bytes, uint64_t max);

#endif
