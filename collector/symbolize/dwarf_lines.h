// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   DWARF of a file: elf_addr -> the function there, those inlined into it, and their lines
 * units:   elf_addr; lines count from 1
 * threads: one at a time
 * errors:  -ENOENT no DWARF, -ENOEXEC, -EFBIG, -ENOMEM
 * source:  DWARF 5 sections 2.17, 3.3 and 6.2, libdw
 *
 * DWARF of unknown origin is more than libdw stands: what is here runs in a process of its own,
 * see native_lines.h.
 */
#ifndef FG_SYMBOLIZE_DWARF_LINES_H
#define FG_SYMBOLIZE_DWARF_LINES_H

#include <stddef.h>
#include <stdint.h>

#define DWARF_LINES_MAX_DEPTH 64

struct dwarf_lines; /* opaque */

/* A function at a line; texts are borrowed for the reader's life. */
struct dwarf_place {
	const char *name; /* as the linker calls it, or else the source; NULL: not known */
	const char *file; /* without directories; NULL: not known */
	uint32_t line;	  /* 0: not known */
};

/* fd has the DWARF, shared_fd what dwz moved out of it, or is -1; both must stay open. */
int dwarf_lines_open(int fd, int shared_fd, struct dwarf_lines **ret);
void dwarf_lines_close(struct dwarf_lines *lines); /* NULL is legal */

/*
 * Innermost first, the function that has the code itself last; ret has room for
 * DWARF_LINES_MAX_DEPTH. 0: nothing is known of that address.
 */
size_t dwarf_lines_find(struct dwarf_lines *lines, uint64_t elf_addr, struct dwarf_place *ret);

#endif
