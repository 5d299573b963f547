// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a DWARF expression -> the equal rule of a row, if there is one
 * units:   bytes
 * threads: values
 * errors:  CFI_NONE, CFI_RULE_OTHER: no rule of a row is equal
 * source:  DWARF 5 section 2.5
 *
 * Expressions are compared with a handful of forms, which compilers, linkers and libc use. There is
 * no stack machine.
 */
#ifndef FG_ELF_CFI_EXPRESSION_H
#define FG_ELF_CFI_EXPRESSION_H

#include "elf/cfi_cursor.h"
#include "elf/cfi_state.h"

/* Sets the members of state for the CFA. */
void cfi_expression_read_cfa(struct cfi_cursor code, uint16_t machine, struct cfi_state *state);
/* The rule of a register that is saved at the expression's value; the stack begins with the CFA. */
struct cfi_rule cfi_expression_read_place(struct cfi_cursor code);

#endif
