// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a virtual thread whose stack goes on in the heap -> the frames that lie there
 * units:   addr in the target's address space; words of 8 bytes where called so
 * threads: the model's
 * errors:  what cannot be read, or does not fit together, gives no frames
 * source:  HotSpot's stackChunkOop.hpp, continuationEntry.hpp, continuationFreezeThaw.cpp, and
 *          java.base's jdk.internal.vm.StackChunk and Continuation, of JDK 21 to 25
 *
 * A virtual thread's older frames lie in the heap. When the thread is mounted again, HotSpot copies
 * the youngest frames alone from the heap onto the carrier's stack. Whenever the oldest frame on
 * the stack returns, a barrier copies more.
 *
 *   carrier's stack                                        heap
 *   | leaf | ... | callee | ContinuationEntry, carrier |   Continuation -> StackChunk -> parent
 *                         ^ here a barrier returns           | ... | caller | ... | bottom |
 *
 * The ContinuationEntry, in the carrier's frame that mounted the thread, names the Continuation.
 * The Continuation names its last chunk, and each chunk names its parent, the chunk before it. A
 * chunk holds frames as a stack does; interpreted frames keep distances there in the place of
 * addresses.
 *
 * A chunk names its Continuation, too, and is known to be a chunk by that. The offsets of both
 * objects' members follow from the sizes of a header and of a reference. These two sizes are found
 * by trying which of them make chunk and Continuation name each other.
 *
 * Chunks are read when the sample's ring is read. The thread has gone on by then: what is frozen
 * now is not what was frozen at the sample. But a frame keeps its place, counted from the chunk's
 * end, even after it has been copied out of the chunk. So the callee's own frame is sought in the
 * chunk. Candidates are frames of the callee's code, or of its method if the callee is interpreted.
 * The candidate counts whose words, and those in front of them, are most like the words on the
 * stack; of several the youngest. Behind that candidate each frame must lead to the next one, and
 * the last one to the chunk's end. Without a candidate there are no frames, unless the callee was
 * compiled in the place of an interpreted loop.
 *
 * A chunk that cannot be read gives no frames, nor do the chunks before it. A chunk that ZGC has
 * moved is read in its new place (zgc.h).
 */
#ifndef FG_UNWIND_HEAP_STACK_H
#define FG_UNWIND_HEAP_STACK_H

#include "unwind/heap_frames.h"
#include "unwind/vm_facts.h"

#include <stdbool.h>
#include <stdint.h>

#define HEAP_STACK_CHUNKS 16	/* chunks of one thread */
#define HEAP_STACK_WORDS  16384 /* words at a chunk's end; words in front are not read */

/*
 * Reads the callers of callee. Of process, only the code known at time_ns and HotSpot's layout are
 * used. What is found out of the process's heap is put into facts. False: *ret has no frames.
 */
bool heap_stack_read(const struct process *process, uint64_t time_ns, const struct arch *arch,
		     const struct heap_callee *callee, struct vm_facts *facts,
		     struct heap_stack *ret);

/* ---- kept until the sample is walked ---- */

/*
 * A sample waits before it is walked, and its virtual thread goes on meanwhile. So the thread's
 * frames in the heap are read when the sample comes, and kept until the walk. The oldest make way
 * for newer ones. Without memory nothing is kept.
 */
#define HEAP_STACKS_MAX	      2048
#define HEAP_STACKS_MAX_BYTES (8u << 20)

/* The key of a sample: its process, its time and its stack pointer. */
struct heap_key {
	pid_t pid;
	uint64_t time_ns, sp;
};

struct heap_kept {
	struct heap_key key;
	struct stack_entry *entries;
	uint32_t depth;
	bool has_gap;
};

/* A zero-filled struct is valid and empty. */
struct heap_stacks {
	struct heap_kept ring[HEAP_STACKS_MAX];
	uint32_t oldest, count;
	size_t bytes;
	uint64_t dropped; /* stacks dropped for newer stacks */
};

void heap_stacks_fini(struct heap_stacks *stacks);

/* Keeps a copy of the stack's frames. */
void heap_stacks_keep(struct heap_stacks *stacks, const struct heap_key *key,
		      const struct heap_stack *stack);

/*
 * Finds the frames that were kept for a sample. Borrowed until the next frames are kept. NULL:
 * none.
 */
const struct heap_kept *heap_stacks_find(const struct heap_stacks *stacks,
					 const struct heap_key *key);

#endif
