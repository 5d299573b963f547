// SPDX-License-Identifier: Apache-2.0
/*
 * Leaves interpreted frames, see step_hotspot.h.
 *
 * An interpreted frame has a frame pointer. The Method, the address of the bytecode and the
 * sender's stack pointer lie in slots at fixed distances from the frame pointer. Before a method
 * has a frame, its caller's stack pointer is in a register. Where a method returns, its frame is
 * taken down some instructions before the jump to its caller (left_frame.h), and says no more which
 * method it was. A frame that an exception passes through has been taken down already.
 */
#include "unwind/step_hotspot.h"

/* The largest interpreted frame: a method has 65,535 locals and stack slots at most. */
#define INTERPRETED_MAX_BYTES (1u << 20)

/*
 * Leaves the frame of a method that is being entered, if its frame pointer is set already. The
 * frame pointer then lies below the caller's stack pointer. The caller's frame pointer and the
 * return address already lie in their final slots.
 */
static bool leave_begun(struct walk *walk, uint64_t sender_sp)
{
	const struct unwind_regs before = walk->at.regs;

	if (before.fp < before.sp || before.fp % WORD_BYTES != 0 || before.fp >= sender_sp ||
	    step_leave(walk, ARCH_FRAME_BY_FP, 0) != STEP_DONE)
		return false;
	if (walk->at.regs.sp <= sender_sp && step_is_code(walk, walk->at.regs.pc)) {
		walk->at.regs.sp = sender_sp;
		return true;
	}
	walk->at.regs = before;
	return false;
}

/*
 * Leaves an interpreted method that has no frame yet. A register then holds the caller's stack
 * pointer. Later that register points at bytecode, which never lies on the stack.
 */
static bool leave_entry(struct walk *walk, struct stack_entry *entry)
{
	const struct arch_entry at = walk->arch->read_entry(walk->at.regs.leaf);
	struct unwind_regs next = {.sp = at.sender_sp, .fp = walk->at.regs.fp};

	if (walk->arch->is_entered && walk->arch->is_entered(&walk->at.regs, &walk->stack))
		return false;
	if (at.sender_sp < walk->at.regs.sp ||
	    at.sender_sp - walk->at.regs.sp > INTERPRETED_MAX_BYTES)
		return false;
	if (leave_begun(walk, at.sender_sp)) {
		entry->method = at.method;
		return true;
	}
	if (walk->arch->has_link || !snapshot_read(&walk->stack, walk->at.regs.sp, &next.pc) ||
	    !step_is_code(walk, next.pc))
		next.pc = at.return_addr;
	if (!step_is_code(walk, next.pc))
		return false;
	entry->method = at.method;
	walk->at.regs = next;
	return true;
}

/* The slot of the bytecode's address depends on the JDK; the agent has told of the slot. */
static void read_bcp_slot(const struct walk *walk, uint64_t *ret)
{
	const struct jvm *jvm = walk->process->jvm;
	const int32_t slot = jvm ? vm_layout_interpreter_bcp_words(&jvm->layout) : 0;

	if (slot != 0)
		hotspot_read_slot(walk, slot, ret);
}

static enum step leave_activation(struct walk *walk, struct stack_entry *entry)
{
	const struct arch_interpreter *slots = &walk->arch->interpreter;
	const uint64_t fp = walk->at.regs.fp, sp = walk->at.regs.sp;
	uint64_t sender_sp = 0;
	enum step step;

	if (fp % WORD_BYTES != 0 || fp < sp || fp - sp > INTERPRETED_MAX_BYTES)
		return walk->at.is_return ? STEP_NO_RULE : step_leave(walk, ARCH_FRAME_NONE, 0);
	hotspot_read_slot(walk, slots->sender_sp, &sender_sp);
	if (hotspot_read_slot(walk, slots->method, &entry->method)) {
		read_bcp_slot(walk, &entry->bcp);
		if (walk->at.regs.leaf)
			entry->bcp = walk->arch->read_entry(walk->at.regs.leaf).bcp;
	}
	step = step_leave(walk, ARCH_FRAME_BY_FP, 0);
	/*
	 * A compiled caller's frame ends at the sender's stack pointer, in front of which arguments
	 * were put.
	 */
	if (step == STEP_DONE && sender_sp >= fp + 2 * WORD_BYTES &&
	    sender_sp - fp <= INTERPRETED_MAX_BYTES)
		walk->at.regs.sp = sender_sp;
	return step;
}

/* Leaves a frame that has been taken down as left says. */
static bool leave_left(struct walk *walk, const struct left_frame *left)
{
	const struct unwind_regs *const at = &walk->at.regs;
	struct unwind_regs next = {.fp = at->fp, .sp = at->sp + (uint64_t)(int64_t)left->sp_off};

	if (left->is_sp_in_reg && (!walk->arch->dwarf_reg(at, left->sp_reg, &next.sp) ||
				   next.sp < at->sp || next.sp - at->sp > INTERPRETED_MAX_BYTES))
		return false;
	if (left->is_in_reg ? !walk->arch->dwarf_reg(at, left->ret_reg, &next.pc)
			    : !snapshot_read(&walk->stack,
					     at->sp + (uint64_t)(int64_t)left->ret_off, &next.pc))
		return false;
	if (!step_is_code(walk, next.pc))
		return false;
	walk->at.regs = next;
	return true;
}

/* Leaves a sampled place whose code has taken the frame down already. */
static bool leave_taken_down(struct walk *walk, const struct code_range *range)
{
	struct leaf_form form;

	return walk->arch->interpreted_left && hotspot_read_form(walk, range, &form) &&
	       form.frame == ARCH_FRAME_LEFT && leave_left(walk, &form.left);
}

enum step step_interpreted(struct walk *walk, const struct code_range *range,
			   struct stack_entry *entry)
{
	const struct unwind_regs before = walk->at.regs;
	enum step step;

	if (walk->at.regs.leaf && (leave_taken_down(walk, range) || leave_entry(walk, entry)))
		return STEP_DONE;
	step = leave_activation(walk, entry);
	if (!walk->at.is_return || (step == STEP_DONE && step_is_code(walk, walk->at.regs.pc)) ||
	    step == STEP_END)
		return step;
	walk->at.regs = before;
	entry->method = entry->bcp = 0;
	return hotspot_leave_unwound(walk, 1);
}
