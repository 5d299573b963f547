// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   whole records in, in order; runs of whole records out
 * units:   bytes
 * threads: none of its own; the recorder's lock is held around every call
 * errors:  no room is NULL; nothing is ever overwritten
 * source:  the record header of shared/README.md, whose length the reader trusts: we wrote it
 *
 * A ring in which no record is split: records lie in a run, and when the end of the storage has no
 * room for one, a second run starts at the storage's beginning. A record that is read stays where
 * it is until it is consumed, so that it may be sent from here without the lock.
 *
 * Invariants: begin <= end <= size; second <= begin; second == 0 or no more goes to the first run.
 */
#ifndef FGAGENT_BUFFER_H
#define FGAGENT_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer {
	uint8_t *data;
	size_t size;
	size_t begin, end; /* the run that is read */
	size_t second;	   /* end of the run at 0 that is read after it */
	uint64_t n_records;
};

/* Borrows the storage; {0} is a buffer without room. */
void buffer_init(struct buffer *buffer, void *data, size_t size);

/* Room for one record, to be filled and committed before any other call; NULL if there is none. */
uint8_t *buffer_reserve(const struct buffer *buffer, size_t bytes);
void buffer_commit(struct buffer *buffer, const uint8_t *reserved, size_t bytes);

/* The next whole records, as many as fit in max bytes but at least one; 0 if there is none. */
size_t buffer_peek(const struct buffer *buffer, size_t max, const uint8_t **ret);
/* Drops what buffer_peek gave. */
void buffer_consume(struct buffer *buffer, size_t bytes);

size_t buffer_used_bytes(const struct buffer *buffer);

#endif
