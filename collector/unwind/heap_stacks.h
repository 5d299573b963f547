// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a sample -> the frames in the heap that were read when the sample came
 * units:   CLOCK_MONOTONIC nanoseconds, addr in the target's address space
 * threads: one at a time
 * errors:  without memory nothing is kept
 * source:  none
 *
 * A sample waits before it is walked, and its virtual thread goes on meanwhile. So the thread's
 * frames in the heap are read when the sample comes (heap_stack.h). They are kept here until the
 * walk. The oldest make way for newer ones.
 */
#ifndef FG_UNWIND_HEAP_STACKS_H
#define FG_UNWIND_HEAP_STACKS_H

#include "unwind/heap_stack.h"

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
