// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a sample without any copy of its stack, and a walk's first step -> whether to believe it
 * units:   addr in the target's address space
 * threads: one at a time
 * errors:  false: nothing says that it is right
 * source:  process_vm_readv(2)
 *
 * A function with an array of its own may be sampled before it has written to the page that the
 * stack pointer is in: then there is nothing to copy. What lies there is read when the sample
 * comes; with nothing to compare it to, it is believed if the return address that the first frame's
 * rule finds in it lies behind a call of that very function.
 */
#ifndef FG_UNWIND_UNSEEN_H
#define FG_UNWIND_UNSEEN_H

#include "unwind/step.h"

/* Whether the walk has come from callee, a pc, to behind a call of the function that is there. */
bool unseen_is_called(struct walk *walk, uint64_t callee);

#endif
