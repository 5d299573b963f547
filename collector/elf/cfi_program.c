// SPDX-License-Identifier: Apache-2.0
/*
 * Runs call frame instructions, see cfi_program.h. An instruction is a byte and its operands:
 *
 *   01dddddd advance_loc            10rrrrrr offset uleb      11rrrrrr restore
 *   00 nop                          01 set_loc address        02 03 04 advance_loc1 2 4
 *   05 offset_extended r uleb       06 restore_extended r     07 undefined r
 *   08 same_value r                 09 register r r           0a 0b remember, restore state
 *   0c def_cfa r uleb               0d def_cfa_register r     0e def_cfa_offset uleb
 *   0f def_cfa_expression block     10 expression r block     11 offset_extended_sf r sleb
 *   12 def_cfa_sf r sleb            13 def_cfa_offset_sf sleb 14 15 val_offset(_sf) r leb
 *   16 val_expression r block       2c 2d signed return addresses of aarch64
 *   2e GNU_args_size uleb           2f GNU_negative_offset_extended r uleb
 *
 * Offsets of saved registers, and of all instructions that end in _sf, count in units of the CIE's
 * data alignment. Only the frame pointer, the return address and rbx are followed.
 */
#include "elf/cfi_program.h"

#include "elf/cfi_expression.h"

#include <elf.h>
#include <errno.h>

#define HIGH_BITS 0xc0

#define REG_X86_64_FP  6
#define REG_X86_64_SP  7
#define REG_X86_64_RA  16
#define REG_AARCH64_FP 29
#define REG_AARCH64_RA 30

struct cfi_state cfi_program_first_state(uint16_t machine)
{
	struct cfi_state state = {.cfa_kind = CFI_NONE};

	/* A call pushes the return address, whether the table says so or not. */
	if (machine == EM_X86_64)
		state.ra = (struct cfi_rule){.kind = CFI_RULE_AT_CFA, .off = -8};
	return state;
}

/* The rule of a register, or NULL for a register that is not tracked. */
static struct cfi_rule *find_rule(const struct cfi_program *program, struct cfi_state *state,
				  uint64_t reg)
{
	const bool is_x86 = program->context->machine == EM_X86_64;

	if (reg == (is_x86 ? REG_X86_64_FP : REG_AARCH64_FP))
		return &state->fp;
	if (reg == (is_x86 ? REG_X86_64_RA : REG_AARCH64_RA))
		return &state->ra;
	if (is_x86 && reg == CFI_REG_RBX)
		return &state->rbx;
	return NULL;
}

static void set_rule(struct cfi_program *program, uint64_t reg, struct cfi_rule rule)
{
	struct cfi_rule *at = find_rule(program, &program->state, reg);

	if (at)
		*at = rule;
}

static void restore_rule(struct cfi_program *program, uint64_t reg)
{
	struct cfi_state initial = *program->initial;
	const struct cfi_rule *rule = find_rule(program, &initial, reg);

	if (rule)
		set_rule(program, reg, *rule);
}

/* False: the product does not fit. INT32_MIN has another meaning, so it does not fit either. */
static bool scale(int64_t value, int64_t by, int32_t *ret)
{
	int64_t product;

	if (__builtin_mul_overflow(value, by, &product) || product <= INT32_MIN ||
	    product > INT32_MAX)
		return false;
	*ret = (int32_t)product;
	return true;
}

static void set_saved(struct cfi_program *program, uint64_t reg, int64_t off, int64_t unit)
{
	struct cfi_rule rule = {.kind = CFI_RULE_AT_CFA};

	if (!scale(off, unit, &rule.off))
		rule = (struct cfi_rule){.kind = CFI_RULE_OTHER};
	set_rule(program, reg, rule);
}

static void set_cfa(struct cfi_program *program, uint64_t reg, int64_t off, int64_t unit)
{
	struct cfi_state *state = &program->state;
	int32_t bytes = 0;
	const bool fits = reg <= UINT8_MAX && scale(off, unit, &bytes);

	state->cfa_kind = fits ? CFI_REG : CFI_NONE;
	state->cfa_reg = fits ? (uint8_t)reg : 0;
	state->cfa_off = bytes;
	state->cfa_add = 0;
}

/*
 * Changes the register if the CFA is a register and an offset; otherwise the CFA is unknown from
 * here on.
 */
static void set_cfa_register(struct cfi_program *program, uint64_t reg)
{
	if (program->state.cfa_kind == CFI_REG)
		set_cfa(program, reg, program->state.cfa_off, 1);
	else
		set_cfa(program, UINT64_MAX, 0, 1);
}

static void set_cfa_offset(struct cfi_program *program, int64_t off, int64_t unit)
{
	if (program->state.cfa_kind == CFI_REG)
		set_cfa(program, program->state.cfa_reg, off, unit);
	else
		set_cfa(program, UINT64_MAX, 0, 1);
}

/*
 * Reads a uleb as a signed number. A greater value becomes INT64_MAX, which does not fit a row
 * either.
 */
static int64_t read_off(struct cfi_cursor *code)
{
	const uint64_t value = cfi_cursor_read_uleb(code);

	return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

static struct cfi_cursor read_block(struct cfi_cursor *code)
{
	const uint64_t bytes = cfi_cursor_read_uleb(code);

	return cfi_cursor_split(code, bytes);
}

static bool run_state(struct cfi_program *program, bool is_remember)
{
	if (is_remember) {
		if (program->saved_count == CFI_PROGRAM_MAX_SAVED)
			return false;
		program->saved[program->saved_count++] = program->state;
		return true;
	}
	if (program->saved_count == 0)
		return false;
	program->state = program->saved[--program->saved_count];
	return true;
}

static bool run_cfa(struct cfi_program *program, unsigned op)
{
	struct cfi_cursor *code = &program->code;
	const int64_t unit = program->context->data_align;
	uint64_t reg;

	switch (op) {
	case 0x0c:
		reg = cfi_cursor_read_uleb(code);
		set_cfa(program, reg, read_off(code), 1);
		return true;
	case 0x0d:
		set_cfa_register(program, cfi_cursor_read_uleb(code));
		return true;
	case 0x0e:
		set_cfa_offset(program, read_off(code), 1);
		return true;
	case 0x0f:
		cfi_expression_read_cfa(read_block(code), program->context->machine,
					&program->state);
		return true;
	case 0x12:
		reg = cfi_cursor_read_uleb(code);
		set_cfa(program, reg, cfi_cursor_read_sleb(code), unit);
		return true;
	case 0x13:
		set_cfa_offset(program, cfi_cursor_read_sleb(code), unit);
		return true;
	default:
		return false;
	}
}

static bool run_register(struct cfi_program *program, unsigned op)
{
	static const struct cfi_rule same = {.kind = CFI_RULE_SAME};
	static const struct cfi_rule undefined = {.kind = CFI_RULE_UNDEFINED};
	static const struct cfi_rule other = {.kind = CFI_RULE_OTHER};
	struct cfi_cursor *code = &program->code;
	const int64_t unit = program->context->data_align;
	const uint64_t reg = cfi_cursor_read_uleb(code);

	switch (op) {
	case 0x05:
		set_saved(program, reg, read_off(code), unit);
		return true;
	case 0x06:
		restore_rule(program, reg);
		return true;
	case 0x07:
		set_rule(program, reg, undefined);
		return true;
	case 0x08:
		set_rule(program, reg, same);
		return true;
	case 0x09: /* saved in another register */
	case 0x14: /* the value is the CFA and an offset */
		cfi_cursor_read_uleb(code);
		set_rule(program, reg, other);
		return true;
	case 0x10:
		set_rule(program, reg, cfi_expression_read_place(read_block(code)));
		return true;
	case 0x11:
		set_saved(program, reg, cfi_cursor_read_sleb(code), unit);
		return true;
	case 0x15:
		cfi_cursor_read_sleb(code);
		set_rule(program, reg, other);
		return true;
	case 0x16:
		read_block(code);
		set_rule(program, reg, other);
		return true;
	case 0x2f:
		set_saved(program, reg, read_off(code), -unit);
		return true;
	default:
		return false;
	}
}

static bool run(struct cfi_program *program, unsigned op)
{
	switch (op) {
	case 0x00:
		return true;
	case 0x0a:
	case 0x0b:
		return run_state(program, op == 0x0a);
	case 0x0c:
	case 0x0d:
	case 0x0e:
	case 0x0f:
	case 0x12:
	case 0x13:
		return run_cfa(program, op);
	case 0x2c:
	case 0x2d:
		return program->context->machine == EM_AARCH64;
	case 0x2e:
		cfi_cursor_read_uleb(&program->code);
		return true;
	default:
		return run_register(program, op);
	}
}

/* *ret_next is the address that op moves to; false: op does not move. */
static bool read_move(struct cfi_program *program, unsigned op, uint64_t *ret_next)
{
	struct cfi_cursor *code = &program->code;
	uint64_t delta;

	if (op == 0x01) {
		*ret_next = cfi_cursor_read_pointer(code, program->context->encoding);
		return true;
	}
	if ((op & HIGH_BITS) == 0x40)
		delta = op & ~(unsigned)HIGH_BITS;
	else if (op >= 0x02 && op <= 0x04)
		delta = cfi_cursor_read(code, (size_t)1 << (op - 2));
	else
		return false;
	if (__builtin_mul_overflow(delta, program->context->code_align, &delta) ||
	    __builtin_add_overflow(program->elf_addr, delta, ret_next))
		*ret_next = UINT64_MAX; /* beyond the end of any function */
	return true;
}

int cfi_program_next(struct cfi_program *program, uint64_t *ret_next)
{
	struct cfi_cursor *code = &program->code;

	while (code->at < code->end) {
		const unsigned op = (unsigned)cfi_cursor_read(code, 1);
		const unsigned low = op & ~(unsigned)HIGH_BITS;
		const struct cfi_state before = program->state;
		bool is_done = true;
		uint64_t next;

		if (read_move(program, op, &next)) {
			if (code->is_broken || next < program->elf_addr)
				return -ENOEXEC;
			*ret_next = next;
			return 1;
		}
		if ((op & HIGH_BITS) == 0x80)
			set_saved(program, low, read_off(code), program->context->data_align);
		else if ((op & HIGH_BITS) == HIGH_BITS)
			restore_rule(program, low);
		else
			is_done = run(program, op);
		if (!is_done || code->is_broken) {
			program->state = before;
			return -ENOEXEC;
		}
	}
	return 0;
}
