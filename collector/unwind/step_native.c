// SPDX-License-Identifier: Apache-2.0
/* Leaves native frames by their file's unwind table, see step.h. */
#include "unwind/step.h"

#include "elf/cfi_table.h"

#define PLT_SLOT_BYTES 16
#define LEAF_MAX_WORDS 2  /* a word, and the return address */
#define NEWBORN_BYTES  16 /* distance from a system call's return to the rules for a new thread */

struct rule {
	const struct cfi_table *table;
	const struct cfi_row *row;
	uint64_t elf_addr;
};

/* The canonical frame address: what the stack pointer was before the call. */
static bool find_cfa(const struct walk *walk, const struct cfi_row *row, uint64_t *ret)
{
	uint64_t base;

	if (row->kind == CFI_PLT) {
		const bool is_late = walk->at.regs.pc % PLT_SLOT_BYTES >= (uint64_t)row->cfa_off;

		*ret = walk->at.regs.sp + WORD_BYTES + (is_late ? WORD_BYTES : 0);
		return true;
	}
	if (!walk->arch->dwarf_reg(&walk->at.regs, row->cfa_reg, &base))
		return false;
	*ret = base + (uint64_t)(int64_t)row->cfa_off;
	if (row->kind == CFI_DEREF) {
		if (!snapshot_read(&walk->stack, *ret, ret))
			return false;
		*ret += (uint64_t)(int64_t)row->cfa_add;
	}
	return true;
}

/* The base of offsets: the canonical frame address, or a register of this frame. */
static uint64_t base_of(const struct walk *walk, const struct cfi_row *row, uint64_t cfa,
			bool is_at_reg)
{
	uint64_t base = 0; /* for an unknown register: nothing is read there */

	if (!is_at_reg)
		return cfa;
	walk->arch->dwarf_reg(&walk->at.regs, row->save_reg, &base);
	return base;
}

/*
 * Reads a saved register. At the end of a function the rules still give the place of a register
 * that has been popped. The place then lies below the stack pointer, and *ret is right already.
 */
static bool read_saved(const struct walk *walk, uint64_t base, int32_t off, uint64_t *ret)
{
	if (base + (uint64_t)(int64_t)off < walk->at.regs.sp)
		return true;
	return snapshot_read(&walk->stack, base + (uint64_t)(int64_t)off, ret);
}

/*
 * Finds the caller's rbx. Code that binds lazily keeps its CFA in rbx while it calls other
 * functions of its file, whose rules know where rbx is. A frame of another file loses rbx.
 */
static void find_rbx(const struct walk *walk, const struct rule *rule, struct unwind_regs *next)
{
	const int32_t off = cfi_table_rbx_off(rule->table, rule->row);
	const uint64_t place = next->sp + (uint64_t)(int64_t)off;

	if (off == CFI_UNKNOWN)
		return;
	if (off == CFI_SAME || place < walk->at.regs.sp)
		next->has_rbx = walk->arch->dwarf_reg(&walk->at.regs, CFI_REG_RBX, &next->rbx);
	else
		next->has_rbx = snapshot_read(&walk->stack, place, &next->rbx);
}

static enum step leave_by_rule(struct walk *walk, const struct rule *rule)
{
	const struct cfi_row *row = rule->row;
	struct unwind_regs next = {.fp = walk->at.regs.fp, .pc = walk->at.regs.link};
	uint64_t cfa;

	if (!find_cfa(walk, row, &cfa))
		return STEP_NO_RULE;
	next.sp = cfa;
	if (row->ra_off != CFI_SAME &&
	    !read_saved(walk, base_of(walk, row, cfa, row->ra_is_at_reg), row->ra_off, &next.pc))
		return STEP_END;
	if (row->fp_off != CFI_SAME &&
	    !read_saved(walk, base_of(walk, row, cfa, row->fp_is_at_reg), row->fp_off, &next.fp))
		return STEP_END;
	next.pc = walk->arch->strip(next.pc);
	find_rbx(walk, rule, &next);
	walk->at.regs = next;
	return row->is_signal ? STEP_INTERRUPT : STEP_DONE;
}

/* Whether the file says nothing of the code. */
static bool is_without_rule(const struct cfi_row *row)
{
	return !row || row->kind == CFI_NONE || row->is_decoded;
}

/*
 * The row that begins at a return address, NULL if none does: a call in front of the address is
 * then the last instruction of other code, or nothing called what begins there.
 */
static const struct cfi_row *row_from(const struct cfi_table *table, uint64_t elf_pc)
{
	const struct cfi_row *const row = cfi_table_find(table, elf_pc);
	uint64_t start, end;

	if (!row)
		return NULL;
	cfi_table_span(table, row, &start, &end);
	return start == elf_pc ? row : NULL;
}

/*
 * The row of the code of a frame. The code to which a signal's handler returns was not called, and
 * nor was the code to which the function of makecontext(3) returns: the return address is its first
 * byte.
 */
static const struct cfi_row *find_row(struct walk *walk, const struct cfi_table *table,
				      uint64_t elf_addr)
{
	const struct cfi_row *const row = walk->at.is_return ? row_from(table, elf_addr + 1) : NULL;

	if (row && row->is_decoded && row->is_signal)
		return row;
	if (!row || is_without_rule(row) || step_is_behind_call(walk, walk->at.regs.pc))
		return cfi_table_find(table, elf_addr);
	walk->at.is_return = false;
	return row;
}

/* The table of the mapping's file, and the row of the frame's code. False: nothing is known. */
static bool find_rule(struct walk *walk, const struct mapping *mapping, struct rule *ret)
{
	const uint64_t probe = step_probe(walk);
	const char *reason = NULL;

	*ret = (struct rule){0};
	ret->table = cfi_cache_find(walk->tables, walk->process->pid, mapping, &reason);
	if (!ret->table || cfi_table_addr_of(ret->table, probe - mapping->start + mapping->file_off,
					     &ret->elf_addr) != 0)
		return false;
	ret->row = find_row(walk, ret->table, ret->elf_addr);
	return true;
}

/* Whether the address is where handlers of signals return to, which they were not called from. */
static bool returns_from_signal(struct walk *walk, uint64_t addr)
{
	const struct walk_position position = walk->at;
	const struct mapping *const mapping = address_space_find(&walk->process->space, addr);
	struct rule rule;
	bool is_signal;

	if (!mapping || mapping->inode == 0)
		return false;
	walk->at.regs.pc = addr;
	walk->at.is_return = true;
	walk->at.is_behind = false;
	is_signal = find_rule(walk, mapping, &rule) && rule.row && rule.row->is_signal;
	walk->at = position;
	return is_signal;
}

/*
 * The frame pointer may be used for something else, and then lead to any word. One that is no
 * address of code ends the stack by itself.
 */
static enum step leave_by_fp(struct walk *walk)
{
	const struct unwind_regs before = walk->at.regs;
	const enum step step = step_by_fp(walk);

	if (step != STEP_DONE || !step_is_code(walk, walk->at.regs.pc) ||
	    step_is_behind_call(walk, walk->at.regs.pc) ||
	    returns_from_signal(walk, walk->at.regs.pc))
		return step;
	walk->at.regs = before;
	return STEP_NO_RULE;
}

/*
 * Leaves functions written in assembler. A leaf of this kind hardly ever has a frame. A file's
 * _init and _fini have a frame of one word.
 */
static enum step step_without_rule(struct walk *walk)
{
	const struct unwind_regs before = walk->at.regs;

	for (unsigned int words = 0; !walk->at.is_return && words < LEAF_MAX_WORDS; words++) {
		walk->at.regs.sp = before.sp + words * WORD_BYTES;
		if (step_leave(walk, ARCH_FRAME_NONE, 0) == STEP_DONE &&
		    step_is_behind_call(walk, walk->at.regs.pc))
			return STEP_DONE;
		walk->at.regs = before;
	}
	return leave_by_fp(walk);
}

/*
 * Leaves a frame by a rule that was found in the code itself. Such a rule may be wrong, and code
 * without rules keeps no frame pointer: so the rule is believed if it leads behind a call.
 */
static enum step leave_by_code(struct walk *walk, const struct rule *rule)
{
	const struct unwind_regs before = walk->at.regs;
	const enum step step = leave_by_rule(walk, rule);

	if (step == STEP_END || step == STEP_NO_RULE)
		return step;
	if (step == STEP_INTERRUPT || step_is_behind_call(walk, walk->at.regs.pc))
		return step;
	walk->at.regs = before;
	return step_without_rule(walk);
}

/* Leaves a leaf that goes straight on to its return, by what it pops on its way. */
static bool leave_epilogue(struct walk *walk)
{
	uint8_t code[EPILOGUE_CODE_BYTES];
	const struct iovec to = {.iov_base = code, .iov_len = sizeof(code)};
	const struct iovec from = {.iov_base = (void *)(uintptr_t)walk->at.regs.pc,
				   .iov_len = sizeof(code)};
	struct unwind_regs next = {.fp = walk->at.regs.fp};
	const uint64_t sp = walk->at.regs.sp;
	struct epilogue end;

	if (!walk->arch->epilogue_find || !step_read(walk, &to, &from, 1) ||
	    !walk->arch->epilogue_find(code, sizeof(code), &end) ||
	    !snapshot_read(&walk->stack, sp + end.ret_off, &next.pc) ||
	    (end.fp_off >= 0 &&
	     !snapshot_read(&walk->stack, sp + (uint32_t)end.fp_off, &next.fp)) ||
	    !step_is_behind_call(walk, next.pc))
		return false;
	next.sp = sp + end.ret_off + WORD_BYTES;
	walk->at.regs = next;
	return true;
}

/*
 * Leaves a frame by the file's rule. Compilers may leave out the rules of functions' ends, where
 * nothing is called and no exception comes from (-fno-asynchronous-unwind-tables): a sample there
 * is led past its caller.
 */
static enum step leave_by_table(struct walk *walk, const struct rule *rule)
{
	const struct unwind_regs before = walk->at.regs;
	const enum step step = leave_by_rule(walk, rule);
	const struct unwind_regs after = walk->at.regs;

	if (step != STEP_DONE || !before.leaf || walk->at.is_behind ||
	    step_is_behind_call(walk, after.pc))
		return step;
	walk->at.regs = before;
	if (!leave_epilogue(walk))
		walk->at.regs = after;
	return STEP_DONE;
}

/*
 * Whether the thread was made a moment ago: between the system call, which returned 0 to the
 * thread, and the place where the rules for the thread begin. The thread that made it passes the
 * same place, and goes on by the return address on top of the stack. elf_addr: the pc's.
 */
static bool is_newborn(const struct walk *walk, const struct cfi_table *table, uint64_t elf_addr)
{
	const struct cfi_row *row = cfi_table_find(table, elf_addr);
	uint64_t result;

	if (!is_without_rule(row))
		return false;
	if (walk->at.is_return || !walk->arch->dwarf_reg(&walk->at.regs, 0, &result) || result != 0)
		return false;
	if (row && row->is_newborn)
		return true;
	row = cfi_table_find(table, elf_addr + NEWBORN_BYTES);
	return row && row->is_root && !row->is_decoded;
}

static bool is_at_sp(const struct cfi_row *row, int32_t cfa_off)
{
	return row && !row->is_decoded && row->kind == CFI_REG && row->cfa_reg == CFI_REG_RSP &&
	       row->cfa_off == cfa_off;
}

/*
 * Whether the instruction in front of the pc is a function's first one and pushes a word, so that
 * the rules at the pc are those of a word more. The word on top of the stack is the return address
 * if the instruction has not been executed, and else a register's value.
 */
static bool is_behind_push(const struct rule *before, const struct rule *at)
{
	return is_at_sp(before->row, WORD_BYTES) && is_at_sp(at->row, 2 * WORD_BYTES);
}

/*
 * The breakpoint itself may be gone by now: probes of a thread that hits them too often are paused.
 * And the byte of one that is there may be padding in front of a function, which has no rules. So
 * the instruction in its place has to have rules, and these have to lead behind a call.
 */
bool step_is_at_breakpoint(struct walk *walk)
{
	const struct walk_position position = walk->at;
	const struct mapping *mapping;
	struct rule before, at;
	bool leads_to_caller = false;

	if (walk->at.is_return || !walk->is_in_kernel || !walk->at.regs.leaf ||
	    !walk->arch->ends_with_breakpoint)
		return false;
	mapping = address_space_find(&walk->process->space, position.regs.pc - 1);
	if (!mapping || mapping->inode == 0)
		return false;
	find_rule(walk, mapping, &at);
	walk->at.is_behind = true;
	if (find_rule(walk, mapping, &before) && !is_without_rule(before.row) &&
	    (is_behind_push(&before, &at) || step_is_behind_breakpoint(walk)))
		leads_to_caller = leave_by_rule(walk, &before) == STEP_DONE &&
				  walk->at.regs.sp > position.regs.sp &&
				  step_is_behind_call(walk, walk->at.regs.pc);
	walk->at = position;
	return leads_to_caller;
}

enum step step_native(struct walk *walk, const struct mapping *mapping)
{
	const uint64_t probe = step_probe(walk);
	struct rule rule;
	bool is_root = false;

	file_watch_tell(walk->watch, TABLE_UNWIND, walk->process->pid, mapping, probe);
	if (find_rule(walk, mapping, &rule))
		is_root = (rule.row && rule.row->is_root) ||
			  is_newborn(walk, rule.table, rule.elf_addr + (walk->at.regs.pc - probe));
	if (is_root)
		return STEP_ROOT;
	if (!rule.row || rule.row->kind == CFI_NONE)
		return step_without_rule(walk);
	return rule.row->is_decoded ? leave_by_code(walk, &rule) : leave_by_table(walk, &rule);
}
