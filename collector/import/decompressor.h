// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a gzip, xz or zstd file, in pieces or in memory -> its bytes, some at a time or all
 * units:   bytes
 * threads: one at a time
 * errors:  -EINVAL: damaged, cut short, or followed by other bytes; -EFBIG: more than max
 *          bytes, or a file that takes more memory than allowed; -ENOMEM; -ENOTSUP: there is no
 *          libzstd; errors of the source. The first error is kept in err
 * source:  RFC 1952, zlib.h; the .xz file format 1.0.4, lzma/container.h; RFC 8878, zstd.h
 *
 * All members of a gzip file are unzipped, one after the other, and so are the frames of zstd and,
 * in files of other programs, the streams of xz; in a recording an xz file is one stream. libelf
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
#define DECOMPRESSOR_LOOK  6

/*
 * next gives the next piece of the file, which is valid until the next call: at least one byte, or
 * 0 bytes at the end of the file. Negative errno.
 */
struct decompressor_source {
	int (*next)(void *arg, const char **ret, size_t *ret_len);
	void *arg;
};

enum decompressor_form {
	DECOMPRESSOR_GZIP,
	DECOMPRESSOR_XZ,
	DECOMPRESSOR_ZSTD,
};

struct decompressor {
	struct decompressor_source source;
	enum decompressor_form form;
	bool has_streams; /* more than one stream of xz may come */
	union {
		z_stream z;
		lzma_stream xz;
		void *zstd;
	};
	struct {
		const void *data;
		size_t len, at;
	} given;	   /* to zstd */
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
/* Of any program's file: all members, frames or streams, and up to 128 MiB of memory. */
int decompressor_init_file(struct decompressor *decompressor, enum decompressor_form form,
			   const struct decompressor_source *source);
void decompressor_fini(struct decompressor *decompressor);
/* Takes exactly len bytes, or returns false. to NULL: the bytes are passed over. */
bool decompressor_take(struct decompressor *decompressor, void *to, uint64_t len);
/* Takes at most len bytes, none at the end, where the checksums are right. Negative errno. */
int decompressor_read(struct decompressor *decompressor, void *to, size_t len, size_t *ret_len);
/* Whether all bytes have been taken and the checksums of all members are right. */
bool decompressor_at_end(struct decompressor *decompressor);

bool decompressor_is_gzip(const void *data, size_t len);
/* The form of a file that begins so, of DECOMPRESSOR_LOOK bytes; false: none. */
bool decompressor_form_of(const void *data, size_t len, enum decompressor_form *ret);
/* Unzips a gzip file in memory. The caller frees *ret, which is NULL if the file holds no byte. */
int decompressor_gunzip(const void *data, size_t len, size_t max, unsigned char **ret,
			size_t *ret_len);

#endif
