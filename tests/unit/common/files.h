// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a text or bytes -> a file that has them, and back
 * units:   bytes
 * threads: any
 * errors:  the test fails
 * source:  memfd_create(2)
 */
#ifndef FG_TESTS_COMMON_FILES_H
#define FG_TESTS_COMMON_FILES_H

#include <stddef.h>

/* Makes the file, or puts the text in the place of what it had. */
void files_write(const char *path, const char *text);
/* Puts the text behind what the file has. */
void files_append(const char *path, const char *text);
/* All that the file has; the caller frees. */
void *files_read(const char *path, size_t *ret_len);
/* A descriptor of a file in memory, at its beginning; the caller closes. */
int files_open_memory(const void *data, size_t len);

#endif
