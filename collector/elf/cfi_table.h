// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   an ELF file -> an unwind table: for each address of code, where the caller's frame is
 * units:   elf_addr is p_vaddr, file_off and offsets are bytes
 * threads: a loaded table is immutable
 * errors:  negative errno
 * source:  DWARF 5 section 6.4, Linux Standard Base "Exception Frames", System V ABI for x86_64
 *          and aarch64 (register numbers), elf(5)
 *
 * The table keeps what a walk along frames needs: the canonical frame address (CFA), which is the
 * caller's stack pointer, and the places of the caller's frame pointer and of the return address.
 * The frame pointer is register 6 of x86_64 and 29 of aarch64; the return address is register 16
 * and 30. A file of x86_64 with a CFA in rbx, such as the loader's code for lazy binding, has the
 * places of rbx in a further column, which other files do not have. On aarch64 the caller of these
 * functions has to strip signed return addresses: the table does not say which are signed.
 *
 * The table is made of .eh_frame, found by its section header or by PT_GNU_EH_FRAME, or else of
 * .debug_frame. Broken entries are left out and counted. Files of both machines are read on either
 * machine.
 */
#ifndef FG_ELF_CFI_TABLE_H
#define FG_ELF_CFI_TABLE_H

#include "confine/flat.h"
#include "flow/cfi_rows.h"
#include "elf/elf_file.h"
#include "elf/elf_layout.h"

struct cfi_table; /* opaque, immutable */

/*
 * -ENOENT: the file has no unwind rules, or is of a third machine; -ENOEXEC: broken; -EFBIG: beyond
 * CFI_SECTION_MAX_BYTES or CFI_ROWS_MAX, or too many entries; -ENOMEM; errors of pread(2).
 */
int cfi_table_load(int fd, struct cfi_table **ret);
/*
 * The starts of functions in code without rules, as far as they are seen in the code itself. fd is
 * the descriptor of file. -ENOENT: the code is not decoded; else as cfi_table_load.
 */
int cfi_table_find_starts(int fd, const struct elf_file *file, struct elf_starts *ret);
/*
 * A table of rows that were taken from another table, in rising order of start and without a start
 * twice. Takes rows->rows and rows->rbx_offs in any case. -EINVAL: no rows, or not rising.
 */
int cfi_table_make(struct cfi_rows *rows, const struct elf_layout *layout, struct cfi_table **ret);
/* A table that goes from one process to another. A table of a hostile process is checked. */
void cfi_table_flatten(const struct cfi_table *table, struct flat_writer *writer);
int cfi_table_restore(struct flat_reader *reader, struct cfi_table **ret);
void cfi_table_free(struct cfi_table *table); /* NULL is legal */

/*
 * The row of elf_addr; NULL outside of all functions; kind CFI_NONE: a rule that rows cannot say.
 */
const struct cfi_row *cfi_table_find(const struct cfi_table *table, uint64_t elf_addr);
/*
 * The offset from the CFA at which the caller's rbx is saved, or CFI_SAME, or CFI_UNKNOWN, as for
 * all rows of a file without a CFA in rbx. row must be one of the table's.
 */
int32_t cfi_table_rbx_off(const struct cfi_table *table, const struct cfi_row *row);
/* The first elf_addr for which row holds, and the first one behind; row must be the table's. */
void cfi_table_span(const struct cfi_table *table, const struct cfi_row *row, uint64_t *ret_start,
		    uint64_t *ret_end);
const struct elf_layout *cfi_table_layout(const struct cfi_table *table);
/* The address of a byte of the file; -ENOENT if no segment holds the byte. */
int cfi_table_addr_of(const struct cfi_table *table, uint64_t file_off, uint64_t *ret_elf_addr);
/* Whether rows, segments and build IDs are equal. */
bool cfi_table_equal(const struct cfi_table *a, const struct cfi_table *b);
size_t cfi_table_bytes(const struct cfi_table *table);
void cfi_table_stats(const struct cfi_table *table, struct cfi_rows_stats *ret);

#endif
