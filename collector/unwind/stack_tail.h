// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the end of a copy of a stack, and what is there later -> whether that is the same stack
 * units:   addr in the target's address space, bytes
 * threads: any, values
 * errors:  false: nothing says so
 * source:  none
 *
 * What lies behind a copy belongs to the sample if the copy's end is still there. A copy as long as
 * was asked for ends amid frames: the last 1,024 bytes have to be the same, as of a stack that has
 * been left the parts nearer to its root are overwritten first.
 *
 * One that ends with a page ends in one frame, which has an array that it has not written to. What
 * that frame has called comes and goes meanwhile, and it may write to a few of its own words. So
 * its own words have to be the same but for an eighth, the last of them all; and below it has to be
 * a return address not far from the one that was there: wherever the function is now, it is that
 * function. A frame that is too large for that, or has called nobody, is as any other.
 */
#ifndef FG_UNWIND_STACK_TAIL_H
#define FG_UNWIND_STACK_TAIL_H

#include "unwind/snapshot.h"

#define STACK_TAIL_BYTES       4096u /* of a copy's end are looked at, at most */
#define STACK_TAIL_EQUAL_BYTES 1024u
#define STACK_TAIL_LEAST_BYTES 64u /* have to be the same in any case */

/* How much of a copy's end is looked at; 0: it is too short. */
size_t stack_tail_len(const struct snapshot *copy);

/*
 * frame: the stack pointer of the frame in which the copy ends; now: the len bytes that are there
 * later, in front of the copy's end.
 */
bool stack_tail_is_same(const struct snapshot *copy, uint64_t frame, const uint8_t *now,
			size_t len);

#endif
