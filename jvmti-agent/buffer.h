// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   whole records in, in order; runs of whole records out
 * units:   bytes
 * threads: none of its own; every caller holds the recorder's lock
 * errors:  no room is NULL; no record is ever overwritten
 * source:  the record header of shared/README.md; its length is trusted, because the agent wrote it
 *
 * A ring in which no record is split. Records lie in a run. When the end of the storage has no room
 * for a record, a second run starts at the storage's beginning. A record that is read stays in its
 * place until it is consumed, so that it can be sent from there without the lock.
 *
 * Invariants: begin <= end; second <= begin; while second > 0, no record is added to the first run.
 * No record is added behind size. Records that lie there were added before size became less.
 */
#ifndef FGAGENT_BUFFER_H
#define FGAGENT_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer {
	uint8_t *data;
	size_t size;
	size_t begin, end; /* the first run, which is read first */
	size_t second;	   /* end of the second run, which begins at 0 */
	uint64_t n_records;
};

/* Borrows the storage. A zero-filled struct is a buffer without room. */
void buffer_init(struct buffer *buffer, void *data, size_t size);
/* From now on size bytes of the storage are used, which has as many. At any time. */
void buffer_resize(struct buffer *buffer, size_t size);

/* Room for one record; NULL if there is none. Fill and commit it before any other call. */
uint8_t *buffer_reserve(const struct buffer *buffer, size_t bytes);
void buffer_commit(struct buffer *buffer, const uint8_t *reserved, size_t bytes);

/*
 * The next whole records, as many as fit into max bytes but at least one. Returns their bytes; 0:
 * there is no record.
 */
size_t buffer_peek(const struct buffer *buffer, size_t max, const uint8_t **ret);
/* Drops the bytes that buffer_peek gave. */
void buffer_consume(struct buffer *buffer, size_t bytes);

size_t buffer_used_bytes(const struct buffer *buffer);
/* Behind the last byte that is used. */
size_t buffer_used_end(const struct buffer *buffer);

#endif
