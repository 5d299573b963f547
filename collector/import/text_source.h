// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a descriptor -> the bytes of its text in UTF-8, whatever the file is packed and encoded
 *          in
 * units:   bytes
 * threads: one at a time
 * errors:  negative errno of read(2), -ENOMEM; -EINVAL: reason says what is wrong with the file
 * source:  decompressor.h; Unicode 15, 3.9 and 23.8
 *
 * gzip, xz and zstd are told by their first bytes. A byte order mark is left out; the one of UTF-16
 * says that what follows is UTF-16. What is no character there becomes U+FFFD.
 */
#ifndef FG_IMPORT_TEXT_SOURCE_H
#define FG_IMPORT_TEXT_SOURCE_H

#include "import/decompressor.h"

#include <stdbool.h>
#include <stddef.h>

struct text_source; /* opaque */

struct text_source *text_source_new(int fd);	   /* NULL if out of memory */
void text_source_free(struct text_source *source); /* NULL is legal */

/* Reads at most size bytes, of at least 4; none at the end. */
int text_source_read(struct text_source *source, char *to, size_t size, size_t *ret_len);
/* Why the file cannot be read, behind -EINVAL; else NULL. */
const char *text_source_reason(const struct text_source *source);

#endif
