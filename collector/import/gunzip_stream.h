// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a descriptor with gzip in it -> the bytes in that, as many at a time as are asked for
 * units:   bytes
 * threads: one at a time
 * errors:  -EINVAL damaged or cut short, -EFBIG more than max bytes come out of it, -ENOMEM, and
 *          those of read(2); kept, so that callers may look once
 * source:  RFC 1952; zlib.h
 */
#ifndef FG_IMPORT_GUNZIP_STREAM_H
#define FG_IMPORT_GUNZIP_STREAM_H

#include "import/lines.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <zlib.h>

#define GUNZIP_STREAM_BYTES 65536

struct gunzip_stream {
	struct lines *lines; /* borrowed: where the file is read from */
	z_stream z;
	uint64_t left; /* that may still come out */
	int err;
	bool is_ended;
	size_t at, end; /* of out */
	unsigned char out[GUNZIP_STREAM_BYTES];
};

int gunzip_stream_init(struct gunzip_stream *stream, struct lines *lines, uint64_t max);
void gunzip_stream_fini(struct gunzip_stream *stream);
/* Exactly len bytes, or false; to may be NULL, then they are passed over. */
bool gunzip_stream_take(struct gunzip_stream *stream, void *to, uint64_t len);
/* Whether all has been taken, and what came out is what went in, by its checksum. */
bool gunzip_stream_at_end(struct gunzip_stream *stream);

#endif
