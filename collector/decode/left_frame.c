// SPDX-License-Identifier: Apache-2.0
/*
 * Follows code from where its frame was taken down, see left_frame.h. The state has where the
 * return address is, and how far the stack pointer is below the caller's. A compiled frame ends by
 *
 *	48 83 c4 N | 48 81 c4 N N N N	add rsp, N
 *	5d				pop rbp
 *
 * and an interpreted one by
 *
 *	c9				leave
 */
#include "decode/left_frame.h"

#include <Zydis/Zydis.h>
#include <string.h>

#define WORD	    8
#define MAX_TARGETS 4
#define MAX_OFF	    256

struct state {
	bool is_known;
	bool is_in_reg, is_on_stack; /* copies of the return address, or the only one */
	bool is_moved;		     /* the stack pointer has come to the caller's */
	uint8_t reg;
	int32_t ret_off; /* from the stack pointer to the return address */
	int32_t sp_off;	 /* from the stack pointer to the caller's; valid if it has been moved */
};

/* The states of jumps forward, by where they lead. */
struct targets {
	struct {
		size_t at;
		struct state state;
	} all[MAX_TARGETS];
	unsigned int n;
};

struct decoded {
	ZydisDecodedInstruction instruction;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

static bool decode(const struct left_frame_code *code, size_t at, struct decoded *ret)
{
	ZydisDecoder decoder;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code->bytes + at, code->len - at,
						   &ret->instruction, ret->operands));
}

/*
 * The DWARF number of a register of 64 bits. False: it is no such register, or the stack pointer.
 */
static bool number_of(const ZydisDecodedOperand *operand, uint8_t *ret)
{
	static const uint8_t numbers[] = {0, 2, 1, 3, 7, 6, 4, 5}; /* rax rcx rdx rbx rsp rbp .. */
	const ZydisRegister reg = operand->reg.value;

	if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER || reg < ZYDIS_REGISTER_RAX ||
	    reg > ZYDIS_REGISTER_R15 || reg == ZYDIS_REGISTER_RSP)
		return false;
	*ret = (uint8_t)(reg - ZYDIS_REGISTER_RAX);
	*ret = *ret < sizeof(numbers) ? numbers[*ret] : *ret;
	return true;
}

static bool is_rsp(const ZydisDecodedOperand *operand)
{
	return operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       operand->reg.value == ZYDIS_REGISTER_RSP;
}

static bool writes(const struct decoded *decoded, ZydisRegister reg)
{
	for (uint8_t i = 0; i < decoded->instruction.operand_count; i++) {
		const ZydisDecodedOperand *const operand = &decoded->operands[i];

		if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE &&
		    ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64,
						     operand->reg.value) == reg)
			return true;
	}
	return false;
}

/* Moves the stack pointer by so many bytes. */
static void move_by(struct state *state, int64_t bytes)
{
	if (bytes < -MAX_OFF || bytes > MAX_OFF) {
		state->is_known = false;
		return;
	}
	state->ret_off -= (int32_t)bytes;
	state->sp_off -= (int32_t)bytes;
}

static void pop(struct state *state, const ZydisDecodedOperand *to)
{
	uint8_t reg;

	state->is_known &= number_of(to, &reg);
	if (state->is_known && state->is_on_stack && state->ret_off == 0) {
		state->is_in_reg = true;
		state->is_on_stack = false;
		state->reg = reg;
	} else if (state->is_known && state->is_in_reg && state->reg == reg) {
		state->is_in_reg = false;
	}
	move_by(state, WORD);
}

static void push(struct state *state, const ZydisDecodedOperand *from)
{
	uint8_t reg;

	move_by(state, -WORD);
	if (!state->is_in_reg || !number_of(from, &reg) || reg != state->reg)
		return;
	state->is_on_stack = true;
	state->ret_off = 0;
}

/* mov rsp, REG: behind it the return address is on the stack no more. */
static void move_to_sender(struct state *state)
{
	state->is_known &= !state->is_moved;
	state->is_moved = true;
	state->is_on_stack = false;
	state->sp_off = 0;
}

/* What an instruction that neither moves the stack pointer nor jumps does to the state. */
static void run_other(const struct decoded *decoded, struct state *state)
{
	static const ZydisRegister regs[] = {
		ZYDIS_REGISTER_RAX, ZYDIS_REGISTER_RDX, ZYDIS_REGISTER_RCX, ZYDIS_REGISTER_RBX,
		ZYDIS_REGISTER_RSI, ZYDIS_REGISTER_RDI, ZYDIS_REGISTER_RBP, ZYDIS_REGISTER_RSP,
		ZYDIS_REGISTER_R8,  ZYDIS_REGISTER_R9,	ZYDIS_REGISTER_R10, ZYDIS_REGISTER_R11,
		ZYDIS_REGISTER_R12, ZYDIS_REGISTER_R13, ZYDIS_REGISTER_R14, ZYDIS_REGISTER_R15};

	state->is_known &= !writes(decoded, ZYDIS_REGISTER_RSP);
	if (state->is_in_reg && writes(decoded, regs[state->reg]))
		state->is_in_reg = false;
}

/* Runs an instruction that does not jump. */
static void run(const struct decoded *decoded, struct state *state)
{
	const ZydisDecodedOperand *const to = &decoded->operands[0];
	const ZydisDecodedOperand *const by = &decoded->operands[1];
	const bool is_sum = is_rsp(to) && by->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;

	switch (decoded->instruction.mnemonic) {
	case ZYDIS_MNEMONIC_PUSH:
		push(state, to);
		break;
	case ZYDIS_MNEMONIC_POP:
		pop(state, to);
		break;
	case ZYDIS_MNEMONIC_MOV:
		if (is_rsp(to))
			move_to_sender(state);
		else
			run_other(decoded, state);
		break;
	case ZYDIS_MNEMONIC_AND: /* and rsp, -16: of the caller's, when that is interpreted */
		if (!is_sum)
			run_other(decoded, state);
		else
			state->is_known &= by->imm.value.s == -16 && state->is_moved;
		break;
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_SUB:
		if (is_sum)
			move_by(state, decoded->instruction.mnemonic == ZYDIS_MNEMONIC_ADD
					       ? by->imm.value.s
					       : -by->imm.value.s);
		else
			run_other(decoded, state);
		break;
	case ZYDIS_MNEMONIC_CALL: /* it returns, and has used registers for its own ends */
		state->is_in_reg = false;
		break;
	default:
		run_other(decoded, state);
	}
	state->is_known &= state->is_in_reg || state->is_on_stack;
}

/*
 * Runs a jump: whence it leads forward, the state goes, too. Others lead out of what is followed.
 */
static void jump(const struct decoded *decoded, size_t next, struct state *state,
		 struct targets *targets)
{
	const int64_t target = (int64_t)next + decoded->instruction.raw.imm[0].value.s;

	if (state->is_known && decoded->instruction.raw.imm[0].is_relative &&
	    target >= (int64_t)next && targets->n < MAX_TARGETS) {
		targets->all[targets->n].at = (size_t)target;
		targets->all[targets->n++].state = *state;
	}
	if (decoded->instruction.meta.category != ZYDIS_CATEGORY_COND_BR)
		state->is_known = false;
}

/* A place that is jumped to has the jump's state if no other way leads there. */
static void arrive(size_t at, const struct targets *targets, struct state *state)
{
	for (unsigned int i = 0; !state->is_known && i < targets->n; i++) {
		if (targets->all[i].at == at)
			*state = targets->all[i].state;
	}
}

/*
 * Finds the register that the stack pointer is moved to, from the address on. False: it is not
 * moved before the code jumps.
 */
static bool find_sender(const struct left_frame_code *code, uint8_t *ret)
{
	struct decoded decoded;

	for (size_t at = code->at; at < code->len && decode(code, at, &decoded);
	     at += decoded.instruction.length) {
		if (decoded.instruction.mnemonic == ZYDIS_MNEMONIC_MOV &&
		    is_rsp(&decoded.operands[0]))
			return number_of(&decoded.operands[1], ret);
		if (decoded.instruction.meta.category == ZYDIS_CATEGORY_UNCOND_BR ||
		    decoded.instruction.meta.category == ZYDIS_CATEGORY_CALL ||
		    decoded.instruction.mnemonic == ZYDIS_MNEMONIC_LEAVE)
			return false;
	}
	return false;
}

/* Follows the code from where its frame is gone to the address. */
static bool follow(const struct left_frame_code *code, size_t from, struct state state,
		   struct left_frame *ret)
{
	struct targets targets = {.n = 0};
	struct decoded decoded;
	size_t at = from;

	while (at < code->at && decode(code, at, &decoded)) {
		at += decoded.instruction.length;
		if (decoded.instruction.meta.category == ZYDIS_CATEGORY_COND_BR ||
		    decoded.instruction.meta.category == ZYDIS_CATEGORY_UNCOND_BR)
			jump(&decoded, at, &state, &targets);
		else if (decoded.instruction.meta.category == ZYDIS_CATEGORY_RET ||
			 decoded.instruction.mnemonic == ZYDIS_MNEMONIC_HLT)
			state.is_known = false;
		else if (state.is_known)
			run(&decoded, &state);
		arrive(at, &targets, &state);
	}
	if (at != code->at || !state.is_known)
		return false;
	*ret = (struct left_frame){.is_in_reg = !state.is_on_stack,
				   .is_sp_in_reg = !state.is_moved,
				   .ret_reg = state.reg,
				   .ret_off = (int16_t)state.ret_off,
				   .sp_off = (int16_t)state.sp_off};
	return state.is_moved || find_sender(code, &ret->sp_reg);
}

/* Whether the code up to end is add rsp, size - 16; pop rbp. */
static bool ends_compiled(const uint8_t *code, size_t end, uint32_t size)
{
	const uint32_t bytes = size - 2 * WORD;
	uint32_t added;

	if (size <= 2 * WORD || end < 5 || code[end - 1] != 0x5d)
		return false;
	if (memcmp(code + end - 5, "\x48\x83\xc4", 3) == 0)
		return code[end - 2] < 0x80 && code[end - 2] == bytes;
	if (end < 8 || memcmp(code + end - 8, "\x48\x81\xc4", 3) != 0)
		return false;
	memcpy(&added, code + end - 5, sizeof(added));
	return added == bytes;
}

bool left_frame_compiled(const struct left_frame_code *code, uint32_t size, struct left_frame *ret)
{
	static const struct state gone = {
		.is_known = true, .is_on_stack = true, .is_moved = true, .sp_off = WORD};

	for (size_t end = code->at; end > 0; end--) {
		if (ends_compiled(code->bytes, end, size) && follow(code, end, gone, ret))
			return true;
	}
	return false;
}

bool left_frame_interpreted(const struct left_frame_code *code, struct left_frame *ret)
{
	static const struct state gone = {.is_known = true, .is_on_stack = true};

	for (size_t end = code->at; end > 0; end--) {
		if (code->bytes[end - 1] == 0xc9 && follow(code, end, gone, ret))
			return true;
	}
	return false;
}
