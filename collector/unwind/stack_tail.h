// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a snapshot's end, and what is there later -> whether it is still the same stack
 * units:   addr in the target's address space, bytes
 * threads: any, values
 * errors:  false: nothing says so
 * source:  none
 *
 * A stack remainder belongs to a sample if the snapshot's end is still in front of the remainder.
 * The last bytes of the snapshot are compared to the same addresses as they are later.
 *
 * A snapshot as long as the kernel was asked for ends amid frames. Its last 1,024 bytes have to be
 * the same. A stack that has been left and grows again is first overwritten nearer to its root.
 *
 * A snapshot that ends with a page ends within one frame, which has an array with pages that it has
 * not written to. What that frame has called comes and goes meanwhile, and the frame may write to a
 * few of its own words. So the frame's own words have to be the same but for an eighth, and its
 * last words all of them. Below the frame a return address has to be near the one that was there:
 * wherever the function is now, it is the same function. A frame that is too large for such a
 * comparison, or has called nobody, is compared like any other.
 */
#ifndef FG_UNWIND_STACK_TAIL_H
#define FG_UNWIND_STACK_TAIL_H

#include "unwind/snapshot.h"

#define STACK_TAIL_BYTES       4096u /* bytes of a snapshot's end that are compared at most */
#define STACK_TAIL_EQUAL_BYTES 1024u
#define STACK_TAIL_LEAST_BYTES 64u /* last bytes, which have to be the same in any case */

/* The number of bytes of a snapshot's end that are compared. 0: the snapshot is too short. */
size_t stack_tail_len(const struct snapshot *copy);

/*
 * frame: the stack pointer of the frame in which the snapshot ends. now: the len bytes in front of
 * the snapshot's end, as they are later.
 */
bool stack_tail_is_same(const struct snapshot *copy, uint64_t frame, const uint8_t *now,
			size_t len);

#endif
