// SPDX-License-Identifier: Apache-2.0
/*
 * Decodes code from its first byte to its last, see code_decode.h. Compilers put no data between
 * instructions. Where somebody did, the decoder is in step again after a few instructions.
 */
#include "flow/code_decode.h"

#include "base/array.h"

#include <Zydis/Zydis.h>
#include <errno.h>
#include <stdlib.h>

#define RT_SIGRETURN 15 /* number of the system call */

struct decoded {
	ZydisDecodedInstruction whole;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

static bool is_reg(const ZydisDecodedOperand *operand, ZydisRegister reg)
{
	return operand->type == ZYDIS_OPERAND_TYPE_REGISTER && operand->reg.value == reg;
}

/* Whether the operand is memory at a fixed distance from the register. */
static bool is_at(const ZydisDecodedOperand *operand, ZydisRegister reg)
{
	return operand->type == ZYDIS_OPERAND_TYPE_MEMORY && operand->mem.base == reg &&
	       operand->mem.index == ZYDIS_REGISTER_NONE &&
	       operand->mem.segment != ZYDIS_REGISTER_FS &&
	       operand->mem.segment != ZYDIS_REGISTER_GS;
}

static bool writes(const struct decoded *decoded, ZydisRegister reg)
{
	for (size_t i = 0; i < decoded->whole.operand_count; i++) {
		const ZydisDecodedOperand *operand = &decoded->operands[i];

		if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE &&
		    ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64,
						     operand->reg.value) == reg)
			return true;
	}
	return false;
}

static void set(struct code_step *step, enum code_effect effect, int64_t value)
{
	const bool is_far = value <= -CODE_FAR_BYTES || value >= CODE_FAR_BYTES;

	if (is_far)
		effect = effect == CODE_MOVE_SP || effect == CODE_SET_SP ? CODE_LOSE_SP
									 : CODE_LOSE_FP;
	step->effect = (uint8_t)effect;
	step->value = is_far ? 0 : (int32_t)value;
}

/* For an instruction that says nothing else of the two registers than that it changes them. */
static void note_losses(const struct decoded *decoded, struct code_step *step)
{
	if (writes(decoded, ZYDIS_REGISTER_RSP))
		set(step, CODE_LOSE_SP, 0);
	else if (writes(decoded, ZYDIS_REGISTER_RBP))
		set(step, CODE_LOSE_FP, 0);
}

static void note_mov(const struct decoded *decoded, struct code_step *step)
{
	const ZydisDecodedOperand *to = &decoded->operands[0], *from = &decoded->operands[1];

	if (is_reg(to, ZYDIS_REGISTER_RBP) && is_reg(from, ZYDIS_REGISTER_RSP))
		set(step, CODE_SET_FP, 0);
	else if (is_reg(to, ZYDIS_REGISTER_RSP) && is_reg(from, ZYDIS_REGISTER_RBP))
		set(step, CODE_SET_SP, 0);
	else if (is_at(to, ZYDIS_REGISTER_RSP) && is_reg(from, ZYDIS_REGISTER_RBP))
		set(step, CODE_STORE_FP, to->mem.disp.value);
	else if (is_reg(to, ZYDIS_REGISTER_RBP) && is_at(from, ZYDIS_REGISTER_RSP))
		set(step, CODE_LOAD_FP, from->mem.disp.value);
	else if ((is_reg(to, ZYDIS_REGISTER_EBP) || is_reg(to, ZYDIS_REGISTER_RBP)) &&
		 from->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && from->imm.value.u == 0)
		set(step, CODE_CLEAR_FP, 0);
	else
		note_losses(decoded, step);
}

static void note_lea(const struct decoded *decoded, struct code_step *step)
{
	const ZydisDecodedOperand *to = &decoded->operands[0], *from = &decoded->operands[1];

	if (is_reg(to, ZYDIS_REGISTER_RSP) && is_at(from, ZYDIS_REGISTER_RSP))
		set(step, CODE_MOVE_SP, from->mem.disp.value);
	else if (is_reg(to, ZYDIS_REGISTER_RSP) && is_at(from, ZYDIS_REGISTER_RBP))
		set(step, CODE_SET_SP, from->mem.disp.value);
	else if (is_reg(to, ZYDIS_REGISTER_RBP) && is_at(from, ZYDIS_REGISTER_RSP))
		set(step, CODE_SET_FP, from->mem.disp.value);
	else
		note_losses(decoded, step);
}

/* add or sub: the sign is that of the instruction. */
static void note_sum(const struct decoded *decoded, int sign, struct code_step *step)
{
	const ZydisDecodedOperand *by = &decoded->operands[1];

	if (is_reg(&decoded->operands[0], ZYDIS_REGISTER_RSP) &&
	    by->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		set(step, CODE_MOVE_SP, sign * by->imm.value.s);
	else
		note_losses(decoded, step);
}

static void note_pop(const struct decoded *decoded, struct code_step *step)
{
	if (is_reg(&decoded->operands[0], ZYDIS_REGISTER_RBP))
		set(step, CODE_POP_FP, 0);
	else if (is_reg(&decoded->operands[0], ZYDIS_REGISTER_RSP))
		set(step, CODE_LOSE_SP, 0);
	else
		set(step, CODE_MOVE_SP, decoded->operands[0].size / 8);
}

static void note_effect(const struct decoded *decoded, struct code_step *step)
{
	const ZydisDecodedOperand *operands = decoded->operands;

	switch (decoded->whole.mnemonic) {
	case ZYDIS_MNEMONIC_PUSH:
		if (is_reg(&operands[0], ZYDIS_REGISTER_RBP))
			set(step, CODE_PUSH_FP, 0);
		else
			set(step, CODE_MOVE_SP, -(decoded->whole.operand_width / 8));
		break;
	case ZYDIS_MNEMONIC_POP:
		note_pop(decoded, step);
		break;
	case ZYDIS_MNEMONIC_PUSHFQ:
		set(step, CODE_MOVE_SP, -8);
		break;
	case ZYDIS_MNEMONIC_POPFQ:
		set(step, CODE_MOVE_SP, 8);
		break;
	case ZYDIS_MNEMONIC_ADD:
		note_sum(decoded, 1, step);
		break;
	case ZYDIS_MNEMONIC_SUB:
		note_sum(decoded, -1, step);
		break;
	case ZYDIS_MNEMONIC_LEA:
		note_lea(decoded, step);
		break;
	case ZYDIS_MNEMONIC_MOV:
		note_mov(decoded, step);
		break;
	case ZYDIS_MNEMONIC_LEAVE:
		set(step, CODE_LEAVE, 0);
		break;
	case ZYDIS_MNEMONIC_XOR:
		if (is_reg(&operands[0], operands[1].reg.value) &&
		    (is_reg(&operands[0], ZYDIS_REGISTER_EBP) ||
		     is_reg(&operands[0], ZYDIS_REGISTER_RBP)))
			set(step, CODE_CLEAR_FP, 0);
		else
			note_losses(decoded, step);
		break;
	case ZYDIS_MNEMONIC_CALL:
	case ZYDIS_MNEMONIC_RET:
		break;
	default:
		note_losses(decoded, step);
	}
}

/* Whether the code at the instruction is mov rax, 15; syscall. */
static bool is_sigreturn(const struct decoded *decoded, const uint8_t *behind, size_t len)
{
	return decoded->whole.mnemonic == ZYDIS_MNEMONIC_MOV &&
	       (is_reg(&decoded->operands[0], ZYDIS_REGISTER_RAX) ||
		is_reg(&decoded->operands[0], ZYDIS_REGISTER_EAX)) &&
	       decoded->operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
	       decoded->operands[1].imm.value.u == RT_SIGRETURN && len >= 2 && behind[0] == 0x0f &&
	       behind[1] == 0x05;
}

/* The address that the instruction names by its distance, as an offset; CODE_NO_TARGET: none. */
static uint32_t target_of(const struct decoded *decoded, uint32_t offset)
{
	const ZydisDecodedInstruction *whole = &decoded->whole;
	int64_t target = (int64_t)offset + whole->length;

	if (whole->raw.imm[0].is_relative)
		target += whole->raw.imm[0].value.s;
	else if (whole->mnemonic == ZYDIS_MNEMONIC_LEA &&
		 is_at(&decoded->operands[1], ZYDIS_REGISTER_RIP))
		target += decoded->operands[1].mem.disp.value;
	else
		return CODE_NO_TARGET;
	return target >= 0 && target < CODE_NO_TARGET ? (uint32_t)target : CODE_NO_TARGET;
}

static enum code_flow flow_of_jump(const struct decoded *decoded)
{
	if (decoded->whole.raw.imm[0].is_relative)
		return CODE_JUMP;
	return is_at(&decoded->operands[0], ZYDIS_REGISTER_RIP) ? CODE_LEAP : CODE_STOP;
}

static enum code_flow flow_of(const struct decoded *decoded)
{
	switch (decoded->whole.mnemonic) {
	case ZYDIS_MNEMONIC_RET:
		return CODE_RETURN;
	case ZYDIS_MNEMONIC_CALL:
		return CODE_CALL;
	case ZYDIS_MNEMONIC_JMP:
		return flow_of_jump(decoded);
	case ZYDIS_MNEMONIC_HLT:
	case ZYDIS_MNEMONIC_UD2:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_INT3:
	case ZYDIS_MNEMONIC_IRETQ:
		return CODE_STOP;
	default:
		return decoded->whole.meta.category == ZYDIS_CATEGORY_COND_BR ? CODE_BRANCH
									      : CODE_NEXT;
	}
}

static struct code_step step_of(const struct decoded *decoded, uint32_t offset)
{
	const ZydisMnemonic mnemonic = decoded->whole.mnemonic;
	struct code_step step = {.offset = offset,
				 .len = decoded->whole.length,
				 .flow = (uint8_t)flow_of(decoded),
				 .target = target_of(decoded, offset),
				 .is_system_call = mnemonic == ZYDIS_MNEMONIC_SYSCALL,
				 .is_padding = mnemonic == ZYDIS_MNEMONIC_NOP ||
					       mnemonic == ZYDIS_MNEMONIC_INT3};

	note_effect(decoded, &step);
	return step;
}

static int add_step(struct code_steps *steps, const struct code_step *step)
{
	if (ARRAY_RESERVE(steps->items, steps->size, steps->count + 1) < 0)
		return -ENOMEM;
	steps->items[steps->count++] = *step;
	return 0;
}

int code_steps_add(struct code_steps *steps, const uint8_t *code, size_t len, uint32_t offset)
{
	struct decoded decoded;
	ZydisDecoder decoder;
	size_t at = 0;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	while (at < len) {
		struct code_step step;

		if (ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder, code + at, len - at,
						       &decoded.whole, decoded.operands))) {
			at++;
			continue;
		}
		step = step_of(&decoded, offset + (uint32_t)at);
		step.is_sigreturn =
			is_sigreturn(&decoded, code + at + step.len, len - at - step.len);
		if (add_step(steps, &step) < 0)
			return -ENOMEM;
		at += decoded.whole.length;
	}
	return 0;
}

void code_steps_fini(struct code_steps *steps)
{
	free(steps->items);
	*steps = (struct code_steps){0};
}

uint32_t code_steps_find(const struct code_steps *steps, uint32_t offset)
{
	const size_t low = ARRAY_COUNT_BELOW(0, steps->count, i, steps->items[i].offset <= offset);

	return low > 0 && steps->items[low - 1].offset == offset ? (uint32_t)(low - 1)
								 : CODE_NO_TARGET;
}

bool code_steps_are_joined(const struct code_steps *steps, size_t i)
{
	return i > 0 && i < steps->count &&
	       steps->items[i - 1].offset + steps->items[i - 1].len == steps->items[i].offset;
}

bool code_steps_go_on(const struct code_steps *steps, size_t i)
{
	const struct code_step *before = &steps->items[i - 1];

	return code_steps_are_joined(steps, i) && before->flow <= CODE_BRANCH;
}

bool code_steps_is_behind_end(const struct code_steps *steps, size_t i)
{
	return i == 0 || !code_steps_go_on(steps, i) || steps->items[i - 1].is_padding;
}

/*
 * Makes the targets, which are offsets, indexes. What is called is a function. What an instruction
 * takes the address of is one if nothing goes on into it.
 */
void code_steps_link(struct code_steps *steps)
{
	for (size_t i = 0; i < steps->count; i++) {
		struct code_step *step = &steps->items[i];
		const bool is_jump = step->flow == CODE_JUMP || step->flow == CODE_BRANCH;
		uint32_t target = CODE_NO_TARGET;

		if (step->target != CODE_NO_TARGET)
			target = code_steps_find(steps, step->target);
		if (target != CODE_NO_TARGET && !is_jump)
			steps->items[target].is_entry |=
				step->flow == CODE_CALL || code_steps_is_behind_end(steps, target);
		step->target = is_jump ? target : CODE_NO_TARGET;
	}
}
