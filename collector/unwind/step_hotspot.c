// SPDX-License-Identifier: Apache-2.0
/*
 * Chooses how a frame of HotSpot's generated code is left, see step.h. Has what the steps out of
 * compiled code, interpreted code and stubs share, see step_hotspot.h. Steps over the return
 * barrier of a virtual thread.
 */
#include "unwind/step_hotspot.h"

#include "code/code_map.h"

/* Words in which the return address is sought: an exception may lie there twice, and alignment. */
#define UNWOUND_MAX_WORDS 4

bool hotspot_read_frame(struct walk *walk, const struct code_range *range, enum arch_frame *ret)
{
	const pid_t pid = walk->process->pid;
	const uint64_t pc = walk->at.regs.pc;
	struct step_code bytes;
	struct arch_code code;

	if (leaf_cache_find(walk->leaves, pid, range, pc, ret))
		return true;
	if (!step_read_code(walk, range, &bytes, &code)) {
		*ret = code.pc_offset < code.complete ? ARCH_FRAME_NONE : ARCH_FRAME_FULL;
		return false;
	}
	*ret = range->kind == CODE_STUB ? walk->arch->stub_frame(&code)
					: walk->arch->compiled_frame(&code);
	leaf_cache_put(walk->leaves, pid, range, pc, *ret);
	return true;
}

const struct code_range *hotspot_find_compiled(const struct walk *walk, uint64_t return_addr)
{
	const struct code_range *range =
		code_map_find(walk->process->code, return_addr - 1, walk->time_ns);
	const bool is_compiled = range && range->kind != CODE_STUB;

	return is_compiled && range->frame.size >= 2 * WORD_BYTES ? range : NULL;
}

bool hotspot_leads_on(const struct walk *walk, uint64_t pc, uint64_t sp)
{
	const struct code_range *range = hotspot_find_compiled(walk, pc);
	uint64_t addr;

	if (!range)
		return true;
	return snapshot_read(&walk->stack, sp + range->frame.size - WORD_BYTES, &addr) &&
	       step_is_code(walk, addr);
}

bool hotspot_read_slot(const struct walk *walk, int slot, uint64_t *ret)
{
	if (slot < 0 && walk->at.regs.fp - walk->at.regs.sp < (uint64_t)-slot * WORD_BYTES)
		return false;
	return snapshot_read(&walk->stack,
			     walk->at.regs.fp + (uint64_t)((int64_t)slot * WORD_BYTES), ret);
}

enum step hotspot_leave_unwound(struct walk *walk, uint64_t words_behind)
{
	uint64_t addr;

	for (uint64_t i = 0; i < UNWOUND_MAX_WORDS; i++) {
		const uint64_t at = walk->at.regs.sp + i * WORD_BYTES;

		if (!snapshot_read(&walk->stack, at, &addr))
			return STEP_END;
		if (!step_is_code(walk, addr))
			continue;
		walk->at.regs = (struct unwind_regs){.pc = addr,
						     .sp = at + (1 + words_behind) * WORD_BYTES,
						     .fp = walk->at.regs.fp};
		return STEP_DONE;
	}
	return STEP_NO_RULE;
}

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

enum step step_barrier(struct walk *walk)
{
	if (walk->spent.barriers++ >= STEP_MAX_BARRIERS)
		return STEP_NO_RULE;
	walk->at.regs.pc = mounting_pc(walk);
	walk->at.regs.leaf = NULL;
	return walk->at.regs.pc ? STEP_DONE : STEP_NO_RULE;
}

enum step step_hotspot(struct walk *walk, const struct code_range *range, struct stack_entry *entry)
{
	if (range->kind != CODE_STUB)
		return step_compiled(walk, range);
	if (range->name && strcmp(range->name, "Interpreter") == 0)
		return step_interpreted(walk, entry);
	return step_stub(walk, range);
}
