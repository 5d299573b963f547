// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what call frame instructions have said so far: the CFA and three registers of the caller
 * units:   offsets in bytes
 * threads: values
 * errors:  CFI_NONE, CFI_RULE_OTHER: not to be said in a row
 * source:  DWARF 5 section 6.4.1
 */
#ifndef FG_ELF_CFI_STATE_H
#define FG_ELF_CFI_STATE_H

#include "elf/cfi_rows.h"

/* Where a register of the caller is. */
enum cfi_rule_kind {
	CFI_RULE_SAME,
	CFI_RULE_AT_CFA, /* saved at CFA + off */
	CFI_RULE_AT_REG, /* saved at reg + off */
	CFI_RULE_UNDEFINED,
	CFI_RULE_OTHER, /* known to DWARF, not to a row */
};

struct cfi_rule {
	uint8_t kind, reg;
	int32_t off;
};

struct cfi_state {
	uint8_t cfa_kind; /* enum cfi_kind; CFI_NONE: none yet, or not to be said in a row */
	uint8_t cfa_reg;
	int32_t cfa_off, cfa_add;
	struct cfi_rule fp, ra;
	struct cfi_rule rbx; /* of x86_64 */
};

#endif
