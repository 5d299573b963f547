// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a chunk of a virtual thread's stack -> the frames in the chunk
 * units:   words of 8 bytes from the beginning of the chunk's stack; addr in the target's address
 *          space
 * threads: the model's
 * errors:  frames that do not lead to the end of the chunk are not added
 * source:  as heap_stack.h
 */
#ifndef FG_UNWIND_HEAP_FRAMES_H
#define FG_UNWIND_HEAP_FRAMES_H

#include "process/process.h"
#include "unwind/arch.h"
#include "unwind/stack.h"

#include <stdbool.h>
#include <stdint.h>

#define HEAP_STACK_MAX	      1024 /* frames */
#define HEAP_STACK_CANDIDATES 64   /* candidates for the callee's frame in a chunk */
/* Frames that are walked in search of the callee; the walk that comes to it ends as usual. */
#define HEAP_STACK_WALKED (HEAP_STACK_CANDIDATES * HEAP_STACK_MAX)

/* The oldest frame on the stack, which returns to the barrier. */
struct heap_callee {
	const struct code_range *range; /* NULL: not known */
	uint64_t method; /* the frame's Method, if interpreted; 0: not interpreted, or unknown */
	uint64_t sp;	 /* stack pointer of the frame, which ends at entry */
	uint64_t entry;	 /* the address of the ContinuationEntry */
	const struct snapshot *stack;
};

struct heap_stack {
	struct stack_entry entries[HEAP_STACK_MAX];
	uint32_t depth;
	bool has_gap;	    /* older frames follow, which could not be read */
	uint32_t walked;    /* frames that were looked at in the last chunk, to find the callee */
	uint32_t reads;	    /* reads of the process's memory, each a system call */
	uint32_t max_reads; /* set by the caller: what is behind so many reads is not read */
};

/* A chunk, with the words of its stack from first on. */
struct heap_chunk {
	uint64_t parent;  /* address of the chunk before; 0: none */
	uint32_t sp, end; /* the frozen frames */
	uint32_t first;
	const uint64_t *words;
};

struct heap_frames {
	const struct process *process;
	const struct arch *arch;
	uint64_t time_ns;
	bool has_yield; /* the frames that were found last have the one that freezes a thread */
	struct heap_stack *ret;
};

/*
 * Adds the frames of one chunk to *frames->ret. callee: for the last chunk, whose frames are the
 * callee's callers; else NULL. False: there are none that fit together.
 */
bool heap_frames_add(struct heap_frames *frames, const struct heap_chunk *chunk,
		     const struct heap_callee *callee);

#endif
