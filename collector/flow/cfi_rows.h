// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   an address -> a row: where the frame of the caller is
 * units:   addresses from a base, which is an elf_addr; offsets are bytes
 * threads: values
 * errors:  CFI_NONE, CFI_UNKNOWN: a row cannot say it
 * source:  DWARF 5 section 6.4.1, System V ABI for x86_64 and aarch64 (register numbers)
 */
#ifndef FG_FLOW_CFI_ROWS_H
#define FG_FLOW_CFI_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CFI_ROWS_MAX (4u << 20) /* the most rows of a file */

enum cfi_kind {
	CFI_NONE,  /* the CFA is not known */
	CFI_REG,   /* CFA = reg + cfa_off */
	CFI_DEREF, /* CFA = *(reg + cfa_off) + cfa_add */
	CFI_PLT,   /* CFA = sp + 8 + ((pc & 15) >= cfa_off ? 8 : 0): x86_64's lazy PLT */
};

#define CFI_OUTSIDE UINT8_MAX	    /* cfa_reg of a row of kind CFI_NONE outside of all functions */
#define CFI_SAME    INT32_MIN	    /* the register has the value of the callee's frame */
#define CFI_UNKNOWN (INT32_MIN + 1) /* for rbx only: its place is not known */
#define CFI_REG_RBX 3
#define CFI_REG_RBP 6
#define CFI_REG_RSP 7

/*
 * Registers have DWARF's numbers of the machine. The frame pointer is saved at CFA + fp_off, or at
 * save_reg + fp_off if fp_is_at_reg is set; the return address is saved likewise, by ra_off and
 * ra_is_at_reg. save_reg has its value in this frame, not that in the caller's frame. A register
 * whose offset is CFI_SAME is not saved. On x86_64 the return address is always saved, except in a
 * root.
 */
struct cfi_row {
	uint32_t start; /* from the base; the row holds up to the next row's start */
	int32_t cfa_off, cfa_add;
	int32_t fp_off, ra_off;
	uint8_t kind, cfa_reg;
	uint8_t save_reg;   /* 0 if neither fp_is_at_reg nor ra_is_at_reg is set */
	bool is_signal : 1; /* pc is not a return address in the caller's frame */
	bool is_root : 1;   /* return address undefined: the outermost frame, for any kind */
	bool fp_is_at_reg : 1;
	bool ra_is_at_reg : 1;
	bool is_decoded : 1; /* found in the code itself, see code_rules.h */
	bool is_newborn : 1; /* decoded: a thread whose result register is 0 was just made here */
};

struct cfi_rows_stats {
	size_t rows;
	size_t functions; /* FDEs in the rows */
	size_t left_out;  /* CIEs, FDEs and ends of sections that could not be read or placed */
	size_t cut;	  /* functions whose rows end at a broken instruction */
	size_t decoded;	  /* bytes of code without rules that were decoded */
	size_t undecoded; /* likewise, that were not: past the limits of cfi_gaps.h, or of a machine
			     whose code is not decoded */
};

struct cfi_rows {
	struct cfi_row *rows; /* rising by start */
	int32_t *rbx_offs;    /* of each row; NULL: no CFA is in rbx */
	uint64_t base;
	struct cfi_rows_stats stats;
};

/* Whether two rows are equal in all but start. */
static inline bool cfi_row_equal(const struct cfi_row *a, const struct cfi_row *b)
{
	return a->cfa_off == b->cfa_off && a->cfa_add == b->cfa_add && a->fp_off == b->fp_off &&
	       a->ra_off == b->ra_off && a->kind == b->kind && a->cfa_reg == b->cfa_reg &&
	       a->save_reg == b->save_reg && a->is_signal == b->is_signal &&
	       a->is_root == b->is_root && a->fp_is_at_reg == b->fp_is_at_reg &&
	       a->ra_is_at_reg == b->ra_is_at_reg && a->is_decoded == b->is_decoded &&
	       a->is_newborn == b->is_newborn;
}

#endif
