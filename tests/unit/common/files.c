// SPDX-License-Identifier: Apache-2.0
/* Files of tests, see files.h. */
#include "common/files.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static void write_as(const char *mode, const char *path, const char *text)
{
	FILE *file = fopen(path, mode);

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

void files_write(const char *path, const char *text)
{
	write_as("w", path, text);
}

void files_append(const char *path, const char *text)
{
	write_as("a", path, text);
}

void *files_read(const char *path, size_t *ret_len)
{
	FILE *file = fopen(path, "r");
	void *bytes;

	assert_non_null(file);
	assert_int_equal(fseek(file, 0, SEEK_END), 0);
	*ret_len = (size_t)ftell(file);
	rewind(file);
	bytes = malloc(*ret_len);
	assert_non_null(bytes);
	assert_int_equal(fread(bytes, 1, *ret_len, file), *ret_len);
	fclose(file);
	return bytes;
}

int files_open_memory(const void *data, size_t len)
{
	const int fd = memfd_create("test", MFD_CLOEXEC);

	assert_true(fd >= 0);
	for (size_t at = 0; at < len;) {
		const ssize_t n = write(fd, (const char *)data + at, len - at);

		assert_true(n > 0);
		at += (size_t)n;
	}
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}
