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

/* Writes a file. The text takes the place of a file's old contents. */
void files_write(const char *path, const char *text);
/* Writes the text to the end of a file. */
void files_append(const char *path, const char *text);
/* Reads a whole file. The caller frees. */
void *files_read(const char *path, size_t *ret_len);
/* Opens a file in memory at its first byte. The caller closes. */
int files_open_memory(const void *data, size_t len);

#endif
