// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a file's DWARF: elf_addr -> the function there, the functions inlined there, and their
 *          lines
 * units:   elf_addr; lines count from 1
 * threads: one at a time
 * errors:  -ENOENT no DWARF, -ENOEXEC, -EFBIG, -ENOMEM
 * source:  DWARF 5 sections 2.17, 3.3 and 6.2, libdw
 *
 * libdw is not safe with DWARF of unknown origin. Therefore the functions here run only in a
 * parser that native_lines.h starts for them.
 */
#ifndef FG_SYMBOLIZE_DWARF_LINES_H
#define FG_SYMBOLIZE_DWARF_LINES_H

#include <stddef.h>
#include <stdint.h>

#define DWARF_LINES_MAX_DEPTH 64

struct dwarf_lines; /* opaque */

/* A function and a line in it. The texts are borrowed and live as long as the reader. */
struct dwarf_place {
	const char *name; /* the linker's name, else the source's name; NULL: not known */
	const char *file; /* without directories; NULL: not known */
	uint32_t line;	  /* 0: not known */
};

/*
 * fd is the file with the DWARF. shared_fd is the file into which dwz has moved common parts, or
 * -1. Both must stay open.
 */
int dwarf_lines_open(int fd, int shared_fd, struct dwarf_lines **ret);
void dwarf_lines_close(struct dwarf_lines *lines); /* NULL is legal */

/*
 * The functions at elf_addr, the innermost inlined one first, the function with code of its own
 * last. ret has room for DWARF_LINES_MAX_DEPTH places. Returns their number; 0: nothing is known of
 * that address.
 */
size_t dwarf_lines_find(struct dwarf_lines *lines, uint64_t elf_addr, struct dwarf_place *ret);

#endif
