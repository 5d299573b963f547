// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   bytes -> zlib's format in base64, which any markup can hold
 * units:   bytes
 * threads: one at a time
 * errors:  -ENOMEM, kept until packer_end; write errors are the stream's
 * source:  RFC 1950 (zlib), RFC 4648 (base64)
 *
 * Bytes are compressed and written while they come, so memory does not grow with them.
 */
#ifndef FG_ENCODE_PACKED_H
#define FG_ENCODE_PACKED_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum packed_effort {
	PACKED_FAST,  /* half the time, and 4 to 11 % more bytes */
	PACKED_SMALL, /* level 6 would take a quarter more time for 0.3 % less */
};

struct packer;

/* NULL: there is no memory. stream NULL: bytes are counted, and nothing is written. */
struct packer *packer_new(FILE *stream, enum packed_effort effort);
void packer_add(struct packer *packer, const void *data, size_t len);
void packer_add_varint(struct packer *packer, uint64_t value); /* LEB128, as in bytes.h */
/* The bytes that were added. */
uint64_t packer_bytes(const struct packer *packer);
/* Writes what is left, in lines of 120 characters. Nothing may be added behind it. */
int packer_end(struct packer *packer);
void packer_free(struct packer *packer);

static inline void packer_freep(struct packer **packer)
{
	packer_free(*packer);
}

/* Writes base64 without compression, on one line. */
void packed_write_base64(const unsigned char *data, size_t len, FILE *stream);

#endif
