// SPDX-License-Identifier: Apache-2.0
/*
 * Leaves frames of HotSpot's generated code, see step.h.
 *
 * Compiled code has a frame of fixed size, whole from a known offset on; before it, and where it is
 * taken down, the code itself says how much of it there is. Interpreted frames and the call stub
 * keep a frame pointer. Most other stubs have no frame of their own, or one of fixed size.
 */
#include "unwind/step.h"

#include "code/code_map.h"
#include "memory/process_memory.h"
#include "unwind/spill.h"

#include <string.h>

/* The largest frame of a stub: those that hash keep their schedule on the stack. */
#define STUB_MAX_WORDS 512

/* An exception, twice, and what aligns the stack. */
#define UNWINDING_MAX_WORDS 4

#define SUBTYPE_CHECK_WORDS 2

/* No interpreted frame is larger: a method has 65,535 locals and stack slots at most. */
#define INTERPRETED_MAX_BYTES (1u << 20)

/* A method has 255 words of arguments at most. */
#define ADAPTER_MAX_BYTES 4096

/* Registers that an adapter saves, vectors too; and how far above one the return address is. */
#define SAVED_MAX_WORDS	  512
#define SAVED_ABOVE_WORDS 6

/* The same where they lie in a frame: 32 of them of 16 bytes. */
#define ADAPTER_FRAME_MAX_BYTES 1024

/* Between the stack pointer and the return address of what asks the processor, that included. */
#define ASKING_MAX_WORDS 8

/* Of compiled code's frames. */
#define STACK_ALIGN_BYTES 16

#define LEVEL_C2 4

/* Two copies of 16 bytes, three words, and the stack pointer. */
#define SEARCH_MAX_BYTES 64

static uint32_t least_of(uint64_t a, uint64_t b)
{
	return (uint32_t)(a < b ? a : b);
}

/* All of it, or it does not count. */
static bool read_process(struct walk *walk, const struct iovec *to, const struct iovec *from,
			 unsigned long n)
{
	size_t wanted = 0;

	if (walk->reads == STEP_MAX_READS)
		return false;
	walk->reads++;
	for (unsigned long i = 0; i < n; i++)
		wanted += to[i].iov_len;
	return process_memory_read(walk->process->pid, to, from, n) == (ssize_t)wanted;
}

bool step_read_code(struct walk *walk, const struct code_range *range, struct step_code *bytes,
		    struct arch_code *ret)
{
	const uint64_t end = range->addr + range->size, pc = walk->regs.pc;
	const uint64_t entry =
		range->addr + (range->frame.entry < range->size ? range->frame.entry : 0);
	const uint64_t start = pc < entry ? range->addr : entry;
	const struct iovec to[] = {
		{.iov_base = bytes->entry, .iov_len = least_of(STEP_ENTRY_BYTES, end - start)},
		{.iov_base = bytes->at, .iov_len = least_of(STEP_AT_BYTES, end - pc)},
	};
	const struct iovec from[] = {
		{.iov_base = (void *)(uintptr_t)start, .iov_len = to[0].iov_len},
		{.iov_base = (void *)(uintptr_t)pc, .iov_len = to[1].iov_len},
	};
	const uint32_t complete = range->addr + range->frame.complete > start
					  ? (uint32_t)(range->addr + range->frame.complete - start)
					  : 0;

	*ret = (struct arch_code){.pc_offset = (uint32_t)(pc - start), .complete = complete};
	if (!read_process(walk, to, from, 2)) {
		walk->is_code_unread = true;
		return false;
	}
	ret->entry = bytes->entry;
	ret->entry_len = to[0].iov_len;
	/* A prologue is looked for no further than it can reach. */
	if (complete > 0 && complete < ret->entry_len)
		ret->entry_len = complete;
	ret->at = bytes->at;
	ret->at_len = to[1].iov_len;
	return true;
}

static enum step leave(struct walk *walk, enum arch_frame frame, uint32_t size)
{
	return arch_leave(walk->arch, frame, size, &walk->stack, &walk->regs) ? STEP_DONE
									      : STEP_END;
}

/* Where compiled code returns to, which is called by generated code alone, no file's. */
static bool may_call_compiled(struct walk *walk, uint64_t addr)
{
	const struct process *process = walk->process;
	const struct mapping *mapping;

	if (addr == 0 || step_code_at(walk, addr - 1))
		return addr != 0;
	mapping = address_space_find(&process->space, addr - 1);
	return mapping && mapping_is_generated(mapping);
}

/* The compiled code, of known frame, that is returned to there; NULL if that is none. */
static const struct code_range *find_compiled(const struct walk *walk, uint64_t return_addr)
{
	const struct code_range *range =
		code_map_find(walk->process->code, return_addr - 1, walk->time_ns);
	const bool is_compiled = range && range->kind != CODE_STUB;

	return is_compiled && range->frame.size >= 2 * WORD_BYTES ? range : NULL;
}

/* Whether a frame of compiled code that has its stack pointer there returns to code; others may. */
static bool leads_on(const struct walk *walk, uint64_t pc, uint64_t sp)
{
	const struct code_range *range = find_compiled(walk, pc);
	uint64_t addr;

	if (!range)
		return true;
	return snapshot_read(&walk->stack, sp + range->frame.size - WORD_BYTES, &addr) &&
	       step_is_code(walk, addr);
}

/* Whether the frame pointer is where compiled code that keeps one has it, in a whole frame. */
static bool is_framed(const struct unwind_regs *regs, uint32_t size)
{
	return regs->fp == regs->sp + size - 2 * WORD_BYTES;
}

/* Whether a whole frame there is left for code whose frame is left for code, too. */
static bool is_left_well(struct walk *walk, uint64_t sp, uint32_t size)
{
	walk->regs.sp = sp;
	return leave(walk, ARCH_FRAME_FULL, size) == STEP_DONE &&
	       may_call_compiled(walk, walk->regs.pc) &&
	       leads_on(walk, walk->regs.pc, walk->regs.sp);
}

/*
 * C2's search for a string in another puts copies and lengths on the stack, and where its frame has
 * the stack pointer on top of that. Other code may have left an address of the stack there.
 */
static bool leave_search(struct walk *walk, const struct code_range *range)
{
	const uint32_t size = range->frame.size;
	const struct unwind_regs before = walk->regs;
	bool is_search;
	uint64_t sp;

	if ((range->level != LEVEL_C2 && range->level != CODE_LEVEL_UNKNOWN) ||
	    is_framed(&before, size) || !snapshot_read(&walk->stack, before.sp, &sp) ||
	    sp % STACK_ALIGN_BYTES != 0 || sp <= before.sp || sp - before.sp > SEARCH_MAX_BYTES)
		return false;
	is_search = !is_left_well(walk, before.sp, size);
	walk->regs = before;
	if (is_search && is_left_well(walk, sp, size))
		return true;
	walk->regs = before;
	return false;
}

/*
 * A stub behind the code has saved registers on top of the frame, to ask the collector of garbage;
 * what it takes back says how much that is.
 */
static bool leave_spilled(struct walk *walk, const struct code_range *range)
{
	const struct unwind_regs before = walk->regs;
	uint8_t code[SPILL_CODE_BYTES];
	const struct iovec to = {
		.iov_base = code,
		.iov_len = least_of(sizeof(code), range->addr + range->size - before.pc)};
	const struct iovec from = {.iov_base = (void *)(uintptr_t)before.pc, .iov_len = to.iov_len};
	uint32_t bytes;

	if (!walk->arch->spill_bytes || before.pc - range->addr >= range->size ||
	    !read_process(walk, &to, &from, 1) ||
	    !walk->arch->spill_bytes(code, to.iov_len, &bytes))
		return false;
	if (is_left_well(walk, before.sp + bytes, range->frame.size))
		return true;
	walk->regs = before;
	return false;
}

/*
 * The first way that leads to code. Some of C2's intrinsics push a word or two and pop them at
 * their end; and the code that was looked at may have taken the place of the one that was sampled.
 */
static enum step leave_leaf(struct walk *walk, const struct code_range *range,
			    enum arch_frame frame)
{
	const uint32_t size = range->frame.size;
	const struct {
		enum arch_frame frame;
		unsigned int pushed;
	} ways[] = {{frame, 0},		  {ARCH_FRAME_FULL, 0}, {ARCH_FRAME_FULL, 1},
		    {ARCH_FRAME_FULL, 2}, {ARCH_FRAME_NONE, 0}, {ARCH_FRAME_PUSHED, 0}};
	const struct unwind_regs before = walk->regs;

	if (frame == ARCH_FRAME_FULL && leave_search(walk, range))
		return STEP_DONE;
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		walk->regs.sp = before.sp + (uint64_t)ways[i].pushed * WORD_BYTES;
		if (leave(walk, ways[i].frame, size) == STEP_DONE &&
		    may_call_compiled(walk, walk->regs.pc))
			return STEP_DONE;
		walk->regs = before;
	}
	if (size >= 2 * WORD_BYTES && leave_spilled(walk, range))
		return STEP_DONE;
	return leave(walk, frame, size);
}

static enum step leave_caller(struct walk *walk, const struct code_range *range)
{
	const struct unwind_regs before = walk->regs;
	const uint32_t size = range->frame.size;
	struct unwind_regs after;
	enum step step;

	if (size < 2 * WORD_BYTES)
		return step_by_fp(walk);
	step = leave(walk, ARCH_FRAME_FULL, size);
	if (step != STEP_DONE || may_call_compiled(walk, walk->regs.pc))
		return step;
	after = walk->regs;
	walk->regs = before;
	if (!leave_spilled(walk, range))
		walk->regs = after;
	return STEP_DONE;
}

/*
 * What the code itself says of a leaf's frame; false if that cannot be told, and *ret is a guess.
 */
static bool look_at_code(struct walk *walk, const struct code_range *range, enum arch_frame *ret)
{
	const pid_t pid = walk->process->pid;
	const uint64_t pc = walk->regs.pc;
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

static enum step leave_compiled(struct walk *walk, const struct code_range *range)
{
	const uint32_t size = range->frame.size;
	enum arch_frame frame = ARCH_FRAME_FULL;

	if (walk->is_return)
		return leave_caller(walk, range);
	look_at_code(walk, range, &frame);
	/* Method handles' glue has no frame: it looks for its target, and jumps there. */
	if (size < 2 * WORD_BYTES && (frame == ARCH_FRAME_FULL || frame == ARCH_FRAME_FP_LIVE))
		frame = ARCH_FRAME_NONE;
	return leave_leaf(walk, range, frame);
}

/* False for what has not been pushed yet: the frame is made word by word. */
static bool read_slot(const struct walk *walk, int slot, uint64_t *ret)
{
	if (slot < 0 && walk->regs.fp - walk->regs.sp < (uint64_t)-slot * WORD_BYTES)
		return false;
	return snapshot_read(&walk->stack, walk->regs.fp + (uint64_t)((int64_t)slot * WORD_BYTES),
			     ret);
}

/*
 * Whether a method that is being entered has the frame pointer already, which lies below the
 * caller's stack pointer then, with the caller's own and the return address where they will stay.
 */
static bool leave_begun(struct walk *walk, uint64_t sender_sp)
{
	const struct unwind_regs before = walk->regs;

	if (before.fp < before.sp || before.fp % WORD_BYTES != 0 || before.fp >= sender_sp ||
	    leave(walk, ARCH_FRAME_BY_FP, 0) != STEP_DONE)
		return false;
	if (walk->regs.sp <= sender_sp && step_is_code(walk, walk->regs.pc)) {
		walk->regs.sp = sender_sp;
		return true;
	}
	walk->regs = before;
	return false;
}

/*
 * Before an interpreted method has a frame, a register holds the caller's stack pointer; later the
 * same one points at bytecode, which never lies on the stack.
 */
static bool leave_entry(struct walk *walk, struct stack_entry *entry)
{
	const struct arch_entry at = walk->arch->read_entry(walk->regs.leaf);
	struct unwind_regs next = {.sp = at.sender_sp, .fp = walk->regs.fp};

	if (walk->arch->is_entered && walk->arch->is_entered(&walk->regs, &walk->stack))
		return false;
	if (at.sender_sp < walk->regs.sp || at.sender_sp - walk->regs.sp > INTERPRETED_MAX_BYTES)
		return false;
	if (leave_begun(walk, at.sender_sp)) {
		entry->method = at.method;
		return true;
	}
	if (walk->arch->has_link || !snapshot_read(&walk->stack, walk->regs.sp, &next.pc) ||
	    !step_is_code(walk, next.pc))
		next.pc = at.return_addr;
	if (!step_is_code(walk, next.pc))
		return false;
	entry->method = at.method;
	walk->regs = next;
	return true;
}

/* Whether that is so. Where the return address is on the stack, nothing but that tells. */
static bool is_sp_noted(struct walk *walk, const struct code_range *range)
{
	struct step_code bytes;
	struct arch_code code;

	if (!walk->arch->is_before_entry)
		return true;
	return step_read_code(walk, range, &bytes, &code) && !walk->arch->is_before_entry(&code);
}

/*
 * An adapter from compiled to interpreted code notes the caller's stack pointer on its way, and
 * makes room for arguments then; before that, the register holds anything, older notes too. What
 * calls has its stack aligned, so that the return address alone on top of it leaves it off by a
 * word.
 */
static bool leave_adapter_entry(struct walk *walk, const struct code_range *range)
{
	const struct arch_entry at = walk->arch->read_entry(walk->regs.leaf);
	const uint64_t sp = walk->regs.sp, noted = at.sender_sp;
	struct unwind_regs next = {.sp = sp, .fp = walk->regs.fp, .pc = at.return_addr};
	bool is_noted = is_sp_noted(walk, range);
	uint64_t top;

	if (!walk->arch->has_link && snapshot_read(&walk->stack, sp, &top) &&
	    step_is_code(walk, top)) {
		next.pc = top;
		next.sp = sp + WORD_BYTES;
		is_noted = next.sp % STACK_ALIGN_BYTES != 0;
	}
	if (!step_is_code(walk, next.pc))
		return false;
	if (!is_noted && !leads_on(walk, next.pc, next.sp))
		is_noted = true;
	if (is_noted && noted >= next.sp && noted - sp <= ADAPTER_MAX_BYTES &&
	    leads_on(walk, next.pc, noted))
		next.sp = noted;
	walk->regs = next;
	return true;
}

/*
 * One that has the VM mend the call that came here saves all registers above that, one of which
 * holds the return address, too: it is there twice.
 */
static enum step leave_mending(struct walk *walk)
{
	const uint64_t sp = walk->regs.sp;
	uint64_t saved, addr;

	if (walk->searches++ >= STEP_MAX_SEARCHES)
		return STEP_NO_RULE;
	for (uint64_t i = 0; i < SAVED_MAX_WORDS; i++) {
		if (!snapshot_read(&walk->stack, sp + i * WORD_BYTES, &saved))
			return STEP_END;
		for (uint64_t j = i + 1; saved != 0 && j <= i + SAVED_ABOVE_WORDS; j++) {
			const uint64_t caller_sp = sp + (j + 1) * WORD_BYTES;

			if (!snapshot_read(&walk->stack, caller_sp - WORD_BYTES, &addr))
				return STEP_END;
			if (addr != saved || !find_compiled(walk, addr) ||
			    !leads_on(walk, addr, caller_sp))
				continue;
			walk->regs = (struct unwind_regs){
				.pc = addr, .sp = caller_sp, .fp = walk->regs.fp};
			return STEP_DONE;
		}
	}
	return STEP_NO_RULE;
}

/*
 * Where calls leave the return address in a register, an adapter makes a frame to call into the VM;
 * by then another such address is in that register.
 */
static bool is_framed_adapter(const struct walk *walk, const struct code_range *range)
{
	const uint64_t link = walk->regs.link;
	uint64_t returns_to;

	if (!walk->arch->has_link || walk->is_return)
		return walk->arch->has_link;
	return link - range->addr < range->size ||
	       (walk->regs.fp - walk->regs.sp <= ADAPTER_FRAME_MAX_BYTES &&
		read_slot(walk, 1, &returns_to) && returns_to == link);
}

static enum step leave_adapter(struct walk *walk, const struct code_range *range)
{
	if (is_framed_adapter(walk, range))
		return step_by_fp(walk);
	return walk->regs.leaf && leave_adapter_entry(walk, range) ? STEP_DONE
								   : leave_mending(walk);
}

/* Which slot that is depends on the JDK, which the agent has told of. */
static void read_bcp_slot(const struct walk *walk, uint64_t *ret)
{
	const struct jvm *jvm = walk->process->jvm;
	const int32_t slot = jvm ? vm_layout_interpreter_bcp_words(&jvm->layout) : 0;

	if (slot != 0)
		read_slot(walk, slot, ret);
}

/*
 * A frame that an exception passes through is taken down before the VM is asked where to go on;
 * meanwhile the return address lies on top, the exception in front of it or behind it.
 */
static enum step leave_unwinding(struct walk *walk, uint64_t words_behind)
{
	uint64_t addr;

	for (uint64_t i = 0; i < UNWINDING_MAX_WORDS; i++) {
		const uint64_t at = walk->regs.sp + i * WORD_BYTES;

		if (!snapshot_read(&walk->stack, at, &addr))
			return STEP_END;
		if (!step_is_code(walk, addr))
			continue;
		walk->regs = (struct unwind_regs){.pc = addr,
						  .sp = at + (1 + words_behind) * WORD_BYTES,
						  .fp = walk->regs.fp};
		return STEP_DONE;
	}
	return STEP_NO_RULE;
}

static enum step leave_activation(struct walk *walk, struct stack_entry *entry)
{
	const struct arch_interpreter *slots = &walk->arch->interpreter;
	const uint64_t fp = walk->regs.fp, sp = walk->regs.sp;
	uint64_t sender_sp = 0;
	enum step step;

	if (fp % WORD_BYTES != 0 || fp < sp || fp - sp > INTERPRETED_MAX_BYTES)
		return walk->is_return ? STEP_NO_RULE : leave(walk, ARCH_FRAME_NONE, 0);
	read_slot(walk, slots->sender_sp, &sender_sp);
	if (read_slot(walk, slots->method, &entry->method)) {
		read_bcp_slot(walk, &entry->bcp);
		if (walk->regs.leaf)
			entry->bcp = walk->arch->read_entry(walk->regs.leaf).bcp;
	}
	step = leave(walk, ARCH_FRAME_BY_FP, 0);
	/* A compiled caller's frame ends where it was before arguments were put behind it. */
	if (step == STEP_DONE && sender_sp >= fp + 2 * WORD_BYTES &&
	    sender_sp - fp <= INTERPRETED_MAX_BYTES)
		walk->regs.sp = sender_sp;
	return step;
}

static enum step leave_interpreted(struct walk *walk, struct stack_entry *entry)
{
	const struct unwind_regs before = walk->regs;
	enum step step;

	if (walk->regs.leaf && leave_entry(walk, entry))
		return STEP_DONE;
	step = leave_activation(walk, entry);
	if (!walk->is_return || (step == STEP_DONE && step_is_code(walk, walk->regs.pc)) ||
	    step == STEP_END)
		return step;
	walk->regs = before;
	entry->method = entry->bcp = 0;
	return leave_unwinding(walk, 1);
}

static bool is_named(const struct code_range *range, const char *part)
{
	return range->name && strstr(range->name, part);
}

/* The bytes before a return address that lies in generated code. */
static bool read_call(struct walk *walk, uint64_t return_addr, uint8_t *ret)
{
	const struct iovec to = {.iov_base = ret, .iov_len = ARCH_CALL_BYTES};
	const struct iovec from = {.iov_base = (void *)(uintptr_t)(return_addr - ARCH_CALL_BYTES),
				   .iov_len = ARCH_CALL_BYTES};
	const struct code_range *range =
		code_map_find(walk->process->code, return_addr - 1, walk->time_ns);

	return range && return_addr - range->addr >= ARCH_CALL_BYTES &&
	       read_process(walk, &to, &from, 1);
}

/*
 * A stub that pushes and aligns as it likes: its caller is where the stack's first return address
 * is before which there is a call of this very stub. The reads that the walk has left bound the
 * search.
 */
static enum step leave_by_call(struct walk *walk, const struct code_range *range)
{
	const struct arch_target target = {.addr = range->addr, .size = range->size};
	uint8_t code[ARCH_CALL_BYTES];
	uint64_t addr;

	for (uint64_t i = 0; i < STUB_MAX_WORDS && walk->reads < STEP_MAX_READS; i++) {
		const uint64_t at = walk->regs.sp + i * WORD_BYTES;

		if (!snapshot_read(&walk->stack, at, &addr))
			return STEP_END;
		if (!read_call(walk, addr, code) ||
		    !walk->arch->is_call(code, sizeof(code), addr, &target))
			continue;
		walk->regs = (struct unwind_regs){
			.pc = addr, .sp = at + WORD_BYTES, .fp = walk->regs.fp};
		return STEP_DONE;
	}
	return STEP_NO_RULE;
}

/* Whether compiled code whose frame leads on is where the walk has come to. */
static bool has_come_to_compiled(const struct walk *walk)
{
	return find_compiled(walk, walk->regs.pc) && leads_on(walk, walk->regs.pc, walk->regs.sp);
}

/*
 * Compiled code that throws jumps to a stub, which pushes the pc in the place of a return address,
 * and pops it when it knows where to go on: then it is in a register alone.
 */
static bool leave_exception_blob(struct walk *walk, uint32_t size)
{
	static const enum arch_frame ways[] = {ARCH_FRAME_FULL, ARCH_FRAME_NONE};
	const struct unwind_regs before = walk->regs;
	struct unwind_regs next = {.sp = before.sp, .fp = before.fp};

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		walk->regs = before;
		if (leave(walk, ways[i], size) == STEP_DONE && has_come_to_compiled(walk))
			return true;
	}
	if (walk->arch->dwarf_reg(&before, walk->arch->exception_pc, &next.pc)) {
		walk->regs = next;
		if (has_come_to_compiled(walk))
			return true;
	}
	walk->regs = before;
	return false;
}

/*
 * A stub's frame has its size at most calls into the VM; how much of it there is elsewhere nobody
 * says, so that the first of the ways to leave it counts that leads to code.
 */
static enum step leave_sized_stub(struct walk *walk, const struct code_range *range)
{
	static const enum arch_frame ways[] = {ARCH_FRAME_FULL, ARCH_FRAME_BY_FP, ARCH_FRAME_NONE,
					       ARCH_FRAME_PUSHED};
	const size_t n_ways = walk->is_return ? 2 : sizeof(ways) / sizeof(ways[0]);
	const struct unwind_regs before = walk->regs;
	enum step step = STEP_NO_RULE;

	if (!walk->is_return && is_named(range, "ExceptionBlob") &&
	    leave_exception_blob(walk, range->frame.size))
		return STEP_DONE;
	for (size_t i = 0; i < n_ways; i++) {
		walk->regs = before;
		step = leave(walk, ways[i], range->frame.size);
		if (step == STEP_DONE && step_is_code(walk, walk->regs.pc))
			return step;
	}
	walk->regs = before;
	return walk->is_return ? leave(walk, ARCH_FRAME_FULL, range->frame.size)
			       : leave_by_call(walk, range);
}

/* Frame pointers' rule; one stub pushes a word of ones before it begins a frame. */
static enum step leave_framed_stub(struct walk *walk)
{
	const enum step step = step_by_fp(walk);

	if (step != STEP_DONE || walk->regs.pc != UINT64_MAX)
		return step;
	if (!snapshot_read(&walk->stack, walk->regs.sp, &walk->regs.pc))
		return STEP_END;
	walk->regs.sp += WORD_BYTES;
	return STEP_DONE;
}

/*
 * What HotSpot asks the processor with, before anything else: it pushes the frame pointer first,
 * and then a few registers, some for a while only.
 */
static enum step leave_asking(struct walk *walk)
{
	const uint64_t sp = walk->regs.sp;
	uint64_t before = walk->regs.fp, addr;

	for (unsigned int i = 0; i < ASKING_MAX_WORDS; i++) {
		if (!snapshot_read(&walk->stack, sp + i * WORD_BYTES, &addr))
			return STEP_END;
		if (step_is_code(walk, addr)) {
			walk->regs = (struct unwind_regs){
				.pc = addr, .sp = sp + (i + 1) * WORD_BYTES, .fp = before};
			return STEP_DONE;
		}
		before = addr;
	}
	return STEP_NO_RULE;
}

static bool is_asking(const struct code_range *range)
{
	return is_named(range, "get_cpu_info") || is_named(range, "getCPUIDNameInfo") ||
	       is_named(range, "detect_virt");
}

static enum step leave_unsized_stub(struct walk *walk, const struct code_range *range)
{
	const struct unwind_regs before = walk->regs;
	enum arch_frame frame;

	if (is_named(range, "unwind_exception"))
		return leave_unwinding(walk, 0);
	if (is_named(range, "adapter"))
		return leave_adapter(walk, range);
	if (is_asking(range) && !walk->arch->has_link)
		return leave_asking(walk);
	if (walk->is_return)
		return leave_framed_stub(walk);
	if (is_named(range, "itable") || is_named(range, "vtable"))
		return leave(walk, ARCH_FRAME_NONE, 0);
	if (!look_at_code(walk, range, &frame))
		return step_by_fp(walk);
	if (leave(walk, frame, 0) == STEP_DONE && step_is_code(walk, walk->regs.pc))
		return STEP_DONE;
	walk->regs = before;
	return leave_by_call(walk, range);
}

static enum step leave_stub(struct walk *walk, const struct code_range *range)
{
	enum step step;

	if (range->frame.size > 0)
		return leave_sized_stub(walk, range);
	step = leave_unsized_stub(walk, range);
	/* It is given its arguments on the stack, where its caller takes them away again. */
	if (step == STEP_DONE && is_named(range, "slow_subtype_check"))
		walk->regs.sp += SUBTYPE_CHECK_WORDS * WORD_BYTES;
	return step;
}

bool step_is_barrier(const struct code_range *range, uint64_t pc)
{
	return range && range->kind == CODE_STUB && range->addr == pc &&
	       (is_named(range, "returnBarrier") || is_named(range, "return barrier"));
}

/*
 * ContinuationEntry::_return_pc: where the frame that mounts goes on. JDK 21 does not say; there
 * any address of that code will do, as its frame has one size.
 */
static uint64_t mounting_pc(struct walk *walk)
{
	const struct jvm *jvm = walk->process->jvm;
	uint64_t pc = 0;
	int64_t addr;

	if (process_value(walk->process, "ContinuationEntry::_return_pc", &addr)) {
		const struct iovec to = {.iov_base = &pc, .iov_len = sizeof(pc)};
		const struct iovec from = {.iov_base = (void *)(uintptr_t)addr,
					   .iov_len = sizeof(pc)};

		return read_process(walk, &to, &from, 1) ? pc : 0;
	}
	return jvm ? jvm->mounting_pc : 0;
}

enum step step_barrier(struct walk *walk)
{
	walk->regs.pc = mounting_pc(walk);
	walk->regs.leaf = NULL;
	return walk->regs.pc ? STEP_DONE : STEP_NO_RULE;
}

enum step step_hotspot(struct walk *walk, const struct code_range *range, struct stack_entry *entry)
{
	if (range->kind != CODE_STUB)
		return leave_compiled(walk, range);
	if (range->name && strcmp(range->name, "Interpreter") == 0)
		return leave_interpreted(walk, entry);
	return leave_stub(walk, range);
}
