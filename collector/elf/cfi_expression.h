// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a DWARF expression -> the rule that says the same, if a row can
 * units:   bytes
 * threads: values
 * errors:  CFI_NONE, CFI_RULE_OTHER: no such rule
 * source:  DWARF 5 section 2.5
 *
 * There is no stack machine here: compilers, linkers and libc use a handful of forms.
 */
#ifndef FG_ELF_CFI_EXPRESSION_H
#define FG_ELF_CFI_EXPRESSION_H

#include "elf/cfi_cursor.h"
#include "elf/cfi_state.h"

/* Sets the CFA's fields of state. */
void cfi_expression_read_cfa(struct cfi_cursor code, uint16_t machine, struct cfi_state *state);
/* Of a register saved where the expression says; it begins with the CFA on the stack. */
struct cfi_rule cfi_expression_read_place(struct cfi_cursor code);

#endif
