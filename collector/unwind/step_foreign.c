// SPDX-License-Identifier: Apache-2.0
/*
 * Leaves frames of code that the process itself reported, see step.h.
 *
 * The size of such a frame is not known, but nearly all such code keeps a frame pointer. At the
 * leaf the code's bytes say whether the code has pushed the frame pointer yet. A caller has pushed
 * the frame pointer, unless the caller is a trampoline of a few instructions. So the bytes of a
 * trampoline are read, too.
 *
 * A frame pointer of 0 is the ABI's mark of the deepest frame, and no proof of one: code that keeps
 * no frame pointer may have any number in the register. A stack ends where the runtime itself
 * begins what it runs, which is known by the name that the runtime gives to this code.
 */
#include "unwind/step.h"

#include <string.h>

#define TRAMPOLINE_MAX_BYTES 32

static bool leave_for_code(struct walk *walk, enum arch_frame frame, uint32_t size)
{
	const struct unwind_regs before = walk->at.regs;

	if (step_leave(walk, frame, size) == STEP_DONE && step_is_code(walk, walk->at.regs.pc))
		return true;
	walk->at.regs = before;
	return false;
}

/* Erlang's processes have stacks of their own, at whose ends lies the address of this code. */
static bool is_begin(const struct code_range *range)
{
	static const char erlang[] = "$erts_beamasm:normal_exit/0";

	return range->name && strncmp(range->name, erlang, sizeof(erlang) - 1) == 0;
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
	if (walk->at.is_return && walk->at.regs.fp == 0 && is_begin(range))
		return STEP_ROOT;
	return step_by_fp(walk);
}
