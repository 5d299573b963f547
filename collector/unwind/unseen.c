// SPDX-License-Identifier: Apache-2.0
/* Looks at the call before a return address, see unseen.h. */
#include "unwind/unseen.h"

#define FUNCTION_MAX_BYTES (16u << 10) /* from a function's start to any pc in it */

bool unseen_is_called(struct walk *walk, uint64_t callee)
{
	const uint64_t back = callee < FUNCTION_MAX_BYTES ? callee : (uint64_t)FUNCTION_MAX_BYTES;
	const struct arch_target target = {.addr = callee - back, .size = (uint32_t)back + 1};
	const uint64_t return_addr = walk->at.regs.pc;
	uint8_t code[ARCH_CALL_BYTES];
	const struct iovec to = {.iov_base = code, .iov_len = sizeof(code)};
	const struct iovec from = {.iov_base = (void *)(uintptr_t)(return_addr - sizeof(code)),
				   .iov_len = sizeof(code)};

	return return_addr >= sizeof(code) && step_read(walk, &to, &from, 1) &&
	       walk->arch->is_call(code, sizeof(code), return_addr, &target);
}
