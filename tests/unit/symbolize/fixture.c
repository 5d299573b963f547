// SPDX-License-Identifier: Apache-2.0
/* Fixtures live in one directory under /tmp, made at the first use; see fixture.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/files.h"
#include "common/temp_dir.h"
#include "fixture.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char dir[TEMP_DIR_BYTES]; /* empty until it is made */
static unsigned libraries;

/* The sanitizers' options are not meant for the compiler. */
static int run(const char *command)
{
	return system(command); /* NOLINT: the test's own text */
}

bool fixture_has_compiler(void)
{
	static int has = -1;

	if (has < 0)
		has = run("cc --version >/dev/null 2>&1 && c++ --version >/dev/null 2>&1") == 0;
	if (!has)
		print_message("no compiler here: apt-get install gcc g++\n");
	return has == 1;
}

char *fixture_new_path(const char *name)
{
	char *path;

	if (!dir[0])
		temp_dir_make(dir);
	assert_true(asprintf(&path, "%s/%s", dir, name) > 0);
	return path;
}

char *fixture_new_library(const char *language, const char *source, const char *options)
{
	const bool is_c = strcmp(language, "c") == 0;
	char *command, *path, *source_path, name[32];

	snprintf(name, sizeof(name), "fixture%u.so", libraries);
	path = fixture_new_path(name);
	snprintf(name, sizeof(name), "fixture%u.%s", libraries++, is_c ? "c" : "cc");
	source_path = fixture_new_path(name);
	files_write(source_path, source);
	assert_true(asprintf(&command, "%s -O1 -fPIC -shared -nostdlib -o %s %s %s",
			     is_c ? "cc" : "c++", path, options, source_path) > 0);
	assert_int_equal(run(command), 0);
	free(command);
	free(source_path);
	return path;
}

void fixture_remove_all(void)
{
	if (dir[0])
		temp_dir_remove(dir);
	dir[0] = '\0';
}

struct fixture_bytes fixture_read(const char *path)
{
	struct fixture_bytes bytes;

	bytes.data = files_read(path, &bytes.len);
	return bytes;
}

int fixture_load(const char *path, struct elf_symbols **ret)
{
	const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	int err;

	assert_true(fd >= 0);
	err = elf_symbols_load(fd, NULL, ret);
	close(fd);
	return err;
}

int fixture_load_bytes(const void *data, size_t len, struct elf_symbols **ret)
{
	const int fd = files_open_memory(data, len);
	int err;

	err = elf_symbols_load(fd, NULL, ret);
	close(fd);
	return err;
}
