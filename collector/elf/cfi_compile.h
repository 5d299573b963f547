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
#include "elf/elf_file.h"

/* cfa_reg of a row of kind CFI_NONE that is outside of all functions. */
#define CFI_OUTSIDE UINT8_MAX

struct cfi_rows {
	struct cfi_row *rows; /* rising; freed by the caller */
	int32_t *rbx_offs;    /* of each, freed by the caller; NULL: no CFA is in rbx */
	uint64_t base;
	struct cfi_table_stats stats;
};

/* Functions count only within executable segments. */
int cfi_compile(const struct cfi_section *section, const struct elf_layout *layout,
		struct cfi_rows *ret);

/* Whether two rows say the same, wherever they start. */
bool cfi_row_equal(const struct cfi_row *a, const struct cfi_row *b);

#endif
