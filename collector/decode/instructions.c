// SPDX-License-Identifier: Apache-2.0
/*
 * One byte of flags for each byte of code. One pass of a decoder (Zydis) from a method's first
 * instruction on makes the flags. HotSpot puts no data between instructions. See instructions.h.
 */
#include "decode/instructions.h"

#include "base/clock.h"
#include "code/inline_table.h"
#include "memory/process_memory.h"

#include <Zydis/Zydis.h>
#include <stdlib.h>

/*
 * Flags of a byte: facts about the instruction that begins there, and about the instruction that
 * ends there.
 */
enum {
	BEGINS = 1,
	IS_JUMPED_TO = 2,     /* target of a jump forward */
	IS_LOOP_HEAD = 4,     /* target of a jump backward */
	COMES_FROM_ABOVE = 8, /* the instruction before goes on here */
	BEFORE_IS_SLOW = 16,
	BEFORE_LOADS = 32,
	BEFORE_IS_CALL = 64,
};

#define MAX_BYTES 15 /* longest instruction */

struct listing {
	size_t len;
	uint8_t flags[];
};

static bool ends_flow(const ZydisDecodedInstruction *instruction)
{
	switch (instruction->meta.category) {
	case ZYDIS_CATEGORY_UNCOND_BR:
	case ZYDIS_CATEGORY_RET:
		return true;
	default:
		return instruction->mnemonic == ZYDIS_MNEMONIC_HLT ||
		       instruction->mnemonic == ZYDIS_MNEMONIC_INT3 ||
		       instruction->mnemonic == ZYDIS_MNEMONIC_UD2;
	}
}

static bool has_memory(const ZydisDecodedInstruction *instruction)
{
	return instruction->attributes & ZYDIS_ATTRIB_HAS_MODRM &&
	       instruction->raw.modrm.mod != 3 && instruction->mnemonic != ZYDIS_MNEMONIC_LEA &&
	       instruction->mnemonic != ZYDIS_MNEMONIC_NOP;
}

/* Whether the instruction takes ten cycles or more on any processor, whatever the caches hold. */
static bool is_slow(const ZydisDecodedInstruction *instruction)
{
	if (instruction->attributes & ZYDIS_ATTRIB_HAS_LOCK)
		return true;
	switch (instruction->mnemonic) {
	case ZYDIS_MNEMONIC_XCHG:
		return has_memory(instruction); /* xchg locks the memory */
	case ZYDIS_MNEMONIC_DIV:
	case ZYDIS_MNEMONIC_IDIV:
	case ZYDIS_MNEMONIC_DIVSS:
	case ZYDIS_MNEMONIC_DIVSD:
	case ZYDIS_MNEMONIC_VDIVSS:
	case ZYDIS_MNEMONIC_VDIVSD:
	case ZYDIS_MNEMONIC_DIVPS:
	case ZYDIS_MNEMONIC_DIVPD:
	case ZYDIS_MNEMONIC_VDIVPS:
	case ZYDIS_MNEMONIC_VDIVPD:
	case ZYDIS_MNEMONIC_SQRTSS:
	case ZYDIS_MNEMONIC_SQRTSD:
	case ZYDIS_MNEMONIC_VSQRTSS:
	case ZYDIS_MNEMONIC_VSQRTSD:
	case ZYDIS_MNEMONIC_FPREM:
	case ZYDIS_MNEMONIC_MFENCE:
	case ZYDIS_MNEMONIC_LFENCE:
	case ZYDIS_MNEMONIC_PAUSE:
	case ZYDIS_MNEMONIC_RDTSC:
	case ZYDIS_MNEMONIC_RDTSCP:
	case ZYDIS_MNEMONIC_CPUID:
		return true;
	default:
		return false;
	}
}

/* Marks the target of a jump at offset, if the target is within the code. */
static void mark_target(const ZydisDecodedInstruction *instruction, size_t offset, uint8_t *flags,
			size_t len)
{
	const int64_t next = (int64_t)(offset + instruction->length);
	int64_t target;

	if (!instruction->raw.imm[0].is_relative ||
	    instruction->meta.category == ZYDIS_CATEGORY_CALL)
		return;
	target = next + instruction->raw.imm[0].value.s; /* of 32 bits at most */
	if (target < 0 || target >= (int64_t)len)
		return;
	flags[target] |= target <= (int64_t)offset ? IS_LOOP_HEAD : IS_JUMPED_TO;
}

/* Decodes the code into flags, which are len zeros. */
static void list(const uint8_t *code, size_t len, uint8_t *flags)
{
	ZydisDecodedInstruction instruction;
	ZydisDecoder decoder;
	size_t at = 0;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	while (at < len) {
		const size_t offset = at;

		if (ZYAN_FAILED(ZydisDecoderDecodeInstruction(&decoder, NULL, code + at, len - at,
							      &instruction)))
			return;
		flags[at] |= BEGINS;
		at += instruction.length;
		mark_target(&instruction, offset, flags, len);
		if (at >= len || ends_flow(&instruction))
			continue;
		flags[at] |= COMES_FROM_ABOVE;
		flags[at] |= is_slow(&instruction) ? BEFORE_IS_SLOW : 0;
		flags[at] |= has_memory(&instruction) ? BEFORE_LOADS : 0;
		if (instruction.meta.category == ZYDIS_CATEGORY_CALL)
			flags[at] |= BEFORE_IS_CALL;
	}
}

static bool is_behind(uint8_t flags)
{
	if (!(flags & BEGINS) || !(flags & COMES_FROM_ABOVE))
		return false;
	if (flags & IS_LOOP_HEAD)
		return flags & BEFORE_IS_SLOW;
	if (flags & IS_JUMPED_TO)
		return flags & (BEFORE_IS_SLOW | BEFORE_LOADS);
	return true;
}

/* Returns where the instruction that ends at offset begins. Such an instruction must exist. */
static size_t begin_before(const uint8_t *flags, size_t offset)
{
	do
		offset--;
	while (!(flags[offset] & BEGINS));
	return offset;
}

/* A sampled place in code, and the compiler of the code. */
struct stop {
	const uint8_t *flags;
	size_t offset;
	bool is_c1;
	bool (*has_end)(void *arg, uint32_t offset);
	void *arg;
};

static uint8_t back_of(const struct stop *stop)
{
	const uint8_t *flags = stop->flags;
	size_t taken = stop->offset;

	if (!(flags[taken] & BEGINS))
		return 0;
	if (is_behind(flags[taken]))
		taken = begin_before(flags, taken);
	/*
	 * A region of C1 ends where its last instruction begins, so the instruction belongs to the
	 * region.
	 */
	if (stop->is_c1 && taken > 0 && !(flags[taken] & BEFORE_IS_CALL) &&
	    stop->has_end(stop->arg, (uint32_t)taken))
		taken--;
	return (uint8_t)(stop->offset - taken);
}

uint8_t instructions_back_in(const uint8_t *code, size_t len, bool is_c1, size_t offset,
			     bool (*has_end)(void *arg, uint32_t offset), void *arg)
{
	uint8_t *flags = calloc(len + 1, 1);
	const struct stop stop = {flags, offset, is_c1, has_end, arg};
	uint8_t back = 0;

	if (flags && offset < len) {
		list(code, len, flags);
		back = back_of(&stop);
	}
	free(flags);
	return back;
}

static void forget_all(struct instructions *instructions)
{
	map64_fini_all(&instructions->methods, free);
	instructions->bytes = 0;
}

void instructions_fini(struct instructions *instructions)
{
	forget_all(instructions);
}

static bool may_read(struct instructions *instructions, size_t len)
{
	const uint64_t now_ns = clock_now_ns();

	if (now_ns >= instructions->turn_ns) {
		instructions->turn_ns = now_ns + INSTRUCTIONS_TURN_NS;
		instructions->turn_bytes = 0;
	}
	if (len > INSTRUCTIONS_METHOD_BYTES ||
	    instructions->turn_bytes + len > INSTRUCTIONS_TURN_BYTES)
		return false;
	instructions->turn_bytes += len;
	return true;
}

/* Reads the code of a live range. Because the range lives, its addresses hold its code. */
static struct listing *read_listing(pid_t pid, const struct code_range *range)
{
	struct listing *listing = calloc(1, sizeof(*listing) + range->size);
	uint8_t *code = malloc(range->size);
	const struct iovec to = {code, range->size};
	const struct iovec from = {(void *)(uintptr_t)range->addr, range->size};

	if (listing && code && process_memory_read(pid, &to, &from, 1) == (ssize_t)range->size) {
		listing->len = range->size;
		list(code, range->size, listing->flags);
	} else {
		free(listing);
		listing = NULL;
	}
	free(code);
	return listing;
}

static const struct listing *find_listing(struct instructions *instructions, pid_t pid,
					  const struct code_range *range)
{
	const uint64_t key = inline_table_serial(range->inlines);
	const size_t bytes = sizeof(struct listing) + range->size;
	struct listing *listing = map64_find(&instructions->methods, key);

	if (listing)
		return listing;
	if (range->death_ns != CODE_TIME_FOREVER || !may_read(instructions, range->size))
		return NULL;
	listing = read_listing(pid, range);
	if (!listing)
		return NULL;
	if (instructions->bytes + bytes > INSTRUCTIONS_MAX_BYTES)
		forget_all(instructions);
	if (map64_put(&instructions->methods, key, listing) < 0) {
		free(listing);
		return NULL;
	}
	instructions->bytes += bytes;
	return listing;
}

static bool has_end(void *arg, uint32_t offset)
{
	const struct code_range *range = arg;

	return inline_table_ends_within(range->inlines, offset, offset);
}

static bool is_by_c1(const struct code_range *range)
{
	return range->level >= 1 && range->level <= 3;
}

uint8_t instructions_back(struct instructions *instructions, pid_t pid,
			  const struct code_range *range, uint64_t addr)
{
	const uint32_t offset = (uint32_t)(addr - range->addr);
	const uint32_t reach = offset > MAX_BYTES ? MAX_BYTES : offset;
	const struct listing *listing;
	struct stop stop;

	if (!range->inlines || offset == 0 ||
	    !inline_table_ends_within(range->inlines, offset - reach, offset))
		return 0;
	listing = find_listing(instructions, pid, range);
	instructions->unread += !listing;
	if (!listing || offset >= listing->len)
		return 0;
	stop = (struct stop){listing->flags, offset, is_by_c1(range), has_end,
			     (void *)(uintptr_t)range};
	return back_of(&stop);
}
