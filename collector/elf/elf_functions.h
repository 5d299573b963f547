// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   symbol tables of an ELF file and of its debug files -> one list of the file's functions
 * units:   elf_addr is p_vaddr
 * threads: one at a time
 * errors:  -ENOEXEC: a broken symbol table; -EFBIG: more than the limits of elf_file.h; -ENOMEM;
 *          functions added before stay
 * source:  elf(5); the processor supplements of the System V ABI for x86_64 and aarch64 (PLT)
 *
 * Names are borrowed from the files, which must stay open as long as the list is used. A
 * zero-filled struct elf_functions is valid and empty.
 */
#ifndef FG_ELF_ELF_FUNCTIONS_H
#define FG_ELF_ELF_FUNCTIONS_H

#include "elf/elf_file.h"

struct elf_functions {
	struct elf_function *items; /* in no order; owned */
	size_t count, size;
};

/*
 * Adds the functions of file's first section of type SHT_SYMTAB or SHT_DYNSYM; a file without such
 * a section is no error. layout is the layout of the mapped file, because the segments of a debug
 * file may be wrong.
 */
int elf_functions_add(struct elf_functions *functions, const struct elf_file *file,
		      const struct elf_layout *layout, uint32_t type);

/*
 * Adds the entries of .plt, .plt.sec, .plt.got and .iplt, each with the name of the function to
 * which the entry leads, and with is_plt set. Sorts the functions that were added before by
 * address, to find the names of resolvers.
 */
int elf_functions_add_plt(struct elf_functions *functions, const struct elf_file *file);

/* Makes room for more items behind count. */
int elf_functions_reserve(struct elf_functions *functions, size_t more);
void elf_functions_fini(struct elf_functions *functions);

#endif
