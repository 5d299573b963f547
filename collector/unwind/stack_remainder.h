// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a copy of a stack that was too short -> what lay behind it when it was taken
 * units:   addr in the target's address space, bytes, CLOCK_MONOTONIC nanoseconds
 * threads: one at a time
 * errors:  what cannot be read is not kept
 * source:  process_vm_readv(2)
 *
 * Samples wait before they are walked, and a stack that was deep may not be so any more by then.
 * But walks of others have found out where the stacks thereabouts end. So of a copy that ends
 * before that, what lies behind it is read when the sample comes, and kept for it. It is believed
 * if the copy's own end is in front of it (stack_tail.h). At most STACK_REMAINDERS_MAX_BYTES are
 * kept, and none for longer than STACK_REMAINDERS_KEPT_NS while others come; the oldest make way.
 *
 * Equal ends need not have the same behind them: recursion pushes the same frames again, behind
 * others than before, and a stack that is read while that happens is new nearer to its root and old
 * elsewhere. So each sample has what lies behind it read after it was taken; if that is still what
 * was read before it, it was so in between. If not, both are found, and whoever asks has to see
 * whether they come to the same.
 */
#ifndef FG_UNWIND_STACK_REMAINDER_H
#define FG_UNWIND_STACK_REMAINDER_H

#include "unwind/stack_tail.h"

#include <sys/types.h>

#define STACK_REMAINDERS_MAX	   512
#define STACK_REMAINDERS_MAX_BYTES (16u << 20)
/* No sample waits for so long. */
#define STACK_REMAINDERS_KEPT_NS UINT64_C(10000000000)
#define STACK_REMAINDERS_WANTED	 256
#define STACK_REMAINDERS_AGE_NS	 UINT64_C(1000000000)

/* It begins with the copy's own end, or with that of another. */
struct stack_remainder {
	pid_t pid;
	uint64_t time_ns; /* of the sample that it was read for */
	uint64_t read_ns; /* when that was */
	uint64_t seen_ns; /* when it was last found to be the same from settled on */
	uint64_t settled;
	bool is_all; /* there was no more */
	uint64_t addr;
	uint8_t *bytes;
	size_t len;
};

/* A copy of a process's stack, and when it was taken. */
struct stack_copy {
	pid_t pid;
	uint64_t time_ns;
	struct snapshot bytes;
};

/* What goes on behind a copy; both are borrowed until the next is kept. */
struct stack_remainders_found {
	const struct stack_remainder *nearest; /* in time; NULL: none */
	const struct stack_remainder *other; /* from the other side of that time; NULL: no doubt */
};

/* What walks found out of stacks whose copies ended in a piece of memory. */
struct stack_want {
	pid_t pid;
	uint64_t place;	  /* which piece */
	uint64_t time_ns; /* last */
	uint64_t root;	  /* the highest end of one of them; 0: none was walked that far */
};

/* A zero-filled one is valid, and holds no memory until it is needed. */
struct stack_remainders {
	struct stack_remainder ring[STACK_REMAINDERS_MAX];
	uint32_t oldest, count;
	size_t bytes;
	struct stack_want wanted[STACK_REMAINDERS_WANTED];
	uint64_t reads;	  /* of processes' memory, each a system call */
	uint64_t refused; /* of these, for want of a right */
	uint64_t dropped; /* remainders, for newer ones */
};

void stack_remainders_fini(struct stack_remainders *remainders);

/*
 * A stack of which there is such a copy ends at root; or 0 if the copy ended before it, and nothing
 * more was to be had.
 */
void stack_remainders_note(struct stack_remainders *remainders, const struct stack_copy *copy,
			   uint64_t root);

/* How much to keep of what lies behind this copy; 0: nothing, for no walk will ask for it. */
size_t stack_remainders_wanted(const struct stack_remainders *remainders,
			       const struct stack_copy *copy);

/*
 * Of a copy that is empty what is at its place is kept, and found for that time alone: whoever has
 * it kept says whether it is to be believed.
 */
void stack_remainders_drop_last(struct stack_remainders *remainders, const struct stack_copy *copy);

/*
 * Reads and keeps up to len bytes from behind the copy, unless as much has been read since the copy
 * was taken. Whether more than the copy's last words are still there is looked at when it is asked
 * for.
 */
void stack_remainders_keep(struct stack_remainders *remainders, const struct stack_copy *copy,
			   size_t len, uint64_t now_ns);

/* What goes on behind the copy, which ends in the frame at that address. */
struct stack_remainders_found stack_remainders_find(const struct stack_remainders *remainders,
						    const struct stack_copy *copy, uint64_t frame);

#endif
