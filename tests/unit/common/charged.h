// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what a program does -> the memory that malloc has given for it
 * units:   bytes, headers and rounding included
 * threads: one
 * errors:  none
 * source:  mallinfo(3)
 */
#ifndef FG_TESTS_CHARGED_H
#define FG_TESTS_CHARGED_H

#include <stdbool.h>
#include <stddef.h>

/* Whether malloc counts: a sanitizer's does not. */
bool charged_can_count(void);
void charged_begin(void);
/* What has been given since charged_begin, and not been freed. */
size_t charged_given(void);

#endif
