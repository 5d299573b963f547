// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   bytes -> zlib's format in base64, fit for any markup
 * units:   bytes
 * threads: any
 * errors:  -ENOMEM; a failed write is the stream's
 * source:  RFC 1950 (zlib), RFC 4648 (base64)
 */
#ifndef FG_ENCODE_PACKED_H
#define FG_ENCODE_PACKED_H

#include "encode/bytes.h"

#include <stdio.h>

int packed_write(const struct bytes *data, FILE *stream); /* in lines */
/* base64 alone, on one line. */
void packed_write_base64(const unsigned char *data, size_t len, FILE *stream);

#endif
