// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a file's path -> a mapping of it, real or made up
 * units:   bytes
 * threads: one
 * errors:  the test fails
 * source:  proc(5), /proc/<pid>/maps
 *
 * Life cycle: mapped_file or mapped_address, then mapped_fini.
 */
#ifndef FG_TESTS_FILES_MAPPED_FILE_H
#define FG_TESTS_FILES_MAPPED_FILE_H

#include "memory/address_space.h"

/* What this process has mapped executable, as /proc/<pid>/maps shows it. */
struct mapped {
	void *at; /* NULL: nothing was mapped for the test */
	struct address_space space;
	struct mapping mapping; /* borrowed of space */
};

struct mapped mapped_file(const char *path);
/* What is mapped at the address anyway. */
struct mapped mapped_address(const void *addr);
/* Looks again: the file may have another name. */
void mapped_refresh(struct mapped *mapped);
void mapped_fini(struct mapped *mapped);

/*
 * Makes up a mapping of one page that no process has: only the path leads to the file. Device and
 * inode are those of the path, also of a symbolic link. The mapping borrows path.
 */
struct mapping mapping_made_up(const char *path, uint64_t addr);

#endif
