// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a sample -> its stack as addresses, leaf first
 * units:   addr in the kernel or in the process, as the entry says
 * threads: any, values
 * errors:  a stack that does not reach its root says why
 * source:  PERF_SAMPLE_CALLCHAIN of perf_event_open(2)
 *
 * A stack is what a walk makes of a sample. The kernel's frames come first, then the user's. Each
 * entry is an address in a frame's code: the leaf's pc, then return addresses. enum stack_end says
 * where and why the stack ends.
 */
#ifndef FG_UNWIND_STACK_H
#define FG_UNWIND_STACK_H

#include "sample/record.h"

#include <stdbool.h>
#include <stdint.h>

#define STACK_MAX	4096
#define STACK_CHAIN_MAX 128

struct stack_entry {
	uint64_t addr;
	uint64_t method,
		bcp; /* addresses in the JVM; 0: the frame is not interpreted, or unknown */
	bool is_kernel;
	bool is_return;	    /* a return address: the call lies before it */
	bool is_trampoline; /* a signal's handler returns to this address */
	bool lacks_inlined; /* of a deoptimized frame: nothing says where it had been left */
	bool is_gap;	    /* stands for frames in the heap that could not be read */
	uint8_t back; /* distance in bytes back to the place that is meant, see instructions.h */
};

/* How a stack ends. */
enum stack_end {
	STACK_BY_FP, /* a walk by frame pointers; only its frames' names say whether it is whole */
	STACK_WHOLE, /* the walk reached the thread's entry */
	STACK_FRAME_LIMIT,    /* more frames than STACK_MAX, or than the kernel's walk takes */
	STACK_SNAPSHOT_ENDED, /* the stack remainder was not copied */
	STACK_NO_RULE,	      /* nothing says how to leave the code at end_addr */
	STACK_BAD_RETURN,     /* no code is at the return address end_addr */
	STACK_NO_PROGRESS,    /* the caller is not above its callee */
	STACK_PAGE_OUT,	      /* a page was not in memory, and could not be read later */
	STACK_IN_DOUBT,	      /* the caller cannot have called the last frame, see way_in.h */
	STACK_ENDS,
};

/* What the walk of a stack was, which is counted where its sample is taken. */
struct stack_counts {
	uint32_t reads;	  /* of the process's memory, each a system call */
	bool is_joined;	  /* with the kernel's walk */
	bool is_extended; /* it goes on in a stack remainder */
	bool is_doubtful; /* it is cut because the stack remainder changed around the sample */
	bool is_code_unread;
};

struct stack {
	struct stack_entry entries[STACK_MAX];
	uint32_t depth;
	uint8_t end;	 /* enum stack_end */
	bool is_in_heap; /* some frames lie in the heap, see heap_stack.h */
	bool has_missed; /* nothing is known at an address that the walk came to */
	bool has_gap;	 /* an entry stands for frames in the heap that could not be read */
	uint64_t end_addr;
	uint64_t missed_code; /* an address in generated code of which nothing is known; 0: none */
	struct stack_counts counts;
};

/*
 * The address whose function and line are meant. Of a return address this is the call's last byte.
 */
uint64_t stack_probe(const struct stack_entry *entry);

/* Makes a stack of the kernel's own walk along frame pointers. */
void stack_from_chain(const struct sample *sample, struct stack *ret);

/* The number of the stack's first entries that are the kernel's. */
uint32_t stack_count_kernel(const struct stack *stack);

/* The user's entries of the kernel's walk, kept while the entries of another walk replace them. */
struct stack_chain {
	struct stack_entry entries[STACK_CHAIN_MAX];
	uint32_t n;
	bool is_cut; /* the kernel's walk had more entries */
};

void stack_keep_chain(const struct stack *stack, uint32_t n_kernel, struct stack_chain *ret);

/* The last frame that is in both of two walks: its index in the stack, and in the chain. */
struct stack_agreement {
	uint32_t ours, theirs;
};

/*
 * Finds the last frame that is in both walks. The kernel's walk may leave frames out, and hardly
 * ever invents a frame. So each frame of the stack is sought in the chain behind the frame found
 * before, and near to that frame.
 */
struct stack_agreement stack_find_agreement(const struct stack *stack, uint32_t n_kernel,
					    const struct stack_chain *chain);

/* A name of one word or a few: "snapshot ended". */
const char *stack_end_name(enum stack_end end);

#endif
