// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   an ELF file -> for each address of its code, where the caller's frame is
 * units:   elf_addr is p_vaddr, file_off and offsets are bytes
 * threads: a loaded table is immutable
 * errors:  negative errno
 * source:  DWARF 5 section 6.4, Linux Standard Base "Exception Frames", System V ABI for x86_64
 *          and aarch64 (register numbers), elf(5)
 *
 * Of an unwind table only what a walk along frames needs is kept: the canonical frame address
 * (CFA), which is the caller's stack pointer, and where the caller's frame pointer and the return
 * address are. The frame pointer is register 6 of x86_64 and 29 of aarch64, the return address is
 * 16 and 30. A file of x86_64 with a CFA in rbx, as the loader's code that binds lazily has, keeps
 * in a column more where rbx is; others do not pay for that. On aarch64 a signed return address is
 * to be stripped by the reader: this table does not say which ones are.
 *
 * .eh_frame is read, found by its section or through PT_GNU_EH_FRAME, else .debug_frame. What is
 * broken is left out and counted. Files of both machines are read on either.
 */
#ifndef FG_ELF_CFI_TABLE_H
#define FG_ELF_CFI_TABLE_H

#include "elf/cfi_rows.h"

struct cfi_table; /* opaque, immutable */

/*
 * -ENOENT: has no rules, or is of another machine; -ENOEXEC: broken; -EFBIG: beyond
 * CFI_SECTION_MAX_BYTES or CFI_ROWS_MAX, or too many entries; -ENOMEM; errors of pread(2).
 */
int cfi_table_load(int fd, struct cfi_table **ret);
void cfi_table_free(struct cfi_table *table); /* NULL is legal */

/* NULL outside of any function; a row of kind CFI_NONE for a rule that a row cannot say. */
const struct cfi_row *cfi_table_find(const struct cfi_table *table, uint64_t elf_addr);
/*
 * Where the caller's rbx is, from the CFA, or CFI_SAME; CFI_UNKNOWN of every row of a file that has
 * no CFA in it. row is the table's.
 */
int32_t cfi_table_rbx_off(const struct cfi_table *table, const struct cfi_row *row);
/* Where the segments place a byte of the file; -ENOENT: nowhere. */
int cfi_table_addr_of(const struct cfi_table *table, uint64_t file_off, uint64_t *ret_elf_addr);
/* Rows are the same, and so are the segments. */
bool cfi_table_equal(const struct cfi_table *a, const struct cfi_table *b);
size_t cfi_table_bytes(const struct cfi_table *table);
void cfi_table_stats(const struct cfi_table *table, struct cfi_rows_stats *ret);

#endif
