// SPDX-License-Identifier: Apache-2.0
/*
 * Chooses how a frame of HotSpot's generated code is left, see step.h. Has what the steps out of
 * compiled code, interpreted code and stubs share, see step_hotspot.h.
 */
#include "unwind/step_hotspot.h"

#include "code/code_map.h"

/* Words in which the return address is sought: an exception may lie there twice, and alignment. */
#define UNWOUND_MAX_WORDS 4

bool hotspot_is_interpreter(const struct code_range *range)
{
	return range->kind == CODE_STUB && range->name && strcmp(range->name, "Interpreter") == 0;
}

/* What the code's bytes say of the frame at the pc. */
static struct leaf_form form_of(const struct walk *walk, const struct code_range *range,
				const struct arch_code *code)
{
	const struct arch *const arch = walk->arch;
	struct leaf_form form = {.frame = ARCH_FRAME_BY_FP};

	if (hotspot_is_interpreter(range) && arch->interpreted_left &&
	    arch->interpreted_left(code, &form.left))
		form.frame = ARCH_FRAME_LEFT;
	else if (range->kind != CODE_STUB)
		form = (struct leaf_form){.frame = walk->at.is_return ? arch->calling_frame(code)
								      : arch->compiled_frame(code),
					  .is_deopt_handler = walk->at.is_return &&
							      arch->is_deopt_handler(code)};
	else if (!hotspot_is_interpreter(range))
		form.frame = arch->stub_frame(code);
	return form;
}

bool hotspot_read_form(struct walk *walk, const struct code_range *range, struct leaf_form *ret)
{
	/* The cache has leaves at their pcs, and callers at the last byte of their calls. */
	const uint64_t key = walk->at.regs.pc - (walk->at.is_return ? 1 : 0);
	const pid_t pid = walk->process->pid;
	struct step_code bytes;
	struct arch_code code;

	if (leaf_cache_find(walk->leaves, pid, range, key, ret))
		return true;
	if (!step_read_code(walk, range, &bytes, &code)) {
		*ret = (struct leaf_form){.frame = !walk->at.is_return &&
								   code.pc_offset < code.complete
							   ? ARCH_FRAME_NONE
							   : ARCH_FRAME_FULL};
		return false;
	}
	*ret = form_of(walk, range, &code);
	leaf_cache_put(walk->leaves, pid, range, key, ret);
	return true;
}

bool hotspot_read_frame(struct walk *walk, const struct code_range *range, enum arch_frame *ret)
{
	struct leaf_form form;
	const bool is_read = hotspot_read_form(walk, range, &form);

	*ret = form.frame;
	return is_read;
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
		/* Nothing but generated code calls what an exception leaves. */
		if (addr == 0 || !step_code_at(walk, addr - 1))
			continue;
		walk->at.regs = (struct unwind_regs){.pc = addr,
						     .sp = at + (1 + words_behind) * WORD_BYTES,
						     .fp = walk->at.regs.fp};
		return STEP_DONE;
	}
	return STEP_NO_RULE;
}

enum step step_hotspot(struct walk *walk, const struct code_range *range, struct stack_entry *entry)
{
	if (range->kind != CODE_STUB)
		return step_compiled(walk, range, entry);
	if (hotspot_is_interpreter(range))
		return step_interpreted(walk, range, entry);
	return step_stub(walk, range);
}
