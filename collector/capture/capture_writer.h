// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   records of a capture -> a gzip file
 * units:   bytes
 * threads: one at a time
 * errors:  kept in err; records past CAPTURE_MAX_BYTES or CAPTURE_MAX_RECORDS are not written, and
 *          is_full is set
 * source:  capture_format.h
 */
#ifndef FG_CAPTURE_CAPTURE_WRITER_H
#define FG_CAPTURE_CAPTURE_WRITER_H

#include "base/map64.h"
#include "capture/capture_format.h"
#include "encode/bytes.h"
#include "encode/compressor.h"

#include <stdbool.h>
#include <stdint.h>

struct capture_writer {
	struct compressor compressor;
	uint64_t bytes; /* written bytes, unzipped */
	uint32_t records;
	bool is_full; /* the caller may set it, too */
	int err;
	struct map64 facts; /* hashes of all facts written */
	struct map64 last;  /* key -> hash of the fields written last */
	uint64_t seed;	    /* seed of the hashes */
};

int capture_writer_init(struct capture_writer *writer, FILE *stream);
/* Writes a record, and leaves fields empty. False: the capture is full, or an error was kept. */
bool capture_write(struct capture_writer *writer, enum capture_kind kind, struct bytes *fields);
/* As capture_write, unless an equal fact has been written before. */
bool capture_write_fact(struct capture_writer *writer, enum capture_kind kind,
			struct bytes *fields);
/*
 * As capture_write, unless the last record with that key had equal fields. The caller chooses the
 * keys; a key of one kind says nothing of another kind.
 */
bool capture_write_change(struct capture_writer *writer, enum capture_kind kind, uint64_t key,
			  struct bytes *fields);
/* Writes the record even if the capture is full, and ends the file. Negative errno. */
int capture_writer_end(struct capture_writer *writer, enum capture_kind kind, struct bytes *fields);
void capture_writer_fini(struct capture_writer *writer);

#endif
