// SPDX-License-Identifier: Apache-2.0
/* Reads the rest of a deep stack, see live_stack.h. */
#include "unwind/live_stack.h"

#include <stdlib.h>
#include <sys/uio.h>

#define COPY_MAX_BYTES (64u << 10)
#define BUFFER_BYTES   (COPY_MAX_BYTES + LIVE_STACK_MAX_BYTES)

void live_stack_fini(struct live_stack *live)
{
	free(live->bytes);
	live->bytes = NULL;
}

/* Behind what is there up to size bytes in all; the tail is read again, in front of it. */
static size_t read_on(uint8_t *to, pid_t pid, uint64_t addr, size_t len)
{
	const struct iovec local = {.iov_base = to, .iov_len = len};
	const struct iovec remote = {.iov_base = (void *)(uintptr_t)addr, .iov_len = len};
	const ssize_t n = process_vm_readv(pid, &local, 1, &remote, 1, 0);

	return n > 0 ? (size_t)n : 0; /* less where the stack ends */
}

bool live_stack_append(struct live_stack *live, const struct stack_rest *rest,
		       struct snapshot *stack)
{
	const uint64_t skipped = stack->addr + stack->len - rest->addr;
	size_t len;

	if (stack->bytes == live->bytes || stack->len > COPY_MAX_BYTES || skipped >= rest->len)
		return false;
	if (!live->bytes)
		live->bytes = malloc(BUFFER_BYTES);
	if (!live->bytes)
		return false;
	len = rest->len - skipped;
	if (len > LIVE_STACK_MAX_BYTES)
		len = LIVE_STACK_MAX_BYTES;
	memcpy(live->bytes, stack->bytes, stack->len);
	memcpy(live->bytes + stack->len, rest->bytes + skipped, len);
	live->is_read_out = false;
	stack->bytes = live->bytes;
	stack->len += len;
	return true;
}

bool live_stack_extend(struct live_stack *live, pid_t pid, struct snapshot *stack)
{
	const bool is_first = stack->bytes != live->bytes;
	const size_t wanted = is_first ? stack->len + LIVE_STACK_FIRST_BYTES : BUFFER_BYTES;
	uint8_t tail[STACK_TAIL_BYTES];
	size_t tail_at, n;

	if (stack->len < sizeof(tail) || stack->len > BUFFER_BYTES - LIVE_STACK_FIRST_BYTES ||
	    (is_first ? stack->len > COPY_MAX_BYTES : live->is_read_out))
		return false;
	if (!live->bytes)
		live->bytes = malloc(BUFFER_BYTES);
	if (!live->bytes)
		return false;
	tail_at = stack->len - sizeof(tail);
	memcpy(tail, stack->bytes + tail_at, sizeof(tail));
	if (is_first)
		memcpy(live->bytes, stack->bytes, tail_at);
	n = read_on(live->bytes + tail_at, pid, stack->addr + tail_at, wanted - tail_at);
	if (n <= sizeof(tail) || memcmp(live->bytes + tail_at, tail, sizeof(tail)) != 0)
		return false;
	live->is_read_out = !is_first;
	stack->bytes = live->bytes;
	stack->len = tail_at + n;
	return true;
}
