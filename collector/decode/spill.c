// SPDX-License-Identifier: Apache-2.0
/* Adds up what code does to the stack pointer until it jumps away, see spill.h. */
#include "decode/spill.h"

#include <Zydis/Zydis.h>

#define WORD 8

struct decoded {
	ZydisDecodedInstruction instruction;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

static bool is_rsp(const ZydisDecodedOperand *operand)
{
	return operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       operand->reg.value == ZYDIS_REGISTER_RSP;
}

static bool writes_rsp(const struct decoded *decoded)
{
	for (uint8_t i = 0; i < decoded->instruction.operand_count; i++) {
		if (is_rsp(&decoded->operands[i]) &&
		    decoded->operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
			return true;
	}
	return false;
}

/* How far the instruction moves rsp. False: the instruction does not say how far. */
static bool moves_rsp(const struct decoded *decoded, int64_t *ret)
{
	const ZydisDecodedOperand *const to = &decoded->operands[0];
	const ZydisDecodedOperand *const by = &decoded->operands[1];

	*ret = 0;
	if (!writes_rsp(decoded))
		return true;
	switch (decoded->instruction.mnemonic) {
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_SUB:
		*ret = decoded->instruction.mnemonic == ZYDIS_MNEMONIC_ADD ? by->imm.value.s
									   : -by->imm.value.s;
		return is_rsp(to) && by->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
	case ZYDIS_MNEMONIC_LEA:
		*ret = by->mem.disp.value;
		return is_rsp(to) && by->mem.base == ZYDIS_REGISTER_RSP &&
		       by->mem.index == ZYDIS_REGISTER_NONE;
	case ZYDIS_MNEMONIC_PUSH:
	case ZYDIS_MNEMONIC_PUSHFQ:
		*ret = -WORD;
		return true;
	case ZYDIS_MNEMONIC_POP:
		*ret = WORD;
		return !is_rsp(to);
	case ZYDIS_MNEMONIC_POPFQ:
		*ret = WORD;
		return true;
	case ZYDIS_MNEMONIC_CALL:
		return true; /* the call returns, and rsp is as before */
	default:
		return false;
	}
}

/* The target of a jump, if the target is further on in the code; len if the jump leads away. */
static size_t target_of(const struct decoded *decoded, size_t next, size_t len)
{
	const int64_t target = (int64_t)next + decoded->instruction.raw.imm[0].value.s;

	if (!decoded->instruction.raw.imm[0].is_relative || target < (int64_t)next ||
	    target > (int64_t)len)
		return len;
	return (size_t)target;
}

bool spill_bytes(const uint8_t *code, size_t len, uint32_t *ret)
{
	struct decoded decoded;
	ZydisDecoder decoder;
	int64_t sum = 0, by;
	size_t at = 0;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	while (at < len &&
	       ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code + at, len - at,
						   &decoded.instruction, decoded.operands))) {
		at += decoded.instruction.length;
		if (decoded.instruction.meta.category == ZYDIS_CATEGORY_UNCOND_BR) {
			at = target_of(&decoded, at, len);
			if (at < len)
				continue;
			*ret = (uint32_t)sum;
			return sum > 0 && sum <= SPILL_MAX_BYTES;
		}
		if (decoded.instruction.meta.category == ZYDIS_CATEGORY_RET ||
		    !moves_rsp(&decoded, &by))
			return false;
		sum += by;
	}
	return false;
}

static bool pops_rbp(const struct decoded *decoded)
{
	const ZydisDecodedOperand *const to = &decoded->operands[0];

	return decoded->instruction.mnemonic == ZYDIS_MNEMONIC_POP &&
	       to->type == ZYDIS_OPERAND_TYPE_REGISTER && to->reg.value == ZYDIS_REGISTER_RBP;
}

/* Whether the instruction is followed by the next one, and does not call. */
static bool goes_straight_on(const struct decoded *decoded)
{
	switch (decoded->instruction.meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
	case ZYDIS_CATEGORY_UNCOND_BR:
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_INTERRUPT:
		return false;
	default:
		return true;
	}
}

bool epilogue_find(const uint8_t *code, size_t len, struct epilogue *ret)
{
	struct decoded decoded;
	ZydisDecoder decoder;
	int64_t sum = 0, by;
	int32_t fp_off = -1;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (size_t at = 0;
	     at < len &&
	     ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code + at, len - at,
						 &decoded.instruction, decoded.operands));
	     at += decoded.instruction.length) {
		if (decoded.instruction.meta.category == ZYDIS_CATEGORY_RET) {
			*ret = (struct epilogue){.ret_off = (uint32_t)sum, .fp_off = fp_off};
			return true;
		}
		if (!goes_straight_on(&decoded) || !moves_rsp(&decoded, &by) || by < 0)
			return false;
		if (pops_rbp(&decoded))
			fp_off = (int32_t)sum;
		sum += by;
	}
	return false;
}
