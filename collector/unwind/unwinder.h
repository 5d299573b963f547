// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a sample with registers and a snapshot of its user stack -> its stack as addresses
 * units:   addr in the target's address space, CLOCK_MONOTONIC nanoseconds
 * threads: the model's
 * errors:  a stack that is not whole says why; nothing a snapshot, a file or a JVM says can make a
 *          walk take more than STACK_MAX steps, or more than STEP_MAX_READS looks into the process,
 *          and STEP_MAX_HEAP_READS into its heap
 * source:  elf/cfi_table.h, code/code_map.h, unwind/arch.h
 *
 * A walk goes from the sampled frame to the stack's root, one step a frame (step.h). A frame is
 * left by what is known of its code. Native frames have the file's unwind tables, HotSpot's
 * compiled frames a frame size, interpreted frames fixed slots. Where nothing is known, frame
 * pointers are followed. Each step is checked: a caller must lie above its callee, and a return
 * address must point at code.
 *
 * A walk that comes to the snapshot's end goes on in the stack remainder, the part of the stack
 * behind that end. The remainder may have been kept when the sample came (stack_remainder.h). Or
 * the process's memory still holds the same stack (live_stack.h). Failing both, the kernel's own
 * walk along frame pointers is joined on, at a frame that both walks have.
 */
#ifndef FG_UNWIND_UNWINDER_H
#define FG_UNWIND_UNWINDER_H

#include "base/counters.h"
#include "files/cfi_cache.h"
#include "files/file_watch.h"
#include "process/process.h"
#include "unwind/arch.h"
#include "unwind/stack.h"

struct unwinder_stats {
	uint64_t ends[STACK_ENDS];
	uint64_t joined;   /* walks joined with the kernel's walk */
	uint64_t extended; /* walks that went on in a stack remainder */
	uint64_t doubtful; /* stacks cut because the stack remainder changed around the sample */
	uint64_t reads;	   /* reads of processes' memory, each a system call */
	uint64_t unread_stacks;	      /* reads behind snapshots that were not permitted */
	uint64_t remainder_bytes;     /* bytes of stack remainders that are kept now */
	uint64_t dropped_remainders;  /* remainders dropped for newer remainders */
	uint64_t heap_stack_bytes;    /* bytes of frames in the heap that are kept now */
	uint64_t dropped_heap_stacks; /* stacks dropped for newer stacks */
	uint64_t unread_code; /* walks with code that could not be read: no right, or too late */
	/* Samples in compiled code whose slow instruction could not be found. */
	uint64_t unread_instructions;
	uint64_t in_heap;   /* stacks that go on in the heap */
	uint64_t heap_gaps; /* of in_heap, stacks that lack frames in the heap */
};
extern const struct counters unwinder_counters;

struct unwinder; /* opaque */

/* tables is borrowed. */
int unwinder_new(struct table_cache *tables, struct unwinder **ret);
void unwinder_free(struct unwinder *unwinder); /* NULL is legal */

/* From now on samples are taken for samples of arch, not of this machine's architecture. */
void unwinder_set_arch(struct unwinder *unwinder, const struct arch *arch);

/*
 * From now on, calls watch for each address of a file that a walk looks up in unwind tables. watch
 * is borrowed. NULL: nothing is called.
 */
void unwinder_watch(struct unwinder *unwinder, const struct file_watch *watch);

/*
 * Walks the stack of a sample. Without a process (NULL), or without registers in the sample, *ret
 * is the kernel's walk alone. False: unwind tables are still being loaded, and the caller of the
 * table cache is patient (files/table_cache.h). The sample is then to be walked again. Nothing is
 * counted until unwinder_accept.
 */
bool unwinder_walk(struct unwinder *unwinder, const struct process *process, uint64_t time_ns,
		   const struct sample *sample, struct stack *ret);

/* Counts a walk whose stack is taken. The counters of ends have the stacks of samples alone. */
void unwinder_accept(struct unwinder *unwinder, const struct stack *stack, bool is_of_sample);

/*
 * Walks a sample ahead of the walk that counts: reads and keeps what that walk will need of the
 * process, while the process exists.
 */
void unwinder_look(struct unwinder *unwinder, const struct process *process, uint64_t time_ns,
		   const struct sample *sample, struct stack *ret);

/*
 * Reads and keeps the stack remainder of a sample that will be walked later, if earlier walks say
 * that the stack goes on behind the sample's snapshot.
 */
void unwinder_keep_remainder(struct unwinder *unwinder, const struct process *process,
			     uint64_t time_ns, const struct sample *sample);

size_t unwinder_bytes(const struct unwinder *unwinder); /* its memory */
void unwinder_stats(const struct unwinder *unwinder, struct unwinder_stats *ret);

#endif
