// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a number -> as many executable mappings of this process
 * units:   none
 * threads: any
 * errors:  NULL
 * source:  mmap(2)
 *
 * The kernel cannot join these mappings, because between two of them is one without the right.
 */
#ifndef FG_TESTS_COMMON_CODES_H
#define FG_TESTS_COMMON_CODES_H

#include <stddef.h>

#define CODES_PAGE 4096

/* The mappings begin at every second page. */
char *codes_make(size_t count);
int codes_remove(char *codes, size_t count);

#endif
