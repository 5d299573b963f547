// SPDX-License-Identifier: Apache-2.0
/*
 * Leaves frames of code that a process told of itself, see step.h.
 *
 * Nobody says how large such a frame is, but nearly all of it keeps a frame pointer. Where the
 * sample hit, the code itself says whether it has done so yet; callers have, but for trampolines of
 * a few instructions, whose code is looked at too.
 */
#include "unwind/step.h"

#define TRAMPOLINE_MAX_BYTES 32

static bool leave_for_code(struct walk *walk, enum arch_frame frame, uint32_t size)
{
	const struct unwind_regs before = walk->at.regs;

	if (step_leave(walk, frame, size) == STEP_DONE && step_is_code(walk, walk->at.regs.pc))
		return true;
	walk->at.regs = before;
	return false;
}

enum step step_foreign(struct walk *walk, const struct code_range *range)
{
	enum arch_frame frame = ARCH_FRAME_BY_FP;
	struct step_code bytes;
	struct arch_code code;
	uint32_t size = 0;

	if ((!walk->at.is_return || range->size <= TRAMPOLINE_MAX_BYTES) &&
	    step_read_code(walk, range, &bytes, &code))
		frame = walk->arch->foreign_frame(&code, walk->at.is_return, &size);
	if (frame != ARCH_FRAME_BY_FP && leave_for_code(walk, frame, size))
		return STEP_DONE;
	/* The ABI's mark of the deepest frame. */
	if (walk->at.is_return && walk->at.regs.fp == 0)
		return STEP_ROOT;
	return step_by_fp(walk);
}
