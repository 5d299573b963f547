// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a file -> a table that is its first bytes, made when the test lets it be
 * units:   bytes
 * threads: any
 * errors:  -ENOENT for an empty file, -EFBIG for one that begins with "large"
 * source:  none
 */
#ifndef FG_TESTS_ELF_SLOW_KIND_H
#define FG_TESTS_ELF_SLOW_KIND_H

#include "files/table_loader.h"

#define SLOW_KIND_BYTES 1000 /* that a table says it takes */

struct slow_table {
	char text[64];
};

/* Two kinds that differ in nothing but what slow_kind_begun says. */
extern const struct table_kind slow_kind, slow_kind_too;

/* From here on each load waits until it is let go; open lets all go, also those to come. */
void slow_kind_close(void);
void slow_kind_let_one(void);
void slow_kind_open(void);
/* How many tables there are. */
int slow_kind_alive(void);
/* Waits until that many have begun. */
void slow_kind_wait_begun(int count);
/* Which kind has begun as the n-th since slow_kind_close, from 1 on; NULL: none has yet. */
const struct table_kind *slow_kind_begun(int n);

#endif
