// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a gzip file -> the bytes in it
 * units:   bytes
 * threads: any
 * errors:  -EINVAL damaged or cut short, -EFBIG more than max bytes come out of it, -ENOMEM
 * source:  RFC 1952; zlib.h
 */
#ifndef FG_IMPORT_GUNZIP_H
#define FG_IMPORT_GUNZIP_H

#include <stdbool.h>
#include <stddef.h>

bool gunzip_is_gzip(const void *data, size_t len);
/* All members, one after the other. The caller frees *ret. */
int gunzip(const void *data, size_t len, size_t max, unsigned char **ret, size_t *ret_len);

#endif
