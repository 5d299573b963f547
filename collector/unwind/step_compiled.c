// SPDX-License-Identifier: Apache-2.0
/*
 * Leaves frames of compiled code, see step_hotspot.h.
 *
 * A caller is at a call, so its frame is whole; but code that has used the stack's reserved zone
 * calls the VM when the frame is gone. A leaf may be at any instruction. The leaf's code says how
 * much of its frame there is. The answer is checked for two reasons. Intrinsics and stubs
 * of the garbage collector put words on top of the frame. And other code may have taken the place
 * of the sampled code. Only a caller that lies in code is believed.
 *
 * When an assumption of compiled code has failed, HotSpot leaves the code's frames on the stack
 * until they are returned to. In the place of each such frame's return address HotSpot puts the
 * address of the deoptimization handler behind the code (frame::deoptimize). The handler is in no
 * inlined method, so it does not say which ones the frame has. HotSpot keeps the return address
 * that was there in a slot of the frame. Where in the frame that slot lies, only the nmethod says.
 *
 * The address is one of the frame's words in any case. If all of the frame's words that lie in the
 * code are equal, it is that word. Else it is the only one that lies behind a call: a frame that
 * was not stopped at a safepoint poll was left by a call. Other frames' words may be left over, and
 * where these lie behind calls too, nothing is believed.
 */
#include "unwind/step_hotspot.h"

#include "code/inline_table.h"
#include "decode/spill.h"

#define LEVEL_C2 4

/* Two copies of 16 bytes, three words, and the stack pointer. */
#define SEARCH_MAX_BYTES 64

/* Different words of one frame that lie in its code. */
#define WORDS_MAX_FOUND 16

/*
 * Whether addr can be a return address of compiled code: only generated code calls compiled code.
 */
static bool may_call_compiled(struct walk *walk, uint64_t addr)
{
	const struct process *process = walk->process;
	const struct mapping *mapping;

	if (addr == 0 || step_code_at(walk, addr - 1))
		return addr != 0;
	mapping = address_space_find(&process->space, addr - 1);
	return mapping && mapping_is_generated(mapping);
}

/*
 * Whether the frame pointer points where it does in a whole frame of compiled code that keeps a
 * frame pointer.
 */
static bool is_framed(const struct unwind_regs *regs, uint32_t size)
{
	return regs->fp == regs->sp + size - 2 * WORD_BYTES;
}

/* Whether a whole frame at sp is left for code whose own frame leads to code, too. */
static bool is_left_well(struct walk *walk, uint64_t sp, uint32_t size)
{
	walk->at.regs.sp = sp;
	return step_leave(walk, ARCH_FRAME_FULL, size) == STEP_DONE &&
	       may_call_compiled(walk, walk->at.regs.pc) &&
	       hotspot_leads_on(walk, walk->at.regs.pc, walk->at.regs.sp);
}

/*
 * Leaves a frame during C2's search for a string in another string. The search puts copies and
 * lengths on top of the frame, and on top of these the stack pointer that the frame had. Other code
 * may have left an address of the stack in that place.
 */
static bool leave_search(struct walk *walk, const struct code_range *range)
{
	const uint32_t size = range->frame.size;
	const struct unwind_regs before = walk->at.regs;
	bool is_search;
	uint64_t sp;

	if ((range->level != LEVEL_C2 && range->level != CODE_LEVEL_UNKNOWN) ||
	    is_framed(&before, size) || !snapshot_read(&walk->stack, before.sp, &sp) ||
	    sp % HOTSPOT_STACK_ALIGN_BYTES != 0 || sp <= before.sp ||
	    sp - before.sp > SEARCH_MAX_BYTES)
		return false;
	is_search = !is_left_well(walk, before.sp, size);
	walk->at.regs = before;
	if (is_search && is_left_well(walk, sp, size))
		return true;
	walk->at.regs = before;
	return false;
}

/* Reads the code from the pc on, as many bytes as spill_bytes decodes. */
static bool read_spill_code(struct walk *walk, const struct code_range *range, uint8_t *code,
			    size_t *ret_len)
{
	const uint64_t pc = walk->at.regs.pc, left = range->addr + range->size - pc;
	const size_t len = left < SPILL_CODE_BYTES ? left : SPILL_CODE_BYTES;
	const struct iovec to = {.iov_base = code, .iov_len = len};
	const struct iovec from = {.iov_base = (void *)(uintptr_t)pc, .iov_len = len};

	*ret_len = len;
	return pc - range->addr < range->size && step_read(walk, &to, &from, 1);
}

/*
 * Leaves a frame whose registers a stub has saved on top of the frame, to call the garbage
 * collector. The stub lies behind the method's code. What the stub takes back says how many bytes
 * it has saved.
 */
static bool leave_spilled(struct walk *walk, const struct code_range *range)
{
	const struct unwind_regs before = walk->at.regs;
	uint8_t code[SPILL_CODE_BYTES];
	uint32_t bytes;
	size_t len;

	if (!walk->arch->spill_bytes || !read_spill_code(walk, range, code, &len) ||
	    !walk->arch->spill_bytes(code, len, &bytes))
		return false;
	if (is_left_well(walk, before.sp + bytes, range->frame.size))
		return true;
	walk->at.regs = before;
	return false;
}

/*
 * Whether a way out of a leaf's frame that its code did not ask for leads to a caller. Interpreted
 * methods return to no call, and compiled ones behind one.
 */
static bool may_have_called(struct walk *walk, uint64_t addr)
{
	return may_call_compiled(walk, addr) &&
	       (!hotspot_find_compiled(walk, addr) || step_is_behind_call(walk, addr));
}

/*
 * Leaves a leaf by the first way that leads to code. Some of C2's intrinsics push a word or two and
 * pop them at their end. And the code that was read may have taken the place of the sampled code.
 */
static bool leave_leaf_somehow(struct walk *walk, enum arch_frame frame, uint32_t size)
{
	const struct {
		enum arch_frame frame;
		unsigned int pushed;
	} ways[] = {{frame, 0},		  {ARCH_FRAME_FULL, 0}, {ARCH_FRAME_FULL, 1},
		    {ARCH_FRAME_FULL, 2}, {ARCH_FRAME_NONE, 0}, {ARCH_FRAME_PUSHED, 0}};
	const struct unwind_regs before = walk->at.regs;

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		walk->at.regs.sp = before.sp + (uint64_t)ways[i].pushed * WORD_BYTES;
		if (step_leave(walk, ways[i].frame, size) == STEP_DONE &&
		    (i == 0 ? may_call_compiled(walk, walk->at.regs.pc)
			    : may_have_called(walk, walk->at.regs.pc)))
			return true;
		walk->at.regs = before;
	}
	return false;
}

static enum step leave_leaf(struct walk *walk, const struct code_range *range)
{
	const uint32_t size = range->frame.size;
	enum arch_frame frame = ARCH_FRAME_FULL;

	hotspot_read_frame(walk, range, &frame);
	/*
	 * Glue code of method handles has no frame: the glue looks for its target, and jumps there.
	 */
	if (size < 2 * WORD_BYTES && (frame == ARCH_FRAME_FULL || frame == ARCH_FRAME_FP_LIVE))
		frame = ARCH_FRAME_NONE;
	if (frame == ARCH_FRAME_FULL && leave_search(walk, range))
		return STEP_DONE;
	if (leave_leaf_somehow(walk, frame, size))
		return STEP_DONE;
	if (size >= 2 * WORD_BYTES && leave_spilled(walk, range))
		return STEP_DONE;
	return step_leave(walk, frame, size);
}

struct found {
	uint64_t words[WORDS_MAX_FOUND];
	uint32_t n;
};

/* False: there are more than can be held. */
static bool add_word(struct found *found, uint64_t word)
{
	for (uint32_t i = 0; i < found->n; i++) {
		if (found->words[i] == word)
			return true;
	}
	if (found->n == WORDS_MAX_FOUND)
		return false;
	found->words[found->n++] = word;
	return true;
}

/* Finds the words of the frame that lie in the code, in front of the handlers. */
static bool find_words(const struct walk *walk, const struct code_range *range, struct found *ret)
{
	const uint64_t sp = walk->at.regs.sp, end = inline_table_end(range->inlines);
	uint64_t word;

	for (uint64_t at = sp; at < sp + range->frame.size - WORD_BYTES; at += WORD_BYTES) {
		if (!snapshot_read(&walk->stack, at, &word))
			return false;
		if (word > range->addr && word - range->addr <= end && !add_word(ret, word))
			return false;
	}
	return ret->n > 0;
}

/* Keeps the words that lie behind a call. */
static void keep_calls(struct walk *walk, struct found *found)
{
	const uint32_t n = found->n;

	found->n = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (step_is_behind_call(walk, found->words[i]))
			found->words[found->n++] = found->words[i];
	}
}

static bool is_deoptimized(struct walk *walk, const struct code_range *range)
{
	struct leaf_form form;

	return range->kind != CODE_NATIVE_WRAPPER && range->inlines &&
	       range->frame.size >= 2 * WORD_BYTES &&
	       walk->at.regs.pc - range->addr > inline_table_end(range->inlines) &&
	       hotspot_read_form(walk, range, &form) && form.is_deopt_handler;
}

/* Puts into entry where a caller's frame had been left before its code was invalidated. */
static void find_deoptimized(struct walk *walk, const struct code_range *range,
			     struct stack_entry *entry)
{
	struct found found = {0};

	if (!is_deoptimized(walk, range))
		return;
	entry->lacks_inlined = true;
	if (!find_words(walk, range, &found))
		return;
	if (found.n > 1)
		keep_calls(walk, &found);
	if (found.n != 1)
		return;
	entry->addr = found.words[0];
	entry->lacks_inlined = false;
}

/* How much of the frame there is around a call. */
static enum arch_frame calling_frame(struct walk *walk, const struct code_range *range)
{
	enum arch_frame frame = ARCH_FRAME_FULL;

	if (walk->at.is_called_file)
		hotspot_read_frame(walk, range, &frame);
	return frame;
}

static enum step leave_caller(struct walk *walk, const struct code_range *range)
{
	const struct unwind_regs before = walk->at.regs;
	const uint32_t size = range->frame.size;
	struct unwind_regs after;
	enum step step;

	if (size < 2 * WORD_BYTES) {
		walk->notes.is_left_by_fp = true;
		return step_by_fp(walk);
	}
	step = step_leave(walk, calling_frame(walk, range), size);
	if (step != STEP_DONE || may_call_compiled(walk, walk->at.regs.pc))
		return step;
	after = walk->at.regs;
	walk->at.regs = before;
	if (!leave_spilled(walk, range))
		walk->at.regs = after;
	return STEP_DONE;
}

enum step step_compiled(struct walk *walk, const struct code_range *range,
			struct stack_entry *entry)
{
	if (!walk->at.is_return)
		return leave_leaf(walk, range);
	find_deoptimized(walk, range, entry);
	return leave_caller(walk, range);
}
