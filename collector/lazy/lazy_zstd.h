// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   libzstd -> its functions, for files that are read
 * units:   as of the library
 * threads: any for load; otherwise as of the library
 * errors:  NULL, or why the library cannot be loaded
 * source:  libzstd
 *
 * In place of the library's own header, see lazy/lazy_library.h.
 */
#ifndef FG_LAZY_LAZY_ZSTD_H
#define FG_LAZY_LAZY_ZSTD_H

#include "lazy/lazy_library.h"

#include <zstd.h>

#define LAZY_ZSTD(X)                                                                               \
	X(ZSTD_createDStream)                                                                      \
	X(ZSTD_decompressStream)                                                                   \
	X(ZSTD_freeDStream)                                                                        \
	X(ZSTD_isError)

extern struct lazy_zstd {
	LAZY_ZSTD(LAZY_MEMBER)
} lazy_zstd;

/* Before the first call of any. */
const char *lazy_zstd_load(void);

#define ZSTD_createDStream    lazy_zstd.ZSTD_createDStream
#define ZSTD_decompressStream lazy_zstd.ZSTD_decompressStream
#define ZSTD_freeDStream      lazy_zstd.ZSTD_freeDStream
#define ZSTD_isError	      lazy_zstd.ZSTD_isError

#endif
