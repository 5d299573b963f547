// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   bytes -> a gzip file
 * units:   bytes
 * threads: one at a time
 * errors:  kept in err; gzip_finish returns the first one
 * source:  RFC 1952; zlib.h
 *
 * zlib's level 6: a profile of 18 MB takes less than half a second.
 */
#ifndef FG_ENCODE_GZIP_H
#define FG_ENCODE_GZIP_H

#include <stddef.h>
#include <stdio.h>

#include <zlib.h>

#define GZIP_BUFFER_BYTES 65536

struct gzip {
	z_stream z;
	FILE *stream; /* borrowed */
	int err;
	size_t pending; /* bytes in the buffer in */
	unsigned char in[GZIP_BUFFER_BYTES];
	unsigned char out[GZIP_BUFFER_BYTES];
};

int gzip_init(struct gzip *gzip, FILE *stream);
/* As gzip_init, for much data that comes while others wait: zlib's level 1. */
int gzip_init_fast(struct gzip *gzip, FILE *stream);
void gzip_add(struct gzip *gzip, const void *data, size_t len);
/* Writes the pending bytes and the end of the file. */
int gzip_finish(struct gzip *gzip);
void gzip_fini(struct gzip *gzip);

#endif
