// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   bytes -> a gzip or xz file
 * units:   bytes
 * threads: one at a time
 * errors:  kept in err; compressor_finish returns the first one
 * source:  RFC 1952, zlib.h; the .xz file format 1.0.4, lzma/container.h
 */
#ifndef FG_ENCODE_COMPRESSOR_H
#define FG_ENCODE_COMPRESSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <lzma.h>
#include <zlib.h>

#define COMPRESSOR_BUFFER_BYTES 65536

enum compression {
	COMPRESSION_GZIP, /* zlib's level 6: a profile of 18 MB takes less than half a second */
	COMPRESSION_GZIP_FAST, /* zlib's level 1, for much data that comes while others wait */
	/* A quarter less than gzip. Takes some ten times the time, and 12 MiB of memory. */
	COMPRESSION_XZ,
};

struct compressor {
	enum compression compression;
	union {
		z_stream z;
		lzma_stream xz;
	};
	FILE *stream; /* borrowed */
	int err;
	size_t pending; /* bytes in the buffer in */
	unsigned char in[COMPRESSOR_BUFFER_BYTES];
	unsigned char out[COMPRESSOR_BUFFER_BYTES];
};

int compressor_init(struct compressor *compressor, enum compression compression, FILE *stream);
void compressor_add(struct compressor *compressor, const void *data, size_t len);
/* Writes the pending bytes and the end of the file. */
int compressor_finish(struct compressor *compressor);
void compressor_fini(struct compressor *compressor);

#endif
