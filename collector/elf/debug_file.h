// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   an ELF file that was stripped -> the file with its symbols and DWARF, if there is one
 * units:   none
 * threads: any
 * errors:  -ENOENT there is none
 * source:  "Debugging Information in Separate Files" of the GDB manual, openat2(2)
 *
 * Looked for by build ID and by the name in .gnu_debuglink, first in the target's root, which is
 * hostile ground, then on the host. A path is resolved inside of its root without opening what it
 * leads to; only a regular file is opened, to be read. It must have the file's build ID or, if
 * the file has none, the checksum that the link gives, and segments where the file has them; and it
 * must not be the file itself.
 */
#ifndef FG_ELF_DEBUG_FILE_H
#define FG_ELF_DEBUG_FILE_H

#include "elf/elf_file.h"

#define DEBUG_FILE_NAME_BYTES 256

/* Where a file came from. */
struct debug_place {
	int root;	  /* the target's, a directory opened with O_PATH; -1: none */
	const char *path; /* of the file in that root, and maybe on the host; NULL: not known */
};

/* What a file says of the one that goes with it. */
struct debug_link {
	char name[DEBUG_FILE_NAME_BYTES]; /* "": it has no link */
	uint32_t checksum;
};

/*
 * fd is that of file. A descriptor, which the caller closes; *ret_is_targets: it is of the target's
 * root, and says nothing of others that map the same file.
 */
int debug_file_open(int fd, const struct elf_file *file, const struct debug_place *place,
		    bool *ret_is_targets);

/*
 * The file that dwz moved shared DWARF to, by .gnu_debugaltlink of file. file is what has the
 * DWARF, the debug file or the mapped file itself.
 */
int debug_file_open_shared(const struct elf_file *file, const struct debug_place *place);

/* The part behind .gnu_debuglink; tested on its own. */
int debug_file_read_link(const struct elf_file *file, struct debug_link *ret);

#endif
