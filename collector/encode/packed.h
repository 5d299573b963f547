// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   bytes -> zlib's format in base64, which any markup can hold
 * units:   bytes
 * threads: any
 * errors:  -ENOMEM; write errors are the stream's
 * source:  RFC 1950 (zlib), RFC 4648 (base64)
 */
#ifndef FG_ENCODE_PACKED_H
#define FG_ENCODE_PACKED_H

#include "encode/bytes.h"

#include <stdio.h>

int packed_write(const struct bytes *data, FILE *stream); /* in lines of 120 characters */
/* Writes base64 without compression, on one line. */
void packed_write_base64(const unsigned char *data, size_t len, FILE *stream);

#endif
