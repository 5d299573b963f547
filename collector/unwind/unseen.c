// SPDX-License-Identifier: Apache-2.0
/* Looks at the call before a return address, see unseen.h. */
#include "unwind/unseen.h"

#define FUNCTION_MAX_BYTES (16u << 10) /* from a function's start to any pc in it */

bool unseen_is_called(struct walk *walk, uint64_t callee)
{
	const uint64_t back = callee < FUNCTION_MAX_BYTES ? callee : (uint64_t)FUNCTION_MAX_BYTES;
	const struct arch_target target = {.addr = callee - back, .size = (uint32_t)back + 1};

	return step_is_behind_call_of(walk, walk->at.regs.pc, &target);
}
