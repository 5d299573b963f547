// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the entries of .eh_frame or .debug_frame -> the rows of an unwind table, by address
 * units:   elf_addr
 * threads: one at a time
 * errors:  -ENOENT: no function; -ENOEXEC: only broken entries; -EFBIG, -ENOMEM
 * source:  DWARF 5 section 6.4
 *
 * Time and memory are bounded by the section's length: each entry is read once, and a CIE's
 * instructions run once for all of its functions. Where functions overlap, the rows are those of
 * the function that starts later; of functions that start together, those of the first in the file.
 */
#ifndef FG_ELF_CFI_COMPILE_H
#define FG_ELF_CFI_COMPILE_H

#include "elf/cfi_entry.h"
#include "flow/cfi_rows.h"
#include "elf/elf_file.h"

/* Functions outside of executable segments are left out. The caller frees ret's arrays. */
int cfi_compile(const struct cfi_section *section, const struct elf_layout *layout,
		struct cfi_rows *ret);

/* The lowest address of code, which is the base of a file's rows. */
uint64_t cfi_compile_base(const struct elf_layout *layout);

#endif
