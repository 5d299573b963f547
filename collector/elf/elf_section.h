// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a section of an ELF file -> its bytes, uncompressed
 * units:   bytes
 * threads: one at a time
 * errors:  -ENOEXEC: broken; -EFBIG: larger than the caller allows
 * source:  elf(5), Chdr of the System V ABI
 */
#ifndef FG_ELF_ELF_SECTION_H
#define FG_ELF_ELF_SECTION_H

#include "elf/elf_file.h"

#include <gelf.h>

/* The first section of a name that has bytes in the file, and its header; NULL if there is none. */
Elf_Scn *elf_section_find(const struct elf_file *file, const char *name, GElf_Shdr *ret_header);

/*
 * Reads the bytes of a section, borrowed until elf_file_close. The size in the header of a
 * compressed section is compared with max_bytes before memory is allocated.
 */
int elf_section_read(Elf_Scn *section, uint64_t max_bytes, Elf_Data **ret);

#endif
