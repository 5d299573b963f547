// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   source text -> ELF file made by the host's compiler; ELF bytes -> symbols
 * units:   bytes
 * threads: one
 * errors:  a fixture that cannot be made fails the test; fixture_has_compiler says whether to skip
 * source:  none
 */
#ifndef FG_TESTS_SYMBOLIZE_FIXTURE_H
#define FG_TESTS_SYMBOLIZE_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>

#include "symbolize/elf_symbols.h"

struct fixture_bytes {
	unsigned char *data;
	size_t len;
};

/* What main returns where all of a program needs a compiler and there is none: ctest skips it. */
#define FIXTURE_NO_COMPILER 77

bool fixture_has_compiler(void);
/* Skips the test where there is none. */
void fixture_need_compiler(void);

/* A shared library; language is "c" or "c++", options go to the compiler. Freed with free. */
char *fixture_new_library(const char *language, const char *source, const char *options);
/* A path in the fixtures' directory. Freed with free. */
char *fixture_new_path(const char *name);
/* For the end of a group of tests. */
int fixture_remove_all(void **state);
/* Runs lines of shell in a directory; the test fails with the first of them that does. */
void fixture_run(const char *dir, const char *format, ...) __attribute__((format(printf, 2, 3)));

struct fixture_bytes fixture_read(const char *path);

int fixture_load(const char *path, struct elf_symbols **ret);
/* From memory. */
int fixture_load_bytes(const void *data, size_t len, struct elf_symbols **ret);

/* Whether some address has that name. */
bool fixture_has_name(struct elf_symbols *symbols, const char *wanted);

#endif
