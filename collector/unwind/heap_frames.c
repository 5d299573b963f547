// SPDX-License-Identifier: Apache-2.0
/* Finds the frames in a chunk of a virtual thread's stack, see heap_frames.h. */
#include "unwind/heap_frames.h"

#include <string.h>

#define ALIKE_WORDS   16 /* on the stack, beyond the callee's frame */
#define PLACES_BEHIND 2
#define END_SLACK     2 /* words; a chunk's end may include its metadata or not */

static bool word_at(const struct heap_chunk *chunk, uint64_t index, uint64_t *ret)
{
	if (index < chunk->first || index >= chunk->end)
		return false;
	*ret = chunk->words[index - chunk->first];
	return true;
}

static const struct code_range *code_at(const struct heap_frames *frames, uint64_t return_addr)
{
	return code_map_find(frames->process->code, return_addr - 1, frames->time_ns);
}

static bool is_interpreter(const struct code_range *range)
{
	return range->kind == CODE_STUB && range->name && strcmp(range->name, "Interpreter") == 0;
}

static bool is_same_text(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

/* The youngest frame of each thread that waits by itself. A thread that runs has none. */
static bool is_yield(const struct code_range *range)
{
	return is_same_text(range->name, "yield0") &&
	       is_same_text(range->class_name, "jdk/internal/vm/Continuation");
}

/*
 * The start of a frame in a chunk. An interpreted callee's arguments lie from sp to unextended_sp.
 */
struct position {
	uint64_t sp, unextended_sp;
};

/*
 * Whether at is the chunk's end. Behind an interpreted frame with arguments, the caller's stack
 * pointer is behind the arguments.
 */
static bool is_at_end(const struct heap_chunk *chunk, const struct position *at)
{
	return at->unextended_sp + END_SLACK >= chunk->end &&
	       at->unextended_sp <= chunk->end + END_SLACK;
}

/*
 * Goes from an interpreted frame to its caller. Slots hold distances in words: the frame pointer's
 * from its own place, the sender's stack pointer from the frame pointer.
 */
static bool leave_interpreted(const struct heap_frames *frames, const struct heap_chunk *chunk,
			      struct position *at, struct stack_entry *entry)
{
	const struct arch_interpreter *slots = &frames->arch->interpreter;
	const int32_t bcp = frames->process->jvm
				    ? vm_layout_interpreter_bcp_words(&frames->process->jvm->layout)
				    : 0;
	uint64_t distance, sender;
	uint64_t fp;

	if (!word_at(chunk, at->sp - 2, &distance))
		return false;
	fp = at->sp - 2 + distance;
	if (fp <= at->sp || fp >= chunk->end ||
	    !word_at(chunk, fp + (uint64_t)(int64_t)slots->method, &entry->method) ||
	    !word_at(chunk, fp + (uint64_t)(int64_t)slots->sender_sp, &sender))
		return false;
	if (bcp != 0)
		word_at(chunk, fp + (uint64_t)(int64_t)bcp, &entry->bcp);
	*at = (struct position){.sp = fp + 2, .unextended_sp = fp + sender};
	return at->unextended_sp >= at->sp && at->unextended_sp <= chunk->end + END_SLACK;
}

/* Goes from a frame to its caller. False: the frame cannot be left. */
static bool leave_frame(const struct heap_frames *frames, const struct heap_chunk *chunk,
			const struct code_range *range, struct position *at,
			struct stack_entry *entry)
{
	if (is_interpreter(range))
		return leave_interpreted(frames, chunk, at, entry);
	if (range->frame.size < 2 * WORD_BYTES)
		return false;
	at->sp = at->unextended_sp + range->frame.size / WORD_BYTES;
	at->unextended_sp = at->sp;
	return true;
}

/*
 * Adds all frames from at to the chunk's end, behind the known frames. False: a frame is wrong, and
 * no frame is added.
 */
static bool walk_chunk(struct heap_frames *frames, const struct heap_chunk *chunk,
		       struct position at)
{
	struct heap_stack *ret = frames->ret;
	const uint32_t before = ret->depth;

	frames->has_yield = false;
	while (!is_at_end(chunk, &at)) {
		struct stack_entry entry = {.is_return = true};
		const struct code_range *range = NULL;

		ret->walked++;
		if (ret->depth < HEAP_STACK_MAX && word_at(chunk, at.sp - 1, &entry.addr))
			range = code_at(frames, entry.addr);
		if (!range || !leave_frame(frames, chunk, range, &at, &entry)) {
			ret->depth = before;
			return false;
		}
		ret->entries[ret->depth++] = entry;
		frames->has_yield |= is_yield(range);
	}
	return true;
}

/*
 * Counts the words that are equal on the stack and in the chunk, in the callee's frame and in those
 * that it has called: where a method calls itself, its frames are alike, and what lies in front of
 * them tells them apart.
 */
static uint32_t count_alike(const struct heap_chunk *chunk, uint64_t sp,
			    const struct heap_callee *callee)
{
	const uint64_t frame_bytes = callee->entry - callee->sp;
	const uint64_t all_bytes = callee->entry - callee->stack->addr;
	const uint64_t more_bytes = frame_bytes + ALIKE_WORDS * WORD_BYTES;
	const uint64_t bytes = all_bytes < more_bytes ? all_bytes : more_bytes;
	uint32_t alike = 0;

	/* All words but the two that lead to the caller. */
	for (uint64_t back = 3 * WORD_BYTES; back <= bytes; back += WORD_BYTES) {
		uint64_t on_stack, in_heap;

		alike += snapshot_read(callee->stack, callee->entry - back, &on_stack) &&
			 word_at(chunk, sp - back / WORD_BYTES, &in_heap) && on_stack == in_heap;
	}
	return alike;
}

/*
 * Where the callers of a compiled frame of the callee's code may begin to which the word at index
 * returns. Between an interpreted frame, of the method that the callee has called, and the callee's
 * lie the method's arguments.
 */
static unsigned behind_compiled(const struct heap_frames *frames, const struct heap_chunk *chunk,
				uint64_t index, const struct heap_callee *callee,
				struct position ret[PLACES_BEHIND])
{
	const struct code_range *range = callee->range;
	const uint64_t fp = index - 1, words = range->frame.size / WORD_BYTES;
	const uint64_t slot = fp + (uint64_t)(int64_t)frames->arch->interpreter.sender_sp;
	uint64_t addr, distance;

	if (!word_at(chunk, index, &addr) || addr - range->addr >= range->size)
		return 0;
	ret[0] = (struct position){index + 1 + words, index + 1 + words};
	if (!word_at(chunk, slot, &distance) || distance <= 2 || distance > chunk->end)
		return 1;
	ret[1] = (struct position){fp + distance + words, fp + distance + words};
	return 2;
}

/* Whether index is where the frame pointer of an interpreted frame of the method would point. */
static unsigned behind_interpreted(const struct heap_frames *frames, const struct heap_chunk *chunk,
				   uint64_t index, const struct heap_callee *callee,
				   struct position ret[PLACES_BEHIND])
{
	const struct arch_interpreter *slots = &frames->arch->interpreter;
	uint64_t method, distance;

	if (!word_at(chunk, index + (uint64_t)(int64_t)slots->method, &method) ||
	    method != callee->method ||
	    !word_at(chunk, index + (uint64_t)(int64_t)slots->sender_sp, &distance))
		return 0;
	ret[0] = (struct position){.sp = index + 2, .unextended_sp = index + distance};
	return ret[0].unextended_sp >= ret[0].sp && ret[0].unextended_sp <= chunk->end + END_SLACK;
}

/* The candidate that is most like the callee's frame. */
struct best {
	struct position at;
	uint32_t alike, candidates;
	bool is_one_of_several; /* that are as much alike */
};

/* Of candidates that are as much alike the youngest counts. */
static void try_candidate(struct heap_frames *frames, const struct heap_chunk *chunk,
			  const struct heap_callee *callee, struct position at, struct best *best)
{
	uint32_t alike;

	if (!walk_chunk(frames, chunk, at))
		return;
	frames->ret->depth = 0;
	best->candidates++;
	if (frames->has_yield)
		return; /* words that are left from earlier, in front of frames of now */
	alike = count_alike(chunk, at.sp, callee) + 1;
	best->is_one_of_several =
		alike == best->alike || (best->is_one_of_several && alike < best->alike);
	if (alike <= best->alike)
		return;
	best->at = at;
	best->alike = alike;
}

/*
 * Finds where the caller's frame begins. False: the callee's code is not in the chunk, or may be in
 * words that were not read and are as much alike.
 */
static bool find_caller(struct heap_frames *frames, const struct heap_chunk *chunk,
			const struct heap_callee *callee, struct position *ret)
{
	struct best best = {0};

	frames->ret->walked = 0;
	for (uint64_t i = chunk->first;
	     i <= chunk->end && best.candidates < HEAP_STACK_CANDIDATES &&
	     frames->ret->walked < HEAP_STACK_WALKED;
	     i++) {
		struct position at[PLACES_BEHIND];
		const unsigned n = callee->method ? behind_interpreted(frames, chunk, i, callee, at)
						  : behind_compiled(frames, chunk, i, callee, at);

		for (unsigned k = 0; k < n; k++)
			try_candidate(frames, chunk, callee, at[k], &best);
	}
	*ret = best.at;
	return best.alike > 0 && (chunk->first == 0 || !best.is_one_of_several);
}

/* Whether an interpreted frame ends where the frozen frames begin. */
static bool begins_behind_interpreted(const struct heap_frames *frames,
				      const struct heap_chunk *chunk)
{
	const uint64_t fp = (uint64_t)chunk->sp - 2;
	uint64_t addr, sender;

	return chunk->sp >= 2 && word_at(chunk, fp + 1, &addr) && code_at(frames, addr) &&
	       word_at(chunk, fp + (uint64_t)(int64_t)frames->arch->interpreter.sender_sp,
		       &sender) &&
	       sender >= 2 && sender <= chunk->end - fp;
}

/*
 * Whether the frames that were found, where the frozen frames begin, are callers of a callee whose
 * code is not in the chunk. They are if the code was compiled in the place of an interpreted loop
 * that had been copied from the chunk. Otherwise the thread has gone on since: its older frames lie
 * on its stack by now, or all that was on the stack lies in another chunk.
 */
static bool may_be_callers(const struct heap_frames *frames, const struct heap_chunk *chunk,
			   const struct heap_callee *callee)
{
	const struct code_range *const own = callee->range;

	if (callee->method || own->kind != CODE_OSR || frames->has_yield ||
	    !begins_behind_interpreted(frames, chunk))
		return false;
	for (uint32_t i = 0; i < frames->ret->depth; i++) {
		const struct code_range *const range =
			code_at(frames, frames->ret->entries[i].addr);

		if (range && is_same_text(range->name, own->name) &&
		    is_same_text(range->class_name, own->class_name))
			return false;
	}
	return true;
}

static bool is_known(const struct heap_callee *callee)
{
	return callee->method || (callee->range && callee->range->frame.size >= 2 * WORD_BYTES &&
				  !is_interpreter(callee->range));
}

bool heap_frames_add(struct heap_frames *frames, const struct heap_chunk *chunk,
		     const struct heap_callee *callee)
{
	struct position at;

	if (callee && is_known(callee) && find_caller(frames, chunk, callee, &at))
		return walk_chunk(frames, chunk, at);
	at = (struct position){chunk->sp, chunk->sp};
	if (!callee && is_at_end(chunk, &at))
		return true; /* the chunk is empty */
	if (!walk_chunk(frames, chunk, at))
		return false;
	if (!callee || !is_known(callee) || may_be_callers(frames, chunk, callee))
		return true;
	frames->ret->depth = 0;
	return false;
}
