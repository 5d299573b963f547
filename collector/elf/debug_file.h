// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a stripped ELF file -> its debug file, with symbols and DWARF, if there is one
 * units:   none
 * threads: any
 * errors:  -ENOENT: there is no debug file
 * source:  "Debugging Information in Separate Files" of the GDB manual, openat2(2)
 *
 * A debug file is looked for by build ID and by the name in .gnu_debuglink, in the places that
 * debug_paths.h names. The debug file must have the file's build ID or, if the file has none, the
 * checksum in .gnu_debuglink. Its code must have the addresses of the file's
 * code. The debug file must not be the file itself.
 */
#ifndef FG_ELF_DEBUG_FILE_H
#define FG_ELF_DEBUG_FILE_H

#include "elf/debug_paths.h"
#include "elf/elf_file.h"

/* The contents of .gnu_debuglink. */
struct debug_link {
	char name[DEBUG_NAME_BYTES];
	uint32_t checksum;
};

/*
 * Returns a descriptor of the debug file, which the caller closes. fd is the descriptor of file.
 * *ret_is_targets: the debug file is in the target's root directory, and holds only for processes
 * with this root directory, even if other processes map the file.
 */
int debug_file_open(int fd, const struct elf_file *file, const struct debug_place *place,
		    bool *ret_is_targets);

/*
 * Returns a descriptor of the file to which dwz moved shared DWARF, by .gnu_debugaltlink of file.
 * file is the file with the DWARF: a debug file, or the mapped file itself.
 */
int debug_file_open_shared(const struct elf_file *file, const struct debug_place *place);

/* Reads .gnu_debuglink; -ENOENT if there is none, or a broken one. Public for its tests. */
int debug_file_read_link(const struct elf_file *file, struct debug_link *ret);

#endif
