// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a virtual thread whose stack goes on in the heap -> the frames that lie there
 * units:   addr in the target's address space; words of 8 bytes where called so
 * threads: the model's
 * errors:  what cannot be read, or does not fit together, gives no frames
 * source:  HotSpot's stackChunkOop.hpp, continuationEntry.hpp, continuationFreezeThaw.cpp, and
 *          java.base's jdk.internal.vm.StackChunk and Continuation, of JDK 21 to 25
 *
 * When a virtual thread is mounted again, HotSpot copies only the youngest of its frames from the
 * heap onto the carrier's stack, and more whenever one returns:
 *
 *   carrier's stack                                        heap
 *   | leaf | ... | callee | ContinuationEntry, carrier |   Continuation -> StackChunk -> parent chunk
 *                         ^ here a barrier returns             | ... | caller | ... | bottom |
 *
 * The entry in the frame of the carrier that mounted it names the Continuation, that its last chunk,
 * and that the chunk before it. A chunk holds frames as a stack does, but that interpreted ones keep
 * distances in the place of addresses. A chunk names its Continuation, by which it is known to be
 * one: where the members of both lie follows from the sizes of a header and of a reference, which
 * are found out by that.
 *
 * Chunks are read when the sample's ring is, and the thread has gone on since: what is frozen now is
 * not what was frozen then. But frames lie where they lay, counted from the chunk's end, also those
 * that have been copied out of it. So the caller is looked for behind a frame of the callee's code,
 * the one whose words are most like the callee's on the stack, or of its method if that is
 * interpreted; and from there on each frame must lead to the next one, and the last one to the
 * chunk's end.
 *
 * Of a chunk that cannot be read no frames are had, and none of the chunks before it. Chunks that
 * ZGC has moved are found where they are now, see zgc.h.
 */
#ifndef FG_UNWIND_HEAP_STACK_H
#define FG_UNWIND_HEAP_STACK_H

#include "process/process.h"
#include "unwind/arch.h"
#include "unwind/stack.h"

#include <stdbool.h>
#include <stdint.h>

#define HEAP_STACK_MAX	      1024 /* frames */
#define HEAP_STACK_CHUNKS     16   /* of one thread, one behind the other */
#define HEAP_STACK_WORDS      8192 /* of a chunk; what is above them is not looked at */
#define HEAP_STACK_CANDIDATES 64   /* frames of the callee's code */

/* What the stack says of the frame that the barrier returns from. */
struct heap_callee {
	const struct code_range *range; /* NULL: not known */
	uint64_t method;		/* its Method, if it is interpreted; 0: not, or unknown */
	uint64_t sp;			/* of its frame, which ends at the entry */
	uint64_t entry;			/* the address of the ContinuationEntry */
	const struct snapshot *stack;
};

struct heap_stack {
	struct stack_entry entries[HEAP_STACK_MAX];
	uint32_t depth;
	bool has_gap;	/* behind them are older ones, which could not be read */
	uint32_t reads; /* of the process's memory, each a system call */
};

/*
 * False: *ret has no frames. Of process only what is told of its code at time_ns and of HotSpot's
 * layout is used.
 */
bool heap_stack_read(const struct process *process, uint64_t time_ns, const struct arch *arch,
		     const struct heap_callee *callee, struct heap_stack *ret);

#endif
