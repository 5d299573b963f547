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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CFI_TABLE_MAX_ROWS	    (4u << 20)
#define CFI_TABLE_MAX_SECTION_BYTES (64u << 20)

enum cfi_kind {
	CFI_NONE,  /* no rule: unknown */
	CFI_REG,   /* CFA = reg + cfa_off */
	CFI_DEREF, /* CFA = *(reg + cfa_off) + cfa_add */
	CFI_PLT,   /* CFA = sp + 8 + ((pc & 15) >= cfa_off ? 8 : 0): x86_64's lazy PLT */
};

#define CFI_SAME    INT32_MIN	    /* the register is as in the callee's frame */
#define CFI_UNKNOWN (INT32_MIN + 1) /* of rbx alone: where it is cannot be said */
#define CFI_REG_RBX 3

/*
 * Registers are DWARF's numbers of the machine. The frame pointer is saved at CFA + fp_off, or at
 * save_reg + fp_off if fp_is_at_reg; save_reg is as in this frame, not in the caller's. So is the
 * return address. One that is CFI_SAME is not saved; on x86_64 the return address always is, except
 * in a root.
 */
struct cfi_row {
	uint32_t start; /* from the table's base; valid up to the next row */
	int32_t cfa_off, cfa_add;
	int32_t fp_off, ra_off;
	uint8_t kind, cfa_reg;
	uint8_t save_reg;   /* 0 if neither of the two flags below is set */
	bool is_signal : 1; /* pc is not a return address in the caller's frame */
	bool is_root : 1;   /* return address undefined: the outermost frame, whatever kind says */
	bool fp_is_at_reg : 1;
	bool ra_is_at_reg : 1;
};

struct cfi_table; /* opaque, immutable */

/*
 * -ENOENT: has no rules, or is of another machine; -ENOEXEC: broken; -EFBIG: beyond the bounds;
 * -ENOMEM; errors of pread(2).
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

struct cfi_table_stats {
	size_t rows;
	size_t functions; /* FDEs in the table */
	size_t left_out;  /* CIEs, FDEs and ends of sections that could not be read or placed */
	size_t cut;	  /* functions whose rules are known up to a broken instruction only */
};

void cfi_table_stats(const struct cfi_table *table, struct cfi_table_stats *ret);

#endif
