// SPDX-License-Identifier: Apache-2.0
/*
 * Recognises forms of expressions, see cfi_expression.h:
 *
 *   breg R off                            a realigned frame's registers, a signal frame's
 *   breg R off, deref                     a realigned frame's CFA, a signal frame's
 *   breg R off, deref, plus_uconst add    assembler code that keeps the stack pointer in its frame
 *   plus_uconst off                       the CFA and an offset
 *   breg 7 8, breg 16 0, lit15, and, lit N, ge, lit3, shl, plus
 *                                         x86_64's lazy PLT, whose second half has pushed a word
 */
#include "elf/cfi_expression.h"

#include <elf.h>
#include <string.h>

#define OP_DEREF       0x06
#define OP_PLUS_UCONST 0x23
#define OP_LIT0	       0x30
#define OP_BREG0       0x70
#define OP_BREG31      0x8f
#define OP_BREGX       0x92

#define PLT_LIMIT_AT 6 /* offset of the only byte of plt_form that differs between linkers */

static const unsigned char plt_form[] = {0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a,
					 0x00, 0x2a, 0x33, 0x24, 0x22};

static bool is_plt(const struct cfi_cursor *code)
{
	const unsigned char *at = code->at;

	return cfi_cursor_left(code) == sizeof(plt_form) &&
	       memcmp(at, plt_form, PLT_LIMIT_AT) == 0 && at[PLT_LIMIT_AT] >= OP_LIT0 &&
	       at[PLT_LIMIT_AT] < OP_LIT0 + 16 &&
	       memcmp(at + PLT_LIMIT_AT + 1, plt_form + PLT_LIMIT_AT + 1,
		      sizeof(plt_form) - PLT_LIMIT_AT - 1) == 0;
}

static bool take_op(struct cfi_cursor *code, unsigned char op)
{
	if (code->at == code->end || *code->at != op)
		return false;
	cfi_cursor_skip(code, 1);
	return true;
}

static bool fits(int64_t value)
{
	return value > INT32_MIN && value <= INT32_MAX;
}

static bool take_register(struct cfi_cursor *code, uint8_t *ret_reg, int32_t *ret_off)
{
	const uint64_t op = cfi_cursor_read(code, 1);
	uint64_t reg;
	int64_t off;

	if (op >= OP_BREG0 && op <= OP_BREG31)
		reg = op - OP_BREG0;
	else if (op == OP_BREGX)
		reg = cfi_cursor_read_uleb(code);
	else
		return false;
	off = cfi_cursor_read_sleb(code);
	if (code->is_broken || reg > UINT8_MAX || !fits(off))
		return false;
	*ret_reg = (uint8_t)reg;
	*ret_off = (int32_t)off;
	return true;
}

static bool take_plus(struct cfi_cursor *code, int32_t *ret_add)
{
	uint64_t add;

	if (!take_op(code, OP_PLUS_UCONST))
		return false;
	add = cfi_cursor_read_uleb(code);
	if (code->is_broken || add > INT32_MAX)
		return false;
	*ret_add = (int32_t)add;
	return true;
}

void cfi_expression_read_cfa(struct cfi_cursor code, uint16_t machine, struct cfi_state *state)
{
	int32_t off, add = 0;
	uint8_t reg;
	bool is_deref;

	state->cfa_kind = CFI_NONE;
	state->cfa_reg = 0;
	state->cfa_off = state->cfa_add = 0;
	if (machine == EM_X86_64 && is_plt(&code)) {
		state->cfa_kind = CFI_PLT;
		state->cfa_reg = 7;
		state->cfa_off = code.at[PLT_LIMIT_AT] - OP_LIT0;
		return;
	}
	if (!take_register(&code, &reg, &off))
		return;
	is_deref = take_op(&code, OP_DEREF);
	if (is_deref && code.at != code.end && !take_plus(&code, &add))
		return;
	if (code.at != code.end)
		return;
	state->cfa_kind = is_deref ? CFI_DEREF : CFI_REG;
	state->cfa_reg = reg;
	state->cfa_off = off;
	state->cfa_add = add;
}

struct cfi_rule cfi_expression_read_place(struct cfi_cursor code)
{
	struct cfi_rule rule = {.kind = CFI_RULE_OTHER};
	struct cfi_cursor from_cfa = code;
	int32_t off;

	if (take_plus(&from_cfa, &off) && from_cfa.at == from_cfa.end)
		return (struct cfi_rule){.kind = CFI_RULE_AT_CFA, .off = off};
	if (take_register(&code, &rule.reg, &rule.off) && code.at == code.end)
		rule.kind = CFI_RULE_AT_REG;
	else
		rule = (struct cfi_rule){.kind = CFI_RULE_OTHER};
	return rule;
}
