// SPDX-License-Identifier: Apache-2.0
/* Directories of tests, see temp_dir.h. */
#include "common/temp_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OPEN_AT_ONCE 8

void temp_dir_make(char ret_path[TEMP_DIR_BYTES])
{
	strcpy(ret_path, "/tmp/fg-test-XXXXXX");
	assert_non_null(mkdtemp(ret_path));
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

void temp_dir_remove(const char *path)
{
	assert_int_equal(nftw(path, remove_entry, OPEN_AT_ONCE, FTW_DEPTH | FTW_PHYS), 0);
}

void temp_dir_remove_empty(const char *path)
{
	assert_int_equal(rmdir(path), 0);
}
