// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a snapshot that was too short -> a longer one
 * units:   bytes
 * threads: one at a time
 * errors:  false: the snapshot stays as short as it is
 * source:  process_vm_readv(2)
 *
 * A deep stack's older frames do not change while newer ones come and go. So the stack remainder,
 * the part behind a snapshot's end, is read from the process some time after the sample. The
 * remainder is believed if the snapshot's own end is still in front of it (stack_tail.h): a thread
 * that had returned so far would have written over that end. The process is never written to and
 * never stopped.
 *
 * A snapshot is too short for one of two reasons. The stack may be deeper than the kernel was asked
 * to copy. Or a frame has an array with pages that have never been written to: the kernel copies
 * neither such a page nor anything behind it. A JVM's start has such a frame below all others.
 */
#ifndef FG_UNWIND_LIVE_STACK_H
#define FG_UNWIND_LIVE_STACK_H

#include "unwind/stack_remainder.h"

#include <sys/types.h>

#define LIVE_STACK_FIRST_BYTES (128u << 10)
#define LIVE_STACK_MAX_BYTES   (1u << 20)

/* A zero-filled struct is valid. Memory is allocated when it is needed. */
struct live_stack {
	uint8_t *bytes;
	bool is_read_out; /* read up to the limit; a stack that still grows is read no further */
	uint64_t refused; /* reads refused with EPERM */
};

size_t live_stack_bytes(const struct live_stack *live); /* its memory */
void live_stack_fini(struct live_stack *live);

/*
 * Lengthens *stack from the process's memory. A snapshot is lengthened to LIVE_STACK_FIRST_BYTES
 * behind its end, a stack that has been lengthened before to LIVE_STACK_MAX_BYTES, and no further.
 * The bytes of *stack are then borrowed from live until the next call. frame: the stack pointer of
 * the frame in which the stack ends.
 */
bool live_stack_extend(struct live_stack *live, pid_t pid, struct snapshot *stack, uint64_t frame);

/* Lengthens a snapshot by a kept remainder, which holds the snapshot's end. */
bool live_stack_append(struct live_stack *live, const struct stack_remainder *remainder,
		       struct snapshot *stack);

#endif
