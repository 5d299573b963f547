// SPDX-License-Identifier: Apache-2.0
/*
 * What the tests of import share: a text is read, and what came of it is written as folded stacks.
 */
#ifndef FG_TESTS_IMPORTED_H
#define FG_TESTS_IMPORTED_H

#include "../render/rendered.h"
#include "common/files.h"
#include "import/import.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct imported {
	struct profile profile;
	struct profile before;
	struct import_report report;
	int rc;
};

static const struct import_options all_marks = {.marks_kernel = true, .marks_jit = true};

static inline void import_bytes(struct imported *ret, const struct import_options *options,
				const void *data, size_t len)
{
	struct import_target target = {.profile = &ret->profile, .before = &ret->before};
	const int fd = files_open_memory(data, len);

	assert_int_equal(profile_init(&ret->profile, IMPORT_MAX_NODES), 0);
	assert_int_equal(profile_init(&ret->before, IMPORT_MAX_NODES), 0);
	ret->rc = import_read(fd, options, &target);
	ret->report = target.report;
	close(fd);
}

static inline void imported_fini(struct imported *imported)
{
	profile_fini(&imported->profile);
	profile_fini(&imported->before);
}

/* The caller frees. */
static inline char *folded_of(const struct profile *profile)
{
	return written(profile, RENDER_FOLDED, &(struct render_options){.splits_levels = true});
}

static inline void check_profile(const struct profile *profile, const char *expected)
{
	char *const text = folded_of(profile);

	assert_string_equal(text, expected);
	free(text);
}

/* text gives expected, and so many lines or samples of it are ignored. */
static inline void check_import(const struct import_options *options, const char *text,
				const char *expected, uint64_t ignored)
{
	struct imported imported;

	import_bytes(&imported, options, text, strlen(text));
	assert_int_equal(imported.rc, 0);
	check_profile(&imported.profile, expected);
	assert_int_equal(imported.report.ignored, ignored);
	imported_fini(&imported);
}

#endif
