// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a directory of the test's own under /tmp -> nothing
 * units:   none
 * threads: any
 * errors:  the test fails
 * source:  mkdtemp(3), nftw(3)
 */
#ifndef FG_TESTS_COMMON_TEMP_DIR_H
#define FG_TESTS_COMMON_TEMP_DIR_H

#define TEMP_DIR_BYTES 64 /* has room for the longest path */

/* Writes the path of a new, empty directory. */
void temp_dir_make(char ret_path[TEMP_DIR_BYTES]);
/* Removes the directory with all that is in it; symbolic links are not followed. */
void temp_dir_remove(const char *path);
/* Removes the directory, in which nothing may be left. */
void temp_dir_remove_empty(const char *path);

#endif
