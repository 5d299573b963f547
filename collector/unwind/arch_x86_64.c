// SPDX-License-Identifier: Apache-2.0
/*
 * x86_64, see arch.h. HotSpot's compilers make a frame in one of two ways, each after a store that
 * probes the stack where the frame is large enough to need it:
 *
 *	push rbp; [mov rbp, rsp;] sub rsp, N		55 [48 8b ec] 48 83|81 ec N
 *	sub rsp, N; mov [rsp + N - 8], rbp		48 83|81 ec N  48 89 6c|ac 24 N
 *
 * and take it down by
 *
 *	add rsp, N; pop rbp; [cmp rsp, [r15 + d]; ja slow;] ret  5d 49 3b 67|a7 d 0f 87 d c3
 *
 * where before JDK 16 the poll is one of
 *
 *	mov r10, [r15 + d]; test [r10], eax			  4d 8b 57|97 d  41 85 02
 *	test [rip + d], eax					  85 05 d
 *
 * Code into which a method with @ReservedStackAccess was inlined has in front of the poll
 *
 *	cmp rsp, [r15 + d]; jb poll; mov rdi, r15; ...		  49 3b 67|a7 d  0f 82 d  49 8b ff
 *
 * and calls the VM if the stack's reserved zone has to be guarded again. The poll's slow way, which
 * lies behind the method's code, is
 *
 *	mov r10, poll | lea r10, [rip + d]; mov [r15 + d], r10; jmp	49 ba d | 4c 8d 15 d
 *									4d 89 57|97 d  e9
 *
 * Stubs that have a frame of their own begin by push rbp; mov rbp, rsp.
 *
 * A deoptimization handler leaves its own address on the stack, and jumps to a blob. C2's and C1's:
 *
 *	call next; next: sub [rsp], 5; jmp			e8 0 48 83 2c 24 05 e9
 *	mov r10, handler; push r10; jmp				49 ba d 41 52 e9
 */
#include "unwind/arch.h"
#include "decode/spill.h"

/*
 * Indexes of a sample's registers, by rising bits of the mask. The mask has no segment registers
 * and no flags.
 */
enum { AX, BX, CX, DX, SI, DI, BP, SP, IP, R8, R15 = R8 + 7, N_REGS };

#define PUSH_RBP 0x55
#define POP_RBP	 0x5d
#define RET	 0xc3
#define RET_N	 0xc2
#define LEAVE	 0xc9

static void read_regs(const uint64_t *sampled, struct unwind_regs *ret)
{
	*ret = (struct unwind_regs){
		.pc = sampled[IP], .sp = sampled[SP], .fp = sampled[BP], .leaf = sampled};
}

static bool dwarf_reg(const struct unwind_regs *regs, unsigned int reg, uint64_t *ret)
{
	/* DWARF numbers of the psABI: rax rdx rcx rbx rsi rdi rbp rsp r8 to r15. */
	static const uint8_t places[] = {AX, DX, CX, BX, SI, DI, BP, SP};

	if (reg == 6 || reg == 7) {
		*ret = reg == 6 ? regs->fp : regs->sp;
		return true;
	}
	if (!regs->leaf && reg == 3 && regs->has_rbx) {
		*ret = regs->rbx;
		return true;
	}
	if (!regs->leaf || reg > 15)
		return false;
	*ret = regs->leaf[reg < 8 ? places[reg] : R8 + reg - 8];
	return true;
}

static uint64_t strip(uint64_t addr)
{
	return addr;
}

static bool has_bytes(const uint8_t *code, size_t len, size_t at, const char *bytes, size_t n)
{
	return at <= len && n <= len - at && memcmp(code + at, bytes, n) == 0;
}

#define HAS(code, len, at, bytes) has_bytes(code, len, at, bytes, sizeof(bytes) - 1)

static bool is_sub_rsp(const uint8_t *code, size_t len, size_t at)
{
	return HAS(code, len, at, "\x48\x83\xec") || HAS(code, len, at, "\x48\x81\xec");
}

static size_t sub_rsp_len(const uint8_t *code, size_t at)
{
	return code[at + 1] == 0x83 ? 4 : 7;
}

/* Finds where the prologue begins, and the sub in the prologue. False: no prologue is found. */
static bool find_prologue(const struct arch_code *code, size_t *ret_push, size_t *ret_sub)
{
	for (size_t at = 0; at < code->entry_len; at++) {
		size_t sub = at;

		if (code->entry[at] == PUSH_RBP) {
			sub++;
			if (HAS(code->entry, code->entry_len, sub, "\x48\x8b\xec"))
				sub += 3;
		}
		if (!is_sub_rsp(code->entry, code->entry_len, sub))
			continue;
		*ret_push = at;
		*ret_sub = sub;
		return true;
	}
	return false;
}

static enum arch_frame prologue_frame(const struct arch_code *code)
{
	size_t push, sub;

	if (!find_prologue(code, &push, &sub))
		return code->pc_offset < code->complete ? ARCH_FRAME_NONE : ARCH_FRAME_FULL;
	if (code->pc_offset <= push)
		return ARCH_FRAME_NONE;
	if (code->pc_offset <= sub)
		return ARCH_FRAME_PUSHED;
	/* A prologue that begins with the sub saves rbp by the next instruction. */
	if (push == sub && code->pc_offset <= sub + sub_rsp_len(code->entry, sub))
		return ARCH_FRAME_FP_LIVE;
	return ARCH_FRAME_FULL;
}

/* The length of a poll from before JDK 16 at the pc; 0: no such poll. */
static size_t old_poll_len(const uint8_t *at, size_t len)
{
	size_t pos = 0;

	if (HAS(at, len, 0, "\x85\x05"))
		return 6;
	if (HAS(at, len, 0, "\x4d\x8b\x57"))
		pos = 4;
	else if (HAS(at, len, 0, "\x4d\x8b\x97"))
		pos = 7;
	return HAS(at, len, pos, "\x41\x85\x02") ? pos + 3 : 0;
}

static bool is_ret(const uint8_t *at, size_t len, size_t pos)
{
	return pos < len && at[pos] == RET;
}

/* Whether the pc is in the poll before a return, or at the return itself. */
static bool is_at_return(const uint8_t *at, size_t len)
{
	size_t pos = 0;

	if (is_ret(at, len, old_poll_len(at, len)))
		return true;
	if (HAS(at, len, 0, "\x49\x3b\x67"))
		pos = 4; /* cmp rsp, [r15 + disp8] */
	else if (HAS(at, len, 0, "\x49\x3b\xa7"))
		pos = 7;							    /* disp32 */
	if (HAS(at, len, pos, "\x0f\x82") && HAS(at, len, pos + 6, "\x49\x8b\xff")) /* jb rel32 */
		return true;
	return HAS(at, len, pos, "\x0f\x87") && is_ret(at, len, pos + 6); /* ja rel32 */
}

/* The length of mov [r15 + d], r10 at an offset; 0: it is another instruction. */
static size_t store_len(const uint8_t *at, size_t len, size_t pos)
{
	if (HAS(at, len, pos, "\x4d\x89\x57"))
		return 4;
	return HAS(at, len, pos, "\x4d\x89\x97") ? 7 : 0;
}

/* Whether a store at an offset is that of a poll's slow way, with the jump behind it. */
static bool is_slow_store(const uint8_t *at, size_t len, size_t pos)
{
	const size_t store = store_len(at, len, pos);

	return store > 0 && HAS(at, len, pos + store, "\xe9");
}

/* Whether the pc is in the slow way of a poll before a return. */
static bool is_in_slow_poll(const struct arch_code *code)
{
	const uint8_t *const at = code->at, *const before = at - code->before_len;
	const size_t n = code->before_len;

	if (HAS(at, code->at_len, 0, "\x49\xba"))
		return is_slow_store(at, code->at_len, 10);
	if (HAS(at, code->at_len, 0, "\x4c\x8d\x15"))
		return is_slow_store(at, code->at_len, 7);
	if ((n >= 10 && HAS(before, n, n - 10, "\x49\xba")) ||
	    (n >= 7 && HAS(before, n, n - 7, "\x4c\x8d\x15")))
		return is_slow_store(at, code->at_len, 0);
	for (size_t store = 4; store <= 7 && HAS(at, code->at_len, 0, "\xe9"); store += 3) {
		if (n < store + 10 || store_len(before, n, n - store) != store)
			continue;
		return HAS(before, n, n - store - 10, "\x49\xba") ||
		       HAS(before, n, n - store - 7, "\x4c\x8d\x15");
	}
	return false;
}

static struct left_frame_code around(const struct arch_code *code)
{
	return (struct left_frame_code){.bytes = code->at - code->before_len,
					.at = code->before_len,
					.len = code->before_len + code->at_len};
}

static enum arch_frame calling_frame(const struct arch_code *code)
{
	const struct left_frame_code bytes = around(code);
	struct left_frame left;

	if (!left_frame_compiled(&bytes, code->size, &left) || left.is_in_reg)
		return ARCH_FRAME_FULL;
	return left.ret_off == 0	    ? ARCH_FRAME_NONE
	       : left.ret_off == WORD_BYTES ? ARCH_FRAME_WORD
					    : ARCH_FRAME_FULL;
}

static bool is_deopt_handler(const struct arch_code *code)
{
	const uint8_t *const at = code->at;
	const size_t n = code->at_len;

	return HAS(at, n, 0, "\xe8\x00\x00\x00\x00\x48\x83\x2c\x24\x05\xe9") ||
	       (HAS(at, n, 0, "\x49\xba") && HAS(at, n, 10, "\x41\x52\xe9"));
}

static bool interpreted_left(const struct arch_code *code, struct left_frame *ret)
{
	const struct left_frame_code bytes = around(code);

	return left_frame_interpreted(&bytes, ret);
}

static enum arch_frame compiled_frame(const struct arch_code *code)
{
	enum arch_frame left;

	if (code->at_len > 0 && code->at[0] == POP_RBP)
		return ARCH_FRAME_PUSHED;
	if (is_at_return(code->at, code->at_len) || is_in_slow_poll(code))
		return ARCH_FRAME_NONE;
	left = calling_frame(code);
	if (left != ARCH_FRAME_FULL)
		return left;
	if (code->pc_offset < code->complete || code->pc_offset < code->entry_len)
		return prologue_frame(code);
	return ARCH_FRAME_FULL;
}

static enum arch_frame stub_frame(const struct arch_code *code)
{
	const bool has_frame = HAS(code->entry, code->entry_len, 0, "\x55\x48\x8b\xec") ||
			       HAS(code->entry, code->entry_len, 0, "\x55\x48\x89\xe5");

	if (!has_frame || code->pc_offset == 0 || (code->at_len > 0 && code->at[0] == RET))
		return ARCH_FRAME_NONE;
	if (code->pc_offset < 4)
		return ARCH_FRAME_PUSHED;
	if (code->at_len > 1 && code->at[0] == POP_RBP && code->at[1] == RET)
		return ARCH_FRAME_PUSHED;
	return ARCH_FRAME_BY_FP;
}

/* A trampoline moves the stack pointer only for alignment, around one call through a register. */
static enum arch_frame trampoline_frame(const struct arch_code *code, bool is_return,
					uint32_t *ret_size)
{
	const size_t sub = HAS(code->entry, code->entry_len, 0, "\xf3\x0f\x1e\xfa") ? 4 : 0;
	const size_t call = sub + 4;

	if (!HAS(code->entry, code->entry_len, sub, "\x48\x83\xec") || code->entry_len < call + 2 ||
	    code->entry[call - 1] >= 0x80 || code->entry[call] != 0xff ||
	    (code->entry[call + 1] & 0xf8) != 0xd0)
		return ARCH_FRAME_BY_FP;
	*ret_size = code->entry[call - 1] + WORD_BYTES;
	if (code->pc_offset == call + 2 || (!is_return && code->pc_offset == call))
		return ARCH_FRAME_FP_LIVE;
	return is_return ? ARCH_FRAME_BY_FP : ARCH_FRAME_NONE;
}

/*
 * V8's code checks whether it is still valid before it pushes rbp. BeamAsm's code does not. Both
 * end by pop rbp, or leave, and then ret [N]. In the few instructions that V8 has between these
 * two, rbp is already the caller's.
 */
static enum arch_frame foreign_frame(const struct arch_code *code, bool is_return,
				     uint32_t *ret_size)
{
	size_t push = 0;

	while (push < code->entry_len &&
	       !HAS(code->entry, code->entry_len, push, "\x55\x48\x89\xe5") &&
	       !HAS(code->entry, code->entry_len, push, "\x55\x48\x8b\xec"))
		push++;
	if (push >= code->entry_len)
		return trampoline_frame(code, is_return, ret_size);
	if (is_return)
		return ARCH_FRAME_BY_FP;
	if (code->pc_offset <= push ||
	    (code->at_len > 0 && (code->at[0] == RET || code->at[0] == RET_N)))
		return ARCH_FRAME_NONE;
	if (code->pc_offset <= push + 1 || (code->at_len > 0 && code->at[0] == POP_RBP))
		return ARCH_FRAME_PUSHED;
	return ARCH_FRAME_BY_FP;
}

static bool is_in(const struct arch_target *target, uint64_t addr)
{
	return addr - target->addr < target->size;
}

/* call rel32, or mov r10, imm64; call r10 */
static bool is_call(const uint8_t *code, size_t len, uint64_t return_addr,
		    const struct arch_target *target)
{
	uint64_t addr;
	int32_t distance;

	if (len >= 5 && code[len - 5] == 0xe8) {
		memcpy(&distance, code + len - 4, sizeof(distance));
		if (is_in(target, return_addr + (uint64_t)(int64_t)distance))
			return true;
	}
	if (len < 13 || !HAS(code, len, len - 13, "\x49\xba") ||
	    !HAS(code, len, len - 3, "\x41\xff\xd2"))
		return false;
	memcpy(&addr, code + len - 11, sizeof(addr));
	return is_in(target, addr);
}

/*
 * call rel32, or call by a register or a word of memory: ff, and a byte of which bits 3 to 5 are 2.
 * Bits 6 and 7 of that byte say how long the distance is that follows, and bits 0 to 2 whether a
 * byte for an index register comes first.
 */
static bool ends_with_call(const uint8_t *code, size_t len)
{
	if (code[len - 5] == 0xe8)
		return true;
	for (size_t back = 2; back <= 7; back++) {
		const uint8_t how = code[len - back + 1], place = how >> 6, reg = how & 7;
		const bool has_index = place != 3 && reg == 4;
		const bool is_fixed = place == 0 && reg == 5;
		const size_t distance = place == 1 ? 1 : place == 2 || is_fixed ? 4 : 0;

		if (code[len - back] == 0xff && (how >> 3 & 7) == 2 &&
		    back == 2 + (has_index ? 1u : 0u) + distance)
			return true;
	}
	return false;
}

static struct arch_entry read_entry(const uint64_t *sampled)
{
	return (struct arch_entry){.sender_sp = sampled[R8 + 5],
				   .method = sampled[BX],
				   .return_addr = sampled[AX],
				   .bcp = sampled[R8 + 5]};
}

/* syscall leaves its return address in rcx. */
static bool may_have_called_kernel(const struct unwind_regs *regs)
{
	return regs->leaf[CX] == regs->pc;
}

static bool ends_with_syscall(const uint8_t *code, size_t len)
{
	return code[len - 2] == 0x0f && code[len - 1] == 0x05;
}

static bool ends_with_breakpoint(const uint8_t *code, size_t len)
{
	return code[len - 1] == 0xcc; /* int3 */
}

const struct arch arch_x86_64 = {
	.name = "x86_64",
	.n_regs = 17,
	.is_call = is_call,
	.ends_with_call = ends_with_call,
	.may_have_called_kernel = may_have_called_kernel,
	.ends_with_syscall = ends_with_syscall,
	.ends_with_breakpoint = ends_with_breakpoint,
	.read_entry = read_entry,
	.read_regs = read_regs,
	.dwarf_reg = dwarf_reg,
	.strip = strip,
	.compiled_frame = compiled_frame,
	.calling_frame = calling_frame,
	.is_deopt_handler = is_deopt_handler,
	.interpreted_left = interpreted_left,
	.stub_frame = stub_frame,
	.foreign_frame = foreign_frame,
	.spill_bytes = spill_bytes,
	.epilogue_find = epilogue_find,
	.interpreter = {.sender_sp = -1, .method = -3},
	.stops_behind = true,
	.exception_pc = 1, /* rdx */
	.thawed_sp = 3,	   /* rbx */
	.call_stub_bytes = 96,
};
