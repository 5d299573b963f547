// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a gzip or xz file, in pieces or in memory -> its bytes, some at a time or all
 * units:   bytes
 * threads: one at a time
 * errors:  -EINVAL: damaged, cut short, or followed by other bytes; -EFBIG: more than max
 *          bytes, or xz that takes more than 16 MiB of memory; -ENOMEM; errors of the source. The first error is kept in err
 * source:  RFC 1952, zlib.h; the .xz file format 1.0.4, lzma/container.h
 *
 * All members of a gzip file are unzipped, one after the other; an xz file is one stream. libelf
 * inflates compressed sections of an ELF file (elf/elf_section.h); elf/mini_debug.h unpacks mini
 * debug info.
 */
#ifndef FG_IMPORT_DECOMPRESSOR_H
#define FG_IMPORT_DECOMPRESSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lzma.h>
#include <zlib.h>

#define DECOMPRESSOR_BYTES 65536

/*
 * next gives the next piece of the file, which is valid until the next call: at least one byte, or
 * 0 bytes at the end of the file. Negative errno.
 */
struct decompressor_source {
	int (*next)(void *arg, const char **ret, size_t *ret_len);
	void *arg;
};

struct decompressor {
	struct decompressor_source source;
	bool is_xz;
	union {
		z_stream z;
		lzma_stream xz;
	};
	const char *piece; /* bytes that the library has not been given yet */
	size_t piece_len;
	uint64_t left; /* of max: bytes that may still come */
	int err;
	bool is_between; /* a member has ended, and another may follow; of xz none may */
	bool is_ended;	 /* the source has no more bytes */
	size_t at, end;	 /* the bytes of out that have not been taken */
	unsigned char out[DECOMPRESSOR_BYTES];
};

int decompressor_init_gzip(struct decompressor *decompressor,
			   const struct decompressor_source *source, uint64_t max);
int decompressor_init_xz(struct decompressor *decompressor,
			 const struct decompressor_source *source, uint64_t max);
void decompressor_fini(struct decompressor *decompressor);
/* Takes exactly len bytes, or returns false. to NULL: the bytes are passed over. */
bool decompressor_take(struct decompressor *decompressor, void *to, uint64_t len);
/* Whether all bytes have been taken and the checksums of all members are right. */
bool decompressor_at_end(struct decompressor *decompressor);

bool decompressor_is_gzip(const void *data, size_t len);
/* Unzips a gzip file in memory. The caller frees *ret, which is NULL if the file holds no byte. */
int decompressor_gunzip(const void *data, size_t len, size_t max, unsigned char **ret,
			size_t *ret_len);

#endif
