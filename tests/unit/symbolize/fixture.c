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

void fixture_need_compiler(void)
{
	if (!fixture_has_compiler())
		skip();
}

void fixture_run(const char *where, const char *format, ...)
{
	char *line, *all;
	va_list args;

	va_start(args, format);
	assert_true(vasprintf(&line, format, args) > 0);
	va_end(args);
	assert_true(asprintf(&all, "set -e; cd %s; %s", where, line) > 0);
	if (run(all) != 0)
		fail_msg("%s", all);
	free(all);
	free(line);
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
	char *path, *source_path, name[32];

	snprintf(name, sizeof(name), "fixture%u.so", libraries);
	path = fixture_new_path(name);
	snprintf(name, sizeof(name), "fixture%u.%s", libraries++, is_c ? "c" : "cc");
	source_path = fixture_new_path(name);
	files_write(source_path, source);
	fixture_run(dir, "%s -O1 -fPIC -shared -nostdlib -o %s %s %s", is_c ? "cc" : "c++", path,
		    options, source_path);
	free(source_path);
	return path;
}

int fixture_remove_all(void **state)
{
	if (dir[0])
		temp_dir_remove(dir);
	dir[0] = '\0';
	return 0;
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

bool fixture_has_name(struct elf_symbols *symbols, const char *wanted)
{
	uint64_t offset;

	for (uint64_t addr = 0; addr < 0x8000; addr++) {
		const char *name = elf_symbols_find(symbols, addr, &offset);

		if (name && strcmp(name, wanted) == 0)
			return true;
	}
	return false;
}
