// SPDX-License-Identifier: Apache-2.0
/* Reads the remainder of a deep stack, see live_stack.h. */
#include "unwind/live_stack.h"

#include "memory/process_memory.h"

#include <errno.h>
#include <stdlib.h>

#define COPY_MAX_BYTES (64u << 10)
#define BUFFER_BYTES   (COPY_MAX_BYTES + LIVE_STACK_MAX_BYTES)

size_t live_stack_bytes(const struct live_stack *live)
{
	return live->bytes ? BUFFER_BYTES : 0;
}

void live_stack_fini(struct live_stack *live)
{
	free(live->bytes);
	live->bytes = NULL;
}

/* Reads remote into the buffer from offset at on. Returns the number of bytes that were read. */
static size_t read_on(struct live_stack *live, size_t at, pid_t pid, struct iovec remote)
{
	const struct iovec local = {.iov_base = live->bytes + at, .iov_len = remote.iov_len};
	const ssize_t n = process_memory_read(pid, &local, &remote, 1);

	live->refused += n == -EPERM;
	return n > 0 ? (size_t)n : 0; /* fewer bytes where the stack ends */
}

bool live_stack_append(struct live_stack *live, const struct stack_remainder *remainder,
		       struct snapshot *stack)
{
	const uint64_t skipped = stack->addr + stack->len - remainder->addr;
	size_t len;

	if (stack->bytes == live->bytes || stack->len > COPY_MAX_BYTES || skipped >= remainder->len)
		return false;
	if (!live->bytes)
		live->bytes = malloc(BUFFER_BYTES);
	if (!live->bytes)
		return false;
	len = remainder->len - skipped;
	if (len > LIVE_STACK_MAX_BYTES)
		len = LIVE_STACK_MAX_BYTES;
	memcpy(live->bytes, stack->bytes, stack->len);
	memcpy(live->bytes + stack->len, remainder->bytes + skipped, len);
	live->is_read_out = false;
	stack->bytes = live->bytes;
	stack->len += len;
	return true;
}

bool live_stack_extend(struct live_stack *live, pid_t pid, struct snapshot *stack, uint64_t frame)
{
	const bool is_first = stack->bytes != live->bytes;
	const size_t wanted = is_first ? stack->len + LIVE_STACK_FIRST_BYTES : BUFFER_BYTES;
	const size_t tail = stack_tail_len(stack);
	uint8_t known[STACK_TAIL_BYTES];
	struct snapshot copy = {.addr = stack->addr + stack->len - tail, .bytes = known};
	size_t tail_at, n;

	if (tail == 0 || stack->len > BUFFER_BYTES - LIVE_STACK_FIRST_BYTES ||
	    (is_first ? stack->len > COPY_MAX_BYTES : live->is_read_out))
		return false;
	if (!live->bytes)
		live->bytes = malloc(BUFFER_BYTES);
	if (!live->bytes)
		return false;
	tail_at = stack->len - tail;
	memcpy(known, stack->bytes + tail_at, tail);
	copy.len = tail;
	if (is_first)
		memcpy(live->bytes, stack->bytes, tail_at);
	n = read_on(live, tail_at, pid,
		    (struct iovec){.iov_base = (void *)(uintptr_t)(stack->addr + tail_at),
				   .iov_len = wanted - tail_at});
	if (n <= tail || !stack_tail_is_same(&copy, frame, live->bytes + tail_at, tail))
		return false;
	live->is_read_out = !is_first;
	stack->bytes = live->bytes;
	stack->len = tail_at + n;
	return true;
}
