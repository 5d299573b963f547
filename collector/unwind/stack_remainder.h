// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a snapshot that was too short -> what lay behind it when it was taken
 * units:   addr in the target's address space, bytes, CLOCK_MONOTONIC nanoseconds
 * threads: one at a time
 * errors:  what cannot be read is not kept
 * source:  process_vm_readv(2)
 *
 * A stack remainder is the part of a stack behind the end of its snapshot. A sample waits before it
 * is walked, and by then a deep stack may not be deep any more. But earlier walks have found out
 * where stacks in that piece of memory have their root. If a snapshot ends before that, the
 * remainder is read when the sample comes, and kept for the walk. The walk believes a remainder if
 * the snapshot's own end is in front of it (stack_tail.h).
 *
 * At most STACK_REMAINDERS_MAX_BYTES are kept, and nothing for longer than
 * STACK_REMAINDERS_KEPT_NS while newer remainders come. The oldest make way.
 *
 * Two snapshots with equal ends may have different remainders. A program that recurses pushes the
 * same frames again, behind other callers than before. A stack that is read meanwhile is new nearer
 * to its root and old elsewhere. So each sample has its remainder read after it was taken. A
 * remainder that was read before the sample and is still the same after it was the same in between.
 * If the two differ, both are found, and the walk has to see whether both lead to the same frames.
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

/*
 * A remainder that was read for one sample, and serves later samples as well. Its bytes begin with
 * the end of the snapshot that they were read for.
 */
struct stack_remainder {
	pid_t pid;
	uint64_t time_ns; /* of the sample that it was read for */
	uint64_t read_ns; /* when that was */
	uint64_t seen_ns; /* when its bytes from settled on were last found to be unchanged */
	uint64_t settled; /* an addr */
	bool is_all;	  /* there was no more */
	uint64_t addr;
	uint8_t *bytes;
	size_t len;
};

/* A snapshot of a process's stack, and when it was taken. */
struct stack_copy {
	pid_t pid;
	uint64_t time_ns;
	struct snapshot bytes;
};

/* The remainders of a snapshot; both are borrowed until the next one is kept. */
struct stack_remainders_found {
	const struct stack_remainder *nearest; /* in time; NULL: none */
	const struct stack_remainder *other; /* from the other side of that time; NULL: no doubt */
};

/* What walks have found out of stacks whose snapshots ended in one piece of memory. */
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
 * A walk's result: the stack of that snapshot has its root at root. 0: the snapshot ended before
 * the root, and no more of the stack was to be had.
 */
void stack_remainders_note(struct stack_remainders *remainders, const struct stack_copy *copy,
			   uint64_t root);

/* How many bytes behind this snapshot to keep; 0: none, for no walk will ask for them. */
size_t stack_remainders_wanted(const struct stack_remainders *remainders,
			       const struct stack_copy *copy);

/*
 * Drops the remainder that was kept last, if it is that of an empty snapshot. Of an empty snapshot
 * all that is at its address is kept, and found for the snapshot's own time alone. Who has it kept
 * says whether it is to be believed (unseen.h).
 */
void stack_remainders_drop_last(struct stack_remainders *remainders, const struct stack_copy *copy);

/*
 * Reads and keeps up to len bytes from behind the snapshot, unless as much has been read since the
 * snapshot was taken. Of the snapshot the last words alone are compared now; the others when a walk
 * asks for the remainder.
 */
void stack_remainders_keep(struct stack_remainders *remainders, const struct stack_copy *copy,
			   size_t len, uint64_t now_ns);

/* The remainders of a snapshot. frame: the stack pointer of the frame in which it ends. */
struct stack_remainders_found stack_remainders_find(const struct stack_remainders *remainders,
						    const struct stack_copy *copy, uint64_t frame);

#endif
