// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a copy of a stack that was too short -> a longer one
 * units:   bytes
 * threads: one at a time
 * errors:  false: it stays as short as it is
 * source:  process_vm_readv(2)
 *
 * A deep stack's older frames do not change while the newer ones come and go. So what lies behind a
 * sample's copy is read from the process, some time after the sample, and believed if the copy's
 * own end is still there (stack_tail.h): had the thread returned that far meanwhile, it would have
 * written over it. Never a write, never a stop.
 *
 * A copy is too short for one of two reasons: the stack is deeper, or a frame has an array of pages
 * that have never been written to, which the kernel does not copy, nor anything behind them. A
 * JVM's start has such a frame below all that it does.
 */
#ifndef FG_UNWIND_LIVE_STACK_H
#define FG_UNWIND_LIVE_STACK_H

#include "unwind/stack_remainder.h"

#include <sys/types.h>

#define LIVE_STACK_FIRST_BYTES (128u << 10)
#define LIVE_STACK_MAX_BYTES   (1u << 20)

/* A zero-filled one is valid, and holds no memory until it is needed. */
struct live_stack {
	uint8_t *bytes;
	bool is_read_out; /* a stack that grows while it is read is not run after */
	uint64_t refused; /* reads for which there was no right */
};

void live_stack_fini(struct live_stack *live);

/*
 * Lengthens *stack, whose bytes were taken or have been lengthened before: first to
 * LIVE_STACK_FIRST_BYTES behind the copy, then to LIVE_STACK_MAX_BYTES, and no more. Its bytes
 * are then borrowed from live until the next call. frame: the frame in which it ends.
 */
bool live_stack_extend(struct live_stack *live, pid_t pid, struct snapshot *stack, uint64_t frame);

/*
 * Likewise by a remainder that was kept, before anything was read: it has the copy's end in it.
 */
bool live_stack_append(struct live_stack *live, const struct stack_remainder *remainder,
		       struct snapshot *stack);

#endif
