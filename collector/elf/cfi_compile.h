// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the entries of one section -> rows by address
 * units:   elf_addr
 * threads: one at a time
 * errors:  -ENOENT no function at all, -ENOEXEC nothing but broken entries, -EFBIG, -ENOMEM
 * source:  DWARF 5 section 6.4
 *
 * Time and memory are bounded by the section's length: each entry is read once, and a CIE's
 * instructions run once for all of its functions. Where functions overlap the one that starts later
 * holds, and of those that start together the first in the file.
 */
#ifndef FG_ELF_CFI_COMPILE_H
#define FG_ELF_CFI_COMPILE_H

#include "elf/cfi_entry.h"
#include "elf/cfi_rows.h"
#include "elf/elf_file.h"

/* Functions count only within executable segments. The caller frees ret's arrays. */
int cfi_compile(const struct cfi_section *section, const struct elf_layout *layout,
		struct cfi_rows *ret);

#endif
