// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a sample with an empty snapshot, and a walk's first step -> whether to believe the step
 * units:   addr in the target's address space
 * threads: one at a time
 * errors:  false: nothing says that the step is right
 * source:  process_vm_readv(2)
 *
 * A snapshot is empty if the stack pointer's page has never been written to. A function with an
 * array of its own may be sampled before it has written to that page. The stack is then read from
 * the process when the sample comes. No snapshot is there to compare it to. So the first step is
 * checked instead: the return address that it found has to lie behind a call of that very function.
 */
#ifndef FG_UNWIND_UNSEEN_H
#define FG_UNWIND_UNSEEN_H

#include "unwind/step.h"

/* Whether the walk's pc, a return address, lies behind a call of the function at callee, a pc. */
bool unseen_is_called(struct walk *walk, uint64_t callee);

#endif
