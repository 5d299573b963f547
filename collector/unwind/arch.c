// SPDX-License-Identifier: Apache-2.0
/* Leaves a frame, which is done alike on all architectures; see arch.h. */
#include "unwind/arch.h"

#if defined(__x86_64__)
const struct arch *const arch_native = &arch_x86_64;
#elif defined(__aarch64__)
const struct arch *const arch_native = &arch_aarch64;
#else
#error "no unwinder for this architecture: write collector/unwind/arch_<cpu>.c"
#endif

/* Reads the two words below the caller's stack pointer: return address and frame pointer. */
static bool leave_below(uint64_t caller_sp, const struct snapshot *stack, struct unwind_regs *next)
{
	next->sp = caller_sp;
	return snapshot_read(stack, caller_sp - WORD_BYTES, &next->pc) &&
	       snapshot_read(stack, caller_sp - 2 * WORD_BYTES, &next->fp);
}

static bool leave_none(const struct arch *arch, const struct snapshot *stack,
		       const struct unwind_regs *regs, struct unwind_regs *next)
{
	if (arch->has_link) {
		next->pc = regs->link;
		return regs->link != 0;
	}
	next->sp = regs->sp + WORD_BYTES;
	return snapshot_read(stack, regs->sp, &next->pc);
}

bool arch_leave(const struct arch *arch, enum arch_frame frame, uint32_t size,
		const struct snapshot *stack, struct unwind_regs *regs)
{
	struct unwind_regs next = {.fp = regs->fp, .sp = regs->sp};
	bool is_read = false;

	switch (frame) {
	case ARCH_FRAME_FULL:
		is_read = leave_below(regs->sp + size, stack, &next);
		break;
	case ARCH_FRAME_FP_LIVE:
		is_read = leave_below(regs->sp + size, stack, &next);
		next.fp = regs->fp;
		break;
	case ARCH_FRAME_PUSHED:
		is_read = leave_below(regs->sp + 2 * WORD_BYTES, stack, &next);
		break;
	case ARCH_FRAME_BY_FP:
		is_read = leave_below(regs->fp + 2 * WORD_BYTES, stack, &next);
		break;
	case ARCH_FRAME_LINK:
		is_read = leave_none(arch, stack, regs, &next);
		next.sp = regs->sp + size;
		break;
	case ARCH_FRAME_WORD:
		next.sp = regs->sp + 2 * WORD_BYTES;
		is_read = snapshot_read(stack, regs->sp + WORD_BYTES, &next.pc);
		break;
	case ARCH_FRAME_LEFT:
		break;
	case ARCH_FRAME_NONE:
		is_read = leave_none(arch, stack, regs, &next);
		break;
	}
	if (!is_read)
		return false;
	next.pc = arch->strip(next.pc);
	*regs = next;
	return true;
}
