// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   tables of an ELF file, and of files that go with it -> one list of its functions
 * units:   elf_addr is p_vaddr
 * threads: one at a time
 * errors:  -ENOEXEC a table that is broken, -EFBIG more than the bounds of elf_file.h, -ENOMEM;
 *          what was added before stays
 * source:  elf(5); the processor supplements of the System V ABI for x86_64 and aarch64 (PLT)
 *
 * Names are borrowed from the files, which must stay open as long as the list is used. A
 * zero-filled list is a valid, empty one.
 */
#ifndef FG_ELF_ELF_FUNCTIONS_H
#define FG_ELF_ELF_FUNCTIONS_H

#include "elf/elf_file.h"

struct elf_functions {
	struct elf_function *items; /* in no order; owned */
	size_t count, size;
};

/*
 * Adds the functions of file's first table of type SHT_SYMTAB or SHT_DYNSYM; none is no error.
 * layout is that of the file that is mapped, for the segments of a debug file are not to be
 * believed.
 */
int elf_functions_add(struct elf_functions *functions, const struct elf_file *file,
		      const struct elf_layout *layout, uint32_t type);

/*
 * Adds the entries of .plt, .plt.sec, .plt.got and .iplt, each by the name of the function that it
 * leads to, with is_plt set. Sorts what is there by address, to name those that lead to a resolver.
 */
int elf_functions_add_plt(struct elf_functions *functions, const struct elf_file *file);

/* Room for more items behind count. */
int elf_functions_reserve(struct elf_functions *functions, size_t more);
void elf_functions_fini(struct elf_functions *functions);

#endif
