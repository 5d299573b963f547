// SPDX-License-Identifier: Apache-2.0
/*
 * What steps of several kinds share, see step.h: reads of the process's memory within the walk's
 * budget, look-ups of code, and the frame pointer's rule.
 */
#include "unwind/step.h"

#include "code/code_map.h"
#include "memory/process_memory.h"

#define TRAMPOLINE_WORDS 3	    /* that a probe's trampoline pushes */
#define FRAME_MAX_BYTES	 (1u << 20) /* a value farther from the stack pointer is no frame pointer */

bool step_read(struct walk *walk, const struct iovec *to, const struct iovec *from, unsigned long n)
{
	size_t wanted = 0;

	if (walk->spent.reads >= STEP_MAX_READS)
		return false;
	walk->spent.reads++;
	for (unsigned long i = 0; i < n; i++)
		wanted += to[i].iov_len;
	return process_memory_read(walk->process->pid, to, from, n) == (ssize_t)wanted;
}

static uint32_t least_of(uint64_t a, uint64_t b)
{
	return (uint32_t)(a < b ? a : b);
}

/* With so many bytes in front of the pc. */
static bool read_code(struct walk *walk, const struct code_range *range, uint32_t before,
		      struct step_code *bytes, struct arch_code *ret)
{
	const uint64_t end = range->addr + range->size, pc = walk->at.regs.pc;
	const uint64_t entry =
		range->addr + (range->frame.entry < range->size ? range->frame.entry : 0);
	const uint64_t start = pc < entry ? range->addr : entry;
	const uint32_t at = least_of(STEP_AT_BYTES, end - pc);
	const struct iovec to[] = {
		{.iov_base = bytes->entry, .iov_len = least_of(STEP_ENTRY_BYTES, end - start)},
		{.iov_base = bytes->around, .iov_len = before + at},
	};
	const struct iovec from[] = {
		{.iov_base = (void *)(uintptr_t)start, .iov_len = to[0].iov_len},
		{.iov_base = (void *)(uintptr_t)(pc - before), .iov_len = to[1].iov_len},
	};
	const uint32_t complete = range->addr + range->frame.complete > start
					  ? (uint32_t)(range->addr + range->frame.complete - start)
					  : 0;

	*ret = (struct arch_code){.pc_offset = (uint32_t)(pc - start),
				  .complete = complete,
				  .size = range->frame.size};
	if (!step_read(walk, to, from, 2))
		return false;
	ret->entry = bytes->entry;
	ret->entry_len = to[0].iov_len;
	/* A prologue ends where the frame is whole. */
	if (complete > 0 && complete < ret->entry_len)
		ret->entry_len = complete;
	ret->at = bytes->around + before;
	ret->at_len = at;
	ret->before_len = before;
	return true;
}

bool step_read_code(struct walk *walk, const struct code_range *range, struct step_code *bytes,
		    struct arch_code *ret)
{
	const uint32_t before = least_of(LEFT_FRAME_BEFORE_BYTES, walk->at.regs.pc - range->addr);

	/* Captures of earlier versions lack the bytes in front. */
	if (read_code(walk, range, before, bytes, ret) ||
	    (before > 0 && read_code(walk, range, 0, bytes, ret)))
		return true;
	walk->notes.is_code_unread = true;
	return false;
}

const struct code_range *step_code_at(struct walk *walk, uint64_t addr)
{
	if (!walk->process->code)
		return NULL;
	if (addr != walk->notes.code_addr || addr == 0) {
		walk->notes.code = code_map_find(walk->process->code, addr, walk->time_ns);
		walk->notes.code_addr = addr;
	}
	return walk->notes.code;
}

bool step_is_code(const struct walk *walk, uint64_t return_addr)
{
	const struct process *process = walk->process;
	const uint64_t call = return_addr - 1; /* the call's last byte */

	return return_addr > 0 &&
	       ((process->code && code_map_find(process->code, call, walk->time_ns)) ||
		address_space_find(&process->space, call));
}

bool step_is_behind_call(struct walk *walk, uint64_t return_addr)
{
	const pid_t pid = walk->process->pid;
	uint8_t code[ARCH_CALL_BYTES];
	const struct iovec to = {.iov_base = code, .iov_len = sizeof(code)};
	const struct iovec from = {.iov_base = (void *)(uintptr_t)(return_addr - sizeof(code)),
				   .iov_len = sizeof(code)};

	if (return_addr < sizeof(code) || !step_is_code(walk, return_addr))
		return false;
	if (call_cache_has(walk->calls, pid, return_addr) || !step_read(walk, &to, &from, 1))
		return true;
	if (!walk->arch->ends_with_call(code, sizeof(code)))
		return false;
	call_cache_put(walk->calls, pid, return_addr);
	return true;
}

bool step_is_behind_call_of(struct walk *walk, uint64_t return_addr,
			    const struct arch_target *target)
{
	uint8_t code[ARCH_CALL_BYTES];
	const struct iovec to = {.iov_base = code, .iov_len = sizeof(code)};
	const struct iovec from = {.iov_base = (void *)(uintptr_t)(return_addr - sizeof(code)),
				   .iov_len = sizeof(code)};

	return return_addr >= sizeof(code) && step_read(walk, &to, &from, 1) &&
	       walk->arch->is_call(code, sizeof(code), return_addr, target);
}

bool step_is_in_syscall(struct walk *walk)
{
	const uint64_t pc = walk->at.regs.pc;
	/* In the cache no return address is like this one. */
	const uint64_t key = ~pc;
	const pid_t pid = walk->process->pid;
	uint8_t code[ARCH_CALL_BYTES];
	const struct iovec to = {.iov_base = code, .iov_len = sizeof(code)};
	const struct iovec from = {.iov_base = (void *)(uintptr_t)(pc - sizeof(code)),
				   .iov_len = sizeof(code)};

	if (walk->at.is_return || pc < sizeof(code))
		return false;
	if (walk->at.regs.leaf && !(walk->arch->may_have_called_kernel
					    ? walk->arch->may_have_called_kernel(&walk->at.regs)
					    : walk->is_in_kernel))
		return false;
	if (call_cache_has(walk->calls, pid, key))
		return true;
	if (!step_is_code(walk, pc) || !step_read(walk, &to, &from, 1) ||
	    !walk->arch->ends_with_syscall(code, sizeof(code)))
		return false;
	call_cache_put(walk->calls, pid, key);
	return true;
}

bool step_is_behind_breakpoint(struct walk *walk)
{
	const uint64_t pc = walk->at.regs.pc;
	uint8_t code;
	const struct iovec to = {.iov_base = &code, .iov_len = sizeof(code)};
	const struct iovec from = {.iov_base = (void *)(uintptr_t)(pc - sizeof(code)),
				   .iov_len = sizeof(code)};

	return walk->is_in_kernel && walk->at.regs.leaf && walk->arch->ends_with_breakpoint &&
	       step_is_code(walk, pc) && step_read(walk, &to, &from, 1) &&
	       walk->arch->ends_with_breakpoint(&code, sizeof(code));
}

enum step step_probe_trampoline(struct walk *walk, const struct mapping *mapping)
{
	const struct arch_target trampoline = {.addr = mapping->start,
					       .size = (uint32_t)(mapping->end - mapping->start)};
	const uint64_t sp = walk->at.regs.sp;
	uint64_t addr;

	for (unsigned int words = 0; words <= TRAMPOLINE_WORDS; words++) {
		if (!snapshot_read(&walk->stack, sp + words * WORD_BYTES, &addr))
			return STEP_END;
		if (!step_is_code(walk, addr) || !step_is_behind_call_of(walk, addr, &trampoline))
			continue;
		walk->at.regs = (struct unwind_regs){
			.pc = addr, .sp = sp + (words + 1) * WORD_BYTES, .fp = walk->at.regs.fp};
		return STEP_DONE;
	}
	return STEP_NO_RULE;
}

enum step step_by_fp(struct walk *walk)
{
	const uint64_t fp = walk->at.regs.fp;

	if (fp < walk->at.regs.sp || fp % WORD_BYTES != 0)
		return STEP_NO_RULE;
	if (fp - walk->at.regs.sp > FRAME_MAX_BYTES)
		return STEP_NO_RULE;
	return step_leave(walk, ARCH_FRAME_BY_FP, 0);
}
