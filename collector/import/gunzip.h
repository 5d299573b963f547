// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   pieces of a gzip file -> the bytes in it, as many at a time as are asked for, or all
 * units:   bytes
 * threads: one at a time
 * errors:  -EINVAL damaged, cut short or followed by something else, -EFBIG more than max bytes come
 *          out of it, -ENOMEM, and those of the source; kept, so that callers may look once
 * source:  RFC 1952; zlib.h
 *
 * All members of a file count, one after the other. What else is unpacked is no gzip: libelf inflates
 * the compressed sections of an ELF file (elf/elf_section.h), and mini debug info is xz
 * (elf/mini_debug.h).
 */
#ifndef FG_IMPORT_GUNZIP_H
#define FG_IMPORT_GUNZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <zlib.h>

#define GUNZIP_BYTES 65536

/* Where the file comes from: at least a byte, until the next call, or none at the end. */
struct gunzip_source {
	int (*next)(void *arg, const char **ret, size_t *ret_len);
	void *arg;
};

struct gunzip {
	struct gunzip_source source;
	z_stream z;
	const char *piece; /* what zlib has not been given yet */
	size_t piece_len;
	uint64_t left; /* that may still come out */
	int err;
	bool is_between; /* members */
	bool is_ended;
	size_t at, end; /* of out */
	unsigned char out[GUNZIP_BYTES];
};

int gunzip_init(struct gunzip *gunzip, const struct gunzip_source *source, uint64_t max);
void gunzip_fini(struct gunzip *gunzip);
/* Exactly len bytes, or false; to may be NULL, then they are passed over. */
bool gunzip_take(struct gunzip *gunzip, void *to, uint64_t len);
/* Whether all has been taken, and what came out is what went in, by its checksum. */
bool gunzip_at_end(struct gunzip *gunzip);

bool gunzip_is_gzip(const void *data, size_t len);
/* All of a file that is in memory. The caller frees *ret. */
int gunzip_whole(const void *data, size_t len, size_t max, unsigned char **ret, size_t *ret_len);

#endif
