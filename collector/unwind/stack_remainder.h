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
/* Longer than any sample waits. */
#define STACK_REMAINDERS_KEPT_NS UINT64_C(10000000000)
#define STACK_REMAINDERS_WANTED	 256
#define STACK_REMAINDERS_AGE_NS	 UINT64_C(1000000000)

/*
 * A remainder that was read for one sample, and serves later samples as well. The bytes begin with
 * the end of that sample's snapshot.
 */
struct stack_remainder {
	pid_t pid;
	uint64_t time_ns; /* time of the sample that the remainder was read for */
	uint64_t read_ns; /* when the remainder was read */
	uint64_t seen_ns; /* when the bytes from settled on were last found to be unchanged */
	uint64_t settled; /* an address, see seen_ns */
	bool is_all;	  /* the stack had no more bytes */
	uint64_t addr;
	uint8_t *bytes;
	size_t len;
};

/* A snapshot of a process's stack, and the time of the snapshot. */
struct stack_copy {
	pid_t pid;
	uint64_t time_ns;
	struct snapshot bytes;
};

/* The remainders of a snapshot. Both are borrowed until the next remainder is kept. */
struct stack_remainders_found {
	const struct stack_remainder *nearest; /* nearest to the snapshot's time; NULL: none */
	/* nearest on the other side of the snapshot's time; NULL: no doubt */
	const struct stack_remainder *other;
};

/* What walks have found out about stacks whose snapshots ended in one piece of memory. */
struct stack_want {
	pid_t pid;
	uint64_t place;	  /* the number of the piece */
	uint64_t time_ns; /* time of the last sample */
	uint64_t root;	  /* the highest root of these stacks; 0: no walk has reached a root */
};

/* A zero-filled struct is valid. Memory is allocated when it is needed. */
struct stack_remainders {
	struct stack_remainder ring[STACK_REMAINDERS_MAX];
	uint32_t oldest, count;
	size_t bytes;
	struct stack_want wanted[STACK_REMAINDERS_WANTED];
	uint64_t reads;	  /* reads of processes' memory, each a system call */
	uint64_t refused; /* of the reads, those refused with EPERM */
	uint64_t dropped; /* remainders dropped for newer remainders */
};

void stack_remainders_fini(struct stack_remainders *remainders);

/*
 * Notes a walk's result: the stack of the snapshot has its root at root. root 0: the snapshot ended
 * before the root, and no more of the stack could be read.
 */
void stack_remainders_note(struct stack_remainders *remainders, const struct stack_copy *copy,
			   uint64_t root);

/* The number of bytes behind the snapshot to keep. 0: none, because no walk will ask for them. */
size_t stack_remainders_wanted(const struct stack_remainders *remainders,
			       const struct stack_copy *copy);

/*
 * Drops the remainder that was kept last, if it was kept for this empty snapshot. For an empty
 * snapshot, all that is at its address is kept, and only the snapshot's own time finds it. The
 * caller that had the remainder kept says whether the remainder is to be believed (unseen.h).
 */
void stack_remainders_drop_last(struct stack_remainders *remainders, const struct stack_copy *copy);

/*
 * Reads and keeps up to len bytes behind the snapshot, unless as many bytes have been read since
 * the snapshot was taken. Only the snapshot's last words are compared now. Its other words are
 * compared when a walk asks for the remainder.
 */
void stack_remainders_keep(struct stack_remainders *remainders, const struct stack_copy *copy,
			   size_t len, uint64_t now_ns);

/*
 * Finds the remainders of a snapshot. frame: the stack pointer of the frame in which the snapshot
 * ends.
 */
struct stack_remainders_found stack_remainders_find(const struct stack_remainders *remainders,
						    const struct stack_copy *copy, uint64_t frame);

#endif
