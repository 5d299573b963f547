// SPDX-License-Identifier: Apache-2.0
/*
 * Steps over the return barrier of a virtual thread, see step.h, and out of the code that thaws the
 * thread's frames, see step_hotspot.h.
 *
 * HotSpot has two kinds of that code. One mounts a thread. The other is the barrier itself, to
 * which the oldest frame on the stack returns. Both take their stack down to the ContinuationEntry
 * of the frame that mounted the thread, make room for frames from the heap, have the VM copy the
 * frames into that room, and return to the youngest of those frames:
 *
 *   | fp, pc, youngest frame | ... | ContinuationEntry, fp, pc |
 *              ^ thawed_sp                               ^ frame pointer while frames are thawed
 *
 * A frame that was thawed the slow way (seen with JDK 25) may have its caller's stack pointer in
 * the place of the frame pointer, and leaves it to the barrier.
 */
#include "unwind/step_hotspot.h"

#include "code/code_map.h"

bool step_is_barrier(const struct code_range *range, uint64_t pc)
{
	return range && range->kind == CODE_STUB && range->addr == pc &&
	       (hotspot_is_named(range, "returnBarrier") ||
		hotspot_is_named(range, "return barrier"));
}

/*
 * The address at which the mounting frame goes on: ContinuationEntry::_return_pc. JDK 21 does not
 * describe that member. For JDK 21 any address of the mounting code will do, because the code's
 * frame has one size.
 */
static uint64_t mounting_pc(struct walk *walk)
{
	const struct jvm *jvm = walk->process->jvm;
	uint64_t *const pc = &walk->facts->mounting_pc;
	int64_t addr;

	if (!process_value(walk->process, "ContinuationEntry::_return_pc", &addr))
		return jvm ? jvm->mounting_pc : 0;
	if (*pc == 0) {
		const struct iovec to = {.iov_base = pc, .iov_len = sizeof(*pc)};
		const struct iovec from = {.iov_base = (void *)(uintptr_t)addr,
					   .iov_len = sizeof(*pc)};

		if (!step_read(walk, &to, &from, 1))
			*pc = 0;
	}
	return *pc;
}

bool hotspot_thaws(const struct code_range *range)
{
	return hotspot_is_named(range, "thaw") || hotspot_is_named(range, "returnBarrier");
}

/*
 * Leaves for the youngest frame in the room, if the frames are there already. Before, the register
 * of their stack pointer holds anything.
 */
static bool leave_for_thawed(struct walk *walk)
{
	const struct unwind_regs before = walk->at.regs;
	struct unwind_regs next = {.fp = before.fp};

	if (!before.leaf || !walk->arch->dwarf_reg(&before, walk->arch->thawed_sp, &next.sp) ||
	    next.sp <= before.sp || !snapshot_read(&walk->stack, next.sp - WORD_BYTES, &next.pc) ||
	    !step_is_code(walk, next.pc) || !hotspot_leads_on(walk, next.pc, next.sp))
		return false;
	/* The last instruction has removed the frame pointer already. */
	snapshot_read(&walk->stack, next.sp - 2 * WORD_BYTES, &next.fp);
	walk->at.regs = next;
	return true;
}

/* Whether the mounting code, with its stack pointer at sp, returns to Java: only Java calls it. */
static bool is_called_by_java(struct walk *walk, const struct code_range *mounting, uint64_t sp)
{
	const struct code_range *caller;
	uint64_t addr;

	if (sp < walk->at.regs.sp ||
	    !snapshot_read(&walk->stack, sp + mounting->frame.size - WORD_BYTES, &addr))
		return false;
	caller = addr > 0 ? step_code_at(walk, addr - 1) : NULL;
	return caller && (caller->kind != CODE_STUB || hotspot_is_interpreter(caller));
}

/*
 * Finds the stack pointer of the frame that mounted the thread. The frame pointer is that of the
 * frame, or, where the barrier was returned to by a frame that was thawed the slow way, the frame's
 * stack pointer.
 */
static bool find_mounting_sp(struct walk *walk, uint64_t pc, uint64_t *ret)
{
	const struct code_range *mounting = hotspot_find_compiled(walk, pc);
	const uint64_t fp = walk->at.regs.fp;

	if (!mounting)
		return false;
	*ret = fp + 2 * WORD_BYTES - mounting->frame.size;
	if (is_called_by_java(walk, mounting, *ret))
		return true;
	*ret = fp;
	return is_called_by_java(walk, mounting, *ret);
}

/*
 * Leaves for the frame that mounted the thread. The barrier's code leaves for the barrier, because
 * the frames that the code is about to thaw lie in the heap.
 */
static bool leave_for_mounting(struct walk *walk, const struct code_range *range)
{
	struct unwind_regs next = {.pc = mounting_pc(walk), .fp = walk->at.regs.fp};

	if (next.pc == 0 || !find_mounting_sp(walk, next.pc, &next.sp))
		return false;
	if (step_is_barrier(range, range->addr))
		next.pc = range->addr;
	walk->at.regs = next;
	return true;
}

enum step hotspot_leave_thawing(struct walk *walk, const struct code_range *range)
{
	return leave_for_thawed(walk) || leave_for_mounting(walk, range) ? STEP_DONE : STEP_NO_RULE;
}

enum step step_barrier(struct walk *walk)
{
	if (walk->spent.barriers++ >= STEP_MAX_BARRIERS)
		return STEP_NO_RULE;
	walk->at.regs.pc = mounting_pc(walk);
	walk->at.regs.leaf = NULL;
	return walk->at.regs.pc ? STEP_DONE : STEP_NO_RULE;
}
