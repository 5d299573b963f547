// SPDX-License-Identifier: Apache-2.0
/*
 * Leaves frames of stubs, see step_hotspot.h. A stub is code that HotSpot generates and that is no
 * Java method.
 *
 * A blob whose frame size is known has that frame at most of its calls into the VM. Elsewhere the
 * word counts that lies behind a call of this very blob. Other stubs are
 * told apart by their names: adapters between compiled and interpreted code, table stubs, and stubs
 * that ask the processor for its features. A stub of unknown frame is left by the call that entered
 * the stub. The call's return address is sought on the stack.
 */
#include "unwind/step_hotspot.h"

#include "code/code_map.h"

/* The largest frame of a stub. Stubs that hash keep their schedule on the stack. */
#define STUB_MAX_WORDS 512

#define SUBTYPE_CHECK_WORDS 2

/* A method has 255 words of arguments at most. */
#define ADAPTER_MAX_BYTES 4096

/*
 * Words in which an adapter saves registers, vectors too; and words from a register that holds the
 * return address up to the return address itself.
 */
#define SAVED_MAX_WORDS	  512
#define SAVED_ABOVE_WORDS 6

/* The largest frame of an adapter, with 32 saved registers of 16 bytes. */
#define ADAPTER_FRAME_MAX_BYTES 1024

/*
 * Words from the stack pointer to the return address, included, in a stub that asks the processor.
 */
#define ASKING_MAX_WORDS 8

/* ---- adapters ---- */

/*
 * Whether the adapter's code has noted the caller's stack pointer. True where calls leave the
 * return address on the stack: on such an architecture only the stack's alignment tells.
 */
static bool is_sp_noted(struct walk *walk, const struct code_range *range)
{
	struct step_code bytes;
	struct arch_code code;

	if (!walk->arch->is_before_entry)
		return true;
	return step_read_code(walk, range, &bytes, &code) && !walk->arch->is_before_entry(&code);
}

/* Whether the address is one of generated code, which alone calls methods of Java. */
static bool may_call_adapter(struct walk *walk, uint64_t return_addr)
{
	return return_addr > 0 && step_code_at(walk, return_addr - 1);
}

/*
 * Leaves an adapter from compiled to interpreted code. The adapter notes the caller's stack pointer
 * in a register, and then makes room for arguments. Before the note, the register holds anything,
 * older notes too. A caller's stack is aligned: the return address alone on top of the stack leaves
 * the stack pointer off by a word.
 */
static bool leave_adapter_entry(struct walk *walk, const struct code_range *range)
{
	const struct arch_entry at = walk->arch->read_entry(walk->at.regs.leaf);
	const uint64_t sp = walk->at.regs.sp, noted = at.sender_sp;
	struct unwind_regs next = {.sp = sp, .fp = walk->at.regs.fp, .pc = at.return_addr};
	bool is_noted = is_sp_noted(walk, range);
	uint64_t top;

	if (!walk->arch->has_link && snapshot_read(&walk->stack, sp, &top) &&
	    may_call_adapter(walk, top)) {
		next.pc = top;
		next.sp = sp + WORD_BYTES;
		is_noted = next.sp % HOTSPOT_STACK_ALIGN_BYTES != 0;
	}
	if (!may_call_adapter(walk, next.pc))
		return false;
	if (!is_noted && !hotspot_leads_on(walk, next.pc, next.sp))
		is_noted = true;
	if (is_noted && noted >= next.sp && noted - sp <= ADAPTER_MAX_BYTES &&
	    hotspot_leads_on(walk, next.pc, noted))
		next.sp = noted;
	walk->at.regs = next;
	return true;
}

/*
 * Leaves an adapter that has the VM correct the call that entered the adapter. The adapter saves
 * all registers on top of the return address. One of those registers holds the return address, too,
 * so that the return address is on the stack twice.
 */
static enum step leave_mending(struct walk *walk)
{
	const uint64_t sp = walk->at.regs.sp;
	uint64_t saved, addr;

	if (walk->spent.searches++ >= STEP_MAX_SEARCHES)
		return STEP_NO_RULE;
	for (uint64_t i = 0; i < SAVED_MAX_WORDS; i++) {
		if (!snapshot_read(&walk->stack, sp + i * WORD_BYTES, &saved))
			return STEP_END;
		for (uint64_t j = i + 1; saved != 0 && j <= i + SAVED_ABOVE_WORDS; j++) {
			const uint64_t caller_sp = sp + (j + 1) * WORD_BYTES;

			if (!snapshot_read(&walk->stack, caller_sp - WORD_BYTES, &addr))
				return STEP_END;
			if (addr != saved || !hotspot_find_compiled(walk, addr) ||
			    !hotspot_leads_on(walk, addr, caller_sp))
				continue;
			walk->at.regs = (struct unwind_regs){
				.pc = addr, .sp = caller_sp, .fp = walk->at.regs.fp};
			return STEP_DONE;
		}
	}
	return STEP_NO_RULE;
}

/*
 * Whether an adapter has a frame of its own. Where calls leave the return address in a register, an
 * adapter makes a frame to call into the VM. The register then holds the return address of that
 * call.
 */
static bool is_framed_adapter(const struct walk *walk, const struct code_range *range)
{
	const uint64_t link = walk->at.regs.link;
	uint64_t returns_to;

	if (!walk->arch->has_link || walk->at.is_return)
		return walk->arch->has_link;
	return link - range->addr < range->size ||
	       (walk->at.regs.fp - walk->at.regs.sp <= ADAPTER_FRAME_MAX_BYTES &&
		hotspot_read_slot(walk, 1, &returns_to) && returns_to == link);
}

static enum step leave_adapter(struct walk *walk, const struct code_range *range)
{
	if (is_framed_adapter(walk, range))
		return step_by_fp(walk);
	return walk->at.regs.leaf && leave_adapter_entry(walk, range) ? STEP_DONE
								      : leave_mending(walk);
}

/* ---- other stubs ---- */

/* Whether the address is one of generated code, behind a call of this very stub. */
static bool is_behind_call_of(struct walk *walk, uint64_t return_addr,
			      const struct code_range *range)
{
	const struct arch_target target = {.addr = range->addr, .size = range->size};
	const struct code_range *const caller =
		code_map_find(walk->process->code, return_addr - 1, walk->time_ns);

	return caller && return_addr - caller->addr >= ARCH_CALL_BYTES &&
	       step_is_behind_call_of(walk, return_addr, &target);
}

/*
 * Leaves a stub of unknown frame. The return address is the first word of the stack that lies
 * behind a call of this very stub. The search ends when the walk has no reads left.
 */
static enum step leave_by_call(struct walk *walk, const struct code_range *range)
{
	uint64_t addr;

	for (uint64_t i = 0; i < STUB_MAX_WORDS && walk->spent.reads < STEP_MAX_READS; i++) {
		const uint64_t at = walk->at.regs.sp + i * WORD_BYTES;

		if (!snapshot_read(&walk->stack, at, &addr))
			return STEP_END;
		if (!is_behind_call_of(walk, addr, range))
			continue;
		walk->at.regs = (struct unwind_regs){
			.pc = addr, .sp = at + WORD_BYTES, .fp = walk->at.regs.fp};
		return STEP_DONE;
	}
	return STEP_NO_RULE;
}

/* Whether the walk has come to compiled code whose frame leads on. */
static bool has_come_to_compiled(const struct walk *walk)
{
	return hotspot_find_compiled(walk, walk->at.regs.pc) &&
	       hotspot_leads_on(walk, walk->at.regs.pc, walk->at.regs.sp);
}

/*
 * Leaves the exception blob, to which compiled code that throws jumps. The blob pushes the pc in
 * the place of a return address. When the handler is known, the blob pops the pc, and the pc is in
 * a register alone.
 */
static bool leave_exception_blob(struct walk *walk, uint32_t size)
{
	static const enum arch_frame ways[] = {ARCH_FRAME_FULL, ARCH_FRAME_NONE};
	const struct unwind_regs before = walk->at.regs;
	struct unwind_regs next = {.sp = before.sp, .fp = before.fp};

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		walk->at.regs = before;
		if (step_leave(walk, ways[i], size) == STEP_DONE && has_come_to_compiled(walk))
			return true;
	}
	if (walk->arch->dwarf_reg(&before, walk->arch->exception_pc, &next.pc)) {
		walk->at.regs = next;
		if (has_come_to_compiled(walk))
			return true;
	}
	walk->at.regs = before;
	return false;
}

/* How much there may be of a sized stub's frame; a caller has one of the first two. */
static const enum arch_frame sized_ways[] = {ARCH_FRAME_FULL, ARCH_FRAME_BY_FP, ARCH_FRAME_NONE,
					     ARCH_FRAME_PUSHED};
#define N_SIZED_WAYS (sizeof(sized_ways) / sizeof(sized_ways[0]))

/* Leaves a stub for where it is called, if one of the ways leads there. */
static bool leave_for_its_call(struct walk *walk, const struct code_range *range)
{
	const struct unwind_regs before = walk->at.regs;

	for (size_t i = 0; i < N_SIZED_WAYS; i++) {
		if (step_leave(walk, sized_ways[i], range->frame.size) == STEP_DONE &&
		    is_behind_call_of(walk, walk->at.regs.pc, range))
			return true;
		walk->at.regs = before;
	}
	return false;
}

/*
 * Whether what a way out of a frame leads to may be the caller. The word on top of a frame that is
 * not there yet is believed behind a call alone. A whole frame may return to where no call is: to
 * the place of a safepoint poll, or to where a method is deoptimized.
 */
static bool may_be_caller_of(struct walk *walk, enum arch_frame way)
{
	const uint64_t addr = walk->at.regs.pc;

	return way == ARCH_FRAME_NONE || way == ARCH_FRAME_PUSHED ? step_is_behind_call(walk, addr)
								  : step_is_code(walk, addr);
}

/*
 * Leaves a stub whose frame has a known size at most calls into the VM. Elsewhere nothing says how
 * much of the frame there is. Then a word behind a call of the stub counts, and else the first way
 * that may lead to a caller. Where a whole frame's word would be, other callers' words may be left.
 */
static enum step leave_sized_stub(struct walk *walk, const struct code_range *range)
{
	const size_t n_ways = walk->at.is_return ? 2 : N_SIZED_WAYS;
	const struct unwind_regs before = walk->at.regs;
	enum step step = STEP_NO_RULE;

	if (!walk->at.is_return && hotspot_is_named(range, "ExceptionBlob") &&
	    leave_exception_blob(walk, range->frame.size))
		return STEP_DONE;
	if (!walk->at.is_return && leave_for_its_call(walk, range))
		return STEP_DONE;
	for (size_t i = 0; i < n_ways; i++) {
		walk->at.regs = before;
		step = step_leave(walk, sized_ways[i], range->frame.size);
		if (step == STEP_DONE && may_be_caller_of(walk, sized_ways[i]))
			return step;
	}
	walk->at.regs = before;
	return walk->at.is_return ? step_leave(walk, ARCH_FRAME_FULL, range->frame.size)
				  : leave_by_call(walk, range);
}

/*
 * Leaves a stub by its frame pointer, which is another frame's if the stub has not set it: what it
 * leads to has to lie behind a call. The call stub's frame is judged elsewhere (way_in.h). One stub
 * pushes a word of ones before it begins a frame.
 */
static enum step leave_framed_stub(struct walk *walk, const struct code_range *range)
{
	const struct unwind_regs before = walk->at.regs;
	const enum step step = step_by_fp(walk);

	if (step != STEP_DONE)
		return step;
	if (walk->at.regs.pc == UINT64_MAX) {
		if (!snapshot_read(&walk->stack, walk->at.regs.sp, &walk->at.regs.pc))
			return STEP_END;
		walk->at.regs.sp += WORD_BYTES;
	}
	if (hotspot_is_call_stub(range) || !step_is_code(walk, walk->at.regs.pc) ||
	    step_is_behind_call(walk, walk->at.regs.pc))
		return STEP_DONE;
	walk->at.regs = before;
	return STEP_NO_RULE;
}

/*
 * Leaves the stubs that ask the processor for its features, which HotSpot runs before anything
 * else. Such a stub pushes the frame pointer first, and then a few registers, some for a while
 * only.
 */
static enum step leave_asking(struct walk *walk)
{
	const uint64_t sp = walk->at.regs.sp;
	uint64_t before = walk->at.regs.fp, addr;

	for (unsigned int i = 0; i < ASKING_MAX_WORDS; i++) {
		if (!snapshot_read(&walk->stack, sp + i * WORD_BYTES, &addr))
			return STEP_END;
		if (step_is_behind_call(walk, addr)) {
			walk->at.regs = (struct unwind_regs){
				.pc = addr, .sp = sp + (i + 1) * WORD_BYTES, .fp = before};
			return STEP_DONE;
		}
		before = addr;
	}
	return STEP_NO_RULE;
}

static bool is_asking(const struct code_range *range)
{
	return hotspot_is_named(range, "get_cpu_info") ||
	       hotspot_is_named(range, "getCPUIDNameInfo") ||
	       hotspot_is_named(range, "detect_virt");
}

/*
 * Whether the stub is one by which interpreted methods call method handles, and has been left for
 * such a method. The stub finds its target and jumps there, and interpreted methods return to no
 * call.
 */
static bool is_left_for_interpreter(struct walk *walk, const struct code_range *range)
{
	const struct code_range *caller;

	if (!hotspot_is_named(range, "_invoke") && !hotspot_is_named(range, "_linkTo"))
		return false;
	caller = walk->at.regs.pc > 0 ? step_code_at(walk, walk->at.regs.pc - 1) : NULL;
	return caller && hotspot_is_interpreter(caller);
}

static enum step leave_unsized_stub(struct walk *walk, const struct code_range *range)
{
	const struct unwind_regs before = walk->at.regs;
	enum arch_frame frame;

	if (hotspot_is_named(range, "unwind_exception"))
		return hotspot_leave_unwound(walk, 0);
	if (hotspot_is_named(range, "adapter"))
		return leave_adapter(walk, range);
	if (hotspot_thaws(range) && hotspot_leave_thawing(walk, range) == STEP_DONE)
		return STEP_DONE;
	if (is_asking(range) && !walk->arch->has_link)
		return leave_asking(walk);
	if (walk->at.is_return)
		return leave_framed_stub(walk, range);
	if (hotspot_is_named(range, "itable") || hotspot_is_named(range, "vtable"))
		return step_leave(walk, ARCH_FRAME_NONE, 0);
	if (!hotspot_read_frame(walk, range, &frame))
		return step_by_fp(walk);
	if (step_leave(walk, frame, 0) == STEP_DONE &&
	    (is_left_for_interpreter(walk, range) || step_is_behind_call(walk, walk->at.regs.pc)))
		return STEP_DONE;
	walk->at.regs = before;
	return leave_by_call(walk, range);
}

enum step step_stub(struct walk *walk, const struct code_range *range)
{
	enum step step;

	if (range->frame.size > 0)
		return leave_sized_stub(walk, range);
	step = leave_unsized_stub(walk, range);
	/* This stub's caller pushes arguments on the stack, and removes them after the call. */
	if (step == STEP_DONE && hotspot_is_named(range, "slow_subtype_check"))
		walk->at.regs.sp += SUBTYPE_CHECK_WORDS * WORD_BYTES;
	return step;
}
