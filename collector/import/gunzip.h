// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a gzip file, in pieces or in memory -> the unzipped bytes, some at a time or all
 * units:   bytes
 * threads: one at a time
 * errors:  -EINVAL: damaged, cut short, or followed by other bytes; -EFBIG: more than max unzipped
 *          bytes; -ENOMEM; errors of the source. The first error is kept in err
 * source:  RFC 1952; zlib.h
 *
 * All members of a file are unzipped, one after the other. Other compressed data is not gzip:
 * libelf inflates compressed sections of an ELF file (elf/elf_section.h), and mini debug info is xz
 * (elf/mini_debug.h).
 */
#ifndef FG_IMPORT_GUNZIP_H
#define FG_IMPORT_GUNZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <zlib.h>

#define GUNZIP_BYTES 65536

/*
 * next gives the next piece of the file, which is valid until the next call: at least one byte, or
 * 0 bytes at the end of the file. Negative errno.
 */
struct gunzip_source {
	int (*next)(void *arg, const char **ret, size_t *ret_len);
	void *arg;
};

struct gunzip {
	struct gunzip_source source;
	z_stream z;
	const char *piece; /* bytes that zlib has not been given yet */
	size_t piece_len;
	uint64_t left; /* of max: unzipped bytes that may still come */
	int err;
	bool is_between; /* a member has ended, and another may follow */
	bool is_ended;	 /* the source has no more bytes */
	size_t at, end;	 /* the bytes of out that have not been taken */
	unsigned char out[GUNZIP_BYTES];
};

int gunzip_init(struct gunzip *gunzip, const struct gunzip_source *source, uint64_t max);
void gunzip_fini(struct gunzip *gunzip);
/* Takes exactly len bytes, or returns false. to NULL: the bytes are passed over. */
bool gunzip_take(struct gunzip *gunzip, void *to, uint64_t len);
/* Whether all bytes have been taken and the checksums of all members are right. */
bool gunzip_at_end(struct gunzip *gunzip);

bool gunzip_is_gzip(const void *data, size_t len);
/* Unzips a file in memory. The caller frees *ret, which is NULL if the file holds no byte. */
int gunzip_whole(const void *data, size_t len, size_t max, unsigned char **ret, size_t *ret_len);

#endif
