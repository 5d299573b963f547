// SPDX-License-Identifier: Apache-2.0
/*
 * aarch64, see arch.h. HotSpot's compilers make a frame by
 *
 *	sub sp, sp, #N; stp x29, x30, [sp, #N - 16]
 *	stp x29, x30, [sp, #-16]!; [mov x29, sp;] sub sp, sp, #N	(large frames)
 *
 * and take it down by
 *
 *	ldp x29, x30, [sp, #N - 16]; add sp, sp, #N; poll; ret
 *
 * so that outside of a whole frame the return address is in x30.
 */
#include "unwind/arch.h"

#if defined(__aarch64__)
#include "sample/sample_regs.h"
#endif

/* Indexes of a sample's registers. The register mask has no gaps. */
enum { X29 = 29, X30 = 30, SP = 31, PC = 32 };

#if defined(__aarch64__)
#define IS(place, number) static_assert((int)(place) == (int)(number), "as the kernel has it")
IS(X29, PERF_REG_ARM64_X29);
IS(X30, PERF_REG_ARM64_LR);
IS(SP, SAMPLE_REG_SP);
IS(PC, SAMPLE_REG_PC);
#endif

/* Slots of an interpreted frame, in words from its frame pointer. */
#define METHOD_SLOT (-3)
#define LOCALS_SLOT (-8)

/* A method has 65,535 locals and stack slots at most. */
#define ENTRY_MAX_BYTES (UINT64_C(1) << 20)

#define ADDR_BITS  48
#define CODE_BYTES 4

static void read_regs(const uint64_t *sampled, struct unwind_regs *ret)
{
	*ret = (struct unwind_regs){
		.pc = sampled[PC],
		.sp = sampled[SP],
		.fp = sampled[X29],
		.link = sampled[X30] & ((UINT64_C(1) << ADDR_BITS) - 1),
		.leaf = sampled,
	};
}

static bool dwarf_reg(const struct unwind_regs *regs, unsigned int reg, uint64_t *ret)
{
	if (reg == X29 || reg == SP) {
		*ret = reg == SP ? regs->sp : regs->fp;
		return true;
	}
	if (!regs->leaf || reg > SP)
		return false;
	*ret = regs->leaf[reg];
	return true;
}

/* Pointer authentication keeps its code in the bits above a user's address. */
static uint64_t strip(uint64_t addr)
{
	return addr & ((UINT64_C(1) << ADDR_BITS) - 1);
}

static uint32_t word_at(const uint8_t *code, size_t len, size_t at)
{
	uint32_t word = 0;

	if (at <= len && len - at >= CODE_BYTES)
		memcpy(&word, code + at, CODE_BYTES);
	return word;
}

/* stp x29, x30, [sp, #imm] and with pre-index */
static bool is_stp_fp(uint32_t word)
{
	return (word & 0xffc07fff) == 0xa9007bfd || (word & 0xffc07fff) == 0xa9807bfd;
}

static bool is_stp_fp_push(uint32_t word)
{
	return (word & 0xffc07fff) == 0xa9807bfd;
}

static bool is_ret(uint32_t word)
{
	return word == 0xd65f03c0 || word == 0xd65f0bff || word == 0xd65f0fff;
}

/* add sp, sp, #imm */
static bool is_add_sp(uint32_t word)
{
	return (word & 0xff8003ff) == 0x910003ff;
}

static bool is_sub_sp(uint32_t word)
{
	return (word & 0xff8003ff) == 0xd10003ff;
}

/* b.lo */
static bool is_lower_branch(uint32_t word)
{
	return (word & 0xff00001f) == 0x54000003;
}

/* cmp sp, x8; b.lo; stp x29, x30, [sp, #-16]!; mov x29, sp */
static bool is_reserved_check(const uint8_t *code, size_t len, size_t at)
{
	return word_at(code, len, at) == 0xeb2863ff &&
	       is_lower_branch(word_at(code, len, at + CODE_BYTES)) &&
	       is_stp_fp_push(word_at(code, len, at + 2 * CODE_BYTES)) &&
	       word_at(code, len, at + 3 * CODE_BYTES) == 0x910003fd;
}

/*
 * Whether the pc is behind the ldp of an epilogue. Behind the ldp come add sp, the poll's load,
 * compare and branch, and ret. A native wrapper also looks for an exception before the ret. Code
 * into which a method with @ReservedStackAccess was inlined asks before the poll whether the
 * stack's reserved zone has to be guarded again, by a load, cmp sp, b.lo, and begins a frame if so.
 */
static bool is_taken_down(const struct arch_code *code)
{
	for (size_t at = 0; at < 5 * CODE_BYTES; at += CODE_BYTES) {
		const uint32_t word = word_at(code->at, code->at_len, at);

		if (is_ret(word))
			return true;
		if (is_lower_branch(word))
			return is_stp_fp_push(word_at(code->at, code->at_len, at + CODE_BYTES));
		/* add sp | ldr x8, [x28, #d] | cmp sp, x8 | b.hi | cbnz x8: in any order */
		if (!is_add_sp(word) && (word & 0xffc003ff) != 0xf9400388 && word != 0xeb2863ff &&
		    (word & 0xff00001f) != 0x54000008 && (word & 0xff00001f) != 0xb5000008)
			return false;
	}
	return false;
}

static enum arch_frame prologue_frame(const struct arch_code *code)
{
	for (size_t at = 0; at + CODE_BYTES <= code->entry_len; at += CODE_BYTES) {
		const uint32_t word = word_at(code->entry, code->entry_len, at);
		size_t sub = at + CODE_BYTES;

		if (!is_stp_fp(word))
			continue;
		if (code->pc_offset == at && !is_stp_fp_push(word))
			return ARCH_FRAME_LINK; /* the pc is behind the sub */
		if (code->pc_offset <= at)
			return ARCH_FRAME_NONE;
		if (!is_stp_fp_push(word))
			return ARCH_FRAME_FULL;
		/*
		 * A large frame has a sub of its own. Between the stp and the sub the frame has two
		 * words.
		 */
		while (sub < at + 3 * CODE_BYTES &&
		       !is_sub_sp(word_at(code->entry, code->entry_len, sub)))
			sub += CODE_BYTES;
		return code->pc_offset <= sub ? ARCH_FRAME_PUSHED : ARCH_FRAME_FULL;
	}
	return code->pc_offset < code->complete ? ARCH_FRAME_NONE : ARCH_FRAME_FULL;
}

/* ldp x29, x30, [sp], #16: behind mov sp, x29, or where a large frame has been taken down */
static bool is_ldp_fp_pop(uint32_t word)
{
	return word == 0xa8c17bfd;
}

static enum arch_frame compiled_frame(const struct arch_code *code)
{
	if (is_ldp_fp_pop(word_at(code->at, code->at_len, 0)))
		return ARCH_FRAME_PUSHED;
	if (is_taken_down(code))
		return is_add_sp(word_at(code->at, code->at_len, 0)) ? ARCH_FRAME_LINK
								     : ARCH_FRAME_NONE;
	if (code->pc_offset < code->complete || code->pc_offset < code->entry_len)
		return prologue_frame(code);
	return ARCH_FRAME_FULL;
}

/* adr x30, .: the handler leaves its own address where a call would, and jumps to a blob. */
static bool is_deopt_handler(const struct arch_code *code)
{
	return word_at(code->at, code->at_len, 0) == 0x1000001e;
}

/* A frame that is taken down before a call is begun anew for the call, with a frame pointer. */
static enum arch_frame calling_frame(const struct arch_code *code)
{
	const uint8_t *const before = code->at - code->before_len;
	const size_t n = code->before_len;
	const size_t reach = 6 * CODE_BYTES; /* adrp, add, mov of the call, or four movs and one */

	for (size_t back = 4 * CODE_BYTES; back <= n && back <= reach + 4 * CODE_BYTES;
	     back += CODE_BYTES) {
		if (is_reserved_check(before, n, n - back))
			return ARCH_FRAME_BY_FP;
	}
	return ARCH_FRAME_FULL;
}

static enum arch_frame stub_frame(const struct arch_code *code)
{
	const bool has_frame = is_stp_fp_push(word_at(code->entry, code->entry_len, 0));

	if (!has_frame || code->pc_offset == 0 || is_ret(word_at(code->at, code->at_len, 0)))
		return ARCH_FRAME_NONE;
	if (code->pc_offset <= CODE_BYTES || is_ldp_fp_pop(word_at(code->at, code->at_len, 0)))
		return ARCH_FRAME_PUSHED;
	return ARCH_FRAME_BY_FP;
}

/*
 * Such code makes its frame by stp x29, x30, [sp, #-N]! somewhere in its beginning. At the end the
 * frame is gone when only the ret is left.
 */
static enum arch_frame foreign_frame(const struct arch_code *code, bool is_return,
				     uint32_t *ret_size)
{
	size_t push = 0;

	(void)ret_size;
	while (push < code->entry_len &&
	       !is_stp_fp_push(word_at(code->entry, code->entry_len, push)))
		push += CODE_BYTES;
	if (is_return || push >= code->entry_len)
		return ARCH_FRAME_BY_FP;
	if (code->pc_offset <= push || is_ret(word_at(code->at, code->at_len, 0)))
		return ARCH_FRAME_NONE;
	return code->pc_offset == push + CODE_BYTES ? ARCH_FRAME_PUSHED : ARCH_FRAME_BY_FP;
}

/* bl imm26 */
static bool is_call(const uint8_t *code, size_t len, uint64_t return_addr,
		    const struct arch_target *target)
{
	const uint32_t word = len < CODE_BYTES ? 0 : word_at(code, len, len - CODE_BYTES);
	const int64_t distance = (int64_t)((uint64_t)(word & 0x3ffffff) << 38) >> 36;

	return word >> 26 == 0x25 &&
	       return_addr - CODE_BYTES + (uint64_t)distance - target->addr < target->size;
}

/* bl, blr, and the forms of blr that check a signature */
static bool ends_with_call(const uint8_t *code, size_t len)
{
	const uint32_t word = word_at(code, len, len - CODE_BYTES);

	return word >> 26 == 0x25 || (word & 0xfeff0000) == 0xd63f0000;
}

/* svc #0 */
static bool ends_with_syscall(const uint8_t *code, size_t len)
{
	return word_at(code, len, len - CODE_BYTES) == 0xd4000001;
}

/* The caller's stack pointer is in x19 since JDK 20, in x13 before. */
static struct arch_entry read_entry(const uint64_t *sampled)
{
	const uint64_t room = sampled[19] - sampled[SP];

	return (struct arch_entry){.sender_sp = sampled[room <= ENTRY_MAX_BYTES ? 19 : 13],
				   .method = sampled[12],
				   .return_addr = strip(sampled[X30]),
				   .bcp = sampled[22]};
}

/*
 * Compares x24, the address of the locals, with the frame's slot for the locals. The slot holds
 * that address or, since JDK 21, the distance in words from the frame pointer. An entry first sets
 * x24 for the new method, so x12 and x19 may be believed while x24 and the slot differ. While a
 * method is looked up for a call, and after the call, x12 and x19 may not be believed.
 */
static bool is_entered(const struct unwind_regs *regs, const struct snapshot *stack)
{
	uint64_t locals;

	return snapshot_read(stack, regs->fp + LOCALS_SLOT * WORD_BYTES, &locals) &&
	       (locals == regs->leaf[24] || regs->fp + locals * WORD_BYTES == regs->leaf[24]);
}

/* mov x19, sp or mov x13, sp */
static bool is_before_entry(const struct arch_code *code)
{
	for (size_t at = 0; at < code->at_len; at += CODE_BYTES) {
		const uint32_t word = word_at(code->at, code->at_len, at);

		if (word == 0x910003f3 || word == 0x910003ed)
			return true;
	}
	return false;
}

const struct arch arch_aarch64 = {
	.name = "aarch64",
	.n_regs = 33,
	.is_call = is_call,
	.ends_with_call = ends_with_call,
	.ends_with_syscall = ends_with_syscall,
	.read_entry = read_entry,
	.is_entered = is_entered,
	.is_before_entry = is_before_entry,
	.read_regs = read_regs,
	.dwarf_reg = dwarf_reg,
	.strip = strip,
	.compiled_frame = compiled_frame,
	.calling_frame = calling_frame,
	.is_deopt_handler = is_deopt_handler,
	.stub_frame = stub_frame,
	.foreign_frame = foreign_frame,
	.interpreter = {.sender_sp = -1, .method = METHOD_SLOT},
	.exception_pc = 3,
	.thawed_sp = 9,
	.has_link = true,
};
