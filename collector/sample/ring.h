// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the kernel's ring buffer of one perf event -> its records, one after the other
 * units:   bytes
 * threads: one reader; the kernel is the only writer
 * errors:  negative errno
 * source:  perf_event_open(2), "MMAP layout"
 *
 * A zero-filled struct ring is valid and closed.
 */
#ifndef FG_SAMPLE_RING_H
#define FG_SAMPLE_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ring {
	void *base; /* the control page, then the data */
	size_t data_bytes;
	uint64_t tail;		/* bytes read so far */
	unsigned char *scratch; /* for a record that wraps around */
};

#define RING_MAX_RECORD_BYTES 65536 /* perf_event_header.size is a u16 */

/* Maps the ring buffer of fd. data_bytes is a power of two and a multiple of the page size. */
int ring_open(struct ring *ring, int fd, size_t data_bytes);
void ring_close(struct ring *ring);

/*
 * The next whole record, borrowed until ring_next or ring_done is called again; NULL if there is no
 * record. *ret_len is the record's length with its header.
 */
const void *ring_next(struct ring *ring, size_t *ret_len);

/* Whether there is a record to read. */
bool ring_has_more(const struct ring *ring);

/* Gives the room of all records that were read back to the kernel. */
void ring_done(struct ring *ring);

#endif
