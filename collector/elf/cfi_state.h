// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   call frame instructions run so far -> rules of the CFA and of three caller's registers
 * units:   offsets in bytes
 * threads: values
 * errors:  CFI_NONE, CFI_RULE_OTHER: a row cannot say it
 * source:  DWARF 5 section 6.4.1
 */
#ifndef FG_ELF_CFI_STATE_H
#define FG_ELF_CFI_STATE_H

#include "flow/cfi_rows.h"

/* Where a register of the caller is saved. */
enum cfi_rule_kind {
	CFI_RULE_SAME,
	CFI_RULE_AT_CFA, /* saved at CFA + off */
	CFI_RULE_AT_REG, /* saved at reg + off */
	CFI_RULE_UNDEFINED,
	CFI_RULE_OTHER, /* a rule of DWARF that a row cannot say */
};

struct cfi_rule {
	uint8_t kind, reg;
	int32_t off;
};

struct cfi_state {
	uint8_t cfa_kind; /* enum cfi_kind; CFI_NONE: no rule yet, or one that a row cannot say */
	uint8_t cfa_reg;
	int32_t cfa_off, cfa_add;
	struct cfi_rule fp, ra;
	struct cfi_rule rbx; /* x86_64 only */
};

#endif
