// SPDX-License-Identifier: Apache-2.0
/* Keeps what lies behind copies of stacks, see stack_rests.h. */
#include "unwind/stack_rests.h"

#include "unwind/process_memory.h"

#include <errno.h>
#include <stdlib.h>

#define PLACE_BYTES (1u << 20)
#define MAX_BYTES   (128u << 10)
#define WANT_NS	    UINT64_C(30000000000)

static void drop_oldest(struct stack_rests *rests)
{
	struct stack_rest *rest = &rests->ring[rests->oldest];

	rests->bytes -= rest->len;
	free(rest->bytes);
	*rest = (struct stack_rest){0};
	rests->oldest = (rests->oldest + 1) % STACK_RESTS_MAX;
	rests->count--;
}

void stack_rests_fini(struct stack_rests *rests)
{
	while (rests->count > 0)
		drop_oldest(rests);
}

static uint64_t end_of(const struct snapshot *copy)
{
	return copy->addr + copy->len;
}

static size_t slot_of(pid_t pid, uint64_t place)
{
	const uint64_t mixed = (place ^ (uint64_t)pid << 32) * UINT64_C(0x9e3779b97f4a7c15);

	return (size_t)(mixed >> 32) % STACK_RESTS_WANTED;
}

void stack_rests_note(struct stack_rests *rests, pid_t pid, uint64_t time_ns,
		      const struct snapshot *copy, uint64_t root)
{
	const uint64_t place = end_of(copy) / PLACE_BYTES;
	struct stack_want *want = &rests->wanted[slot_of(pid, place)];

	if (want->pid != pid || want->place != place)
		*want = (struct stack_want){.pid = pid, .place = place};
	want->time_ns = time_ns;
	if (root > want->root)
		want->root = root;
}

size_t stack_rests_wanted(const struct stack_rests *rests, pid_t pid, uint64_t time_ns,
			  const struct snapshot *copy)
{
	const uint64_t end = end_of(copy), place = end / PLACE_BYTES;
	const struct stack_want *want = &rests->wanted[slot_of(pid, place)];

	if (want->pid != pid || want->place != place || stack_tail_len(copy) == 0 ||
	    time_ns > want->time_ns + WANT_NS)
		return 0;
	if (want->root == 0)
		return MAX_BYTES;
	if (want->root <= end)
		return 0;
	return want->root - end < MAX_BYTES ? want->root - end : MAX_BYTES;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static bool fits(const struct stack_rest *rest, uint64_t time_ns, const struct snapshot *copy,
		 uint64_t frame)
{
	const uint64_t in_front = end_of(copy) - rest->addr;

	if (copy->len == 0)
		return rest->addr == copy->addr && rest->time_ns == time_ns;
	return end_of(copy) > rest->addr && in_front < rest->len &&
	       distance(rest->time_ns, time_ns) <= STACK_RESTS_AGE_NS &&
	       stack_tail_is_same(copy, frame, rest->bytes, in_front);
}

const struct stack_rest *stack_rests_find(const struct stack_rests *rests, pid_t pid,
					  uint64_t time_ns, const struct snapshot *copy,
					  uint64_t frame)
{
	const struct stack_rest *found = NULL;

	for (uint32_t i = 0; i < rests->count; i++) {
		const struct stack_rest *rest = &rests->ring[(rests->oldest + i) % STACK_RESTS_MAX];

		if (rest->pid == pid && fits(rest, time_ns, copy, frame) &&
		    (!found ||
		     distance(rest->time_ns, time_ns) < distance(found->time_ns, time_ns)))
			found = rest;
	}
	return found;
}

void stack_rests_drop_last(struct stack_rests *rests, pid_t pid, uint64_t time_ns,
			   const struct snapshot *copy)
{
	const uint32_t last = (rests->oldest + rests->count - 1) % STACK_RESTS_MAX;
	struct stack_rest *rest = &rests->ring[last];

	if (rests->count == 0 || rest->pid != pid || rest->time_ns != time_ns ||
	    rest->addr != copy->addr)
		return;
	rests->bytes -= rest->len;
	free(rest->bytes);
	*rest = (struct stack_rest){0};
	rests->count--;
}

/* Whether the copy's last words are in it, where they were. */
static bool has_end_of(const struct stack_rest *rest, const struct snapshot *copy)
{
	const size_t at = end_of(copy) - rest->addr - STACK_TAIL_LEAST_BYTES;

	return memcmp(rest->bytes + at, copy->bytes + copy->len - STACK_TAIL_LEAST_BYTES,
		      STACK_TAIL_LEAST_BYTES) == 0;
}

/* Takes its bytes. */
static void add(struct stack_rests *rests, const struct stack_rest *rest)
{
	while (rests->count > 0 &&
	       rests->ring[rests->oldest].time_ns + STACK_RESTS_KEPT_NS < rest->time_ns)
		drop_oldest(rests);
	while (rests->count == STACK_RESTS_MAX ||
	       (rests->count > 0 && rests->bytes + rest->len > STACK_RESTS_MAX_BYTES)) {
		drop_oldest(rests);
		rests->dropped++;
	}
	rests->ring[(rests->oldest + rests->count++) % STACK_RESTS_MAX] = *rest;
	rests->bytes += rest->len;
}

void stack_rests_keep(struct stack_rests *rests, pid_t pid, uint64_t time_ns,
		      const struct snapshot *copy, size_t len)
{
	const size_t tail = stack_tail_len(copy);
	const size_t all = tail + (len < MAX_BYTES ? len : MAX_BYTES);
	struct stack_rest rest = {.pid = pid, .time_ns = time_ns};
	struct iovec local = {.iov_len = all}, remote = {.iov_len = all};
	const struct stack_rest *known;
	uint8_t *shrunk;
	ssize_t n;

	if (tail == 0 && copy->len > 0)
		return;
	rest.addr = end_of(copy) - tail;
	known = stack_rests_find(rests, pid, time_ns, copy, copy->addr);
	if (known && known->len - (rest.addr - known->addr) >= all)
		return;
	rest.bytes = malloc(all);
	if (!rest.bytes)
		return;
	local.iov_base = rest.bytes;
	remote.iov_base = (void *)(uintptr_t)rest.addr;
	rests->reads++;
	n = process_memory_read(pid, &local, &remote, 1);
	rests->refused += n == -EPERM;
	rest.len = n > 0 ? (size_t)n : 0; /* less where the stack ends */
	if (rest.len <= tail || (tail > 0 && !has_end_of(&rest, copy))) {
		free(rest.bytes);
		return;
	}
	shrunk = realloc(rest.bytes, rest.len);
	rest.bytes = shrunk ? shrunk : rest.bytes;
	add(rests, &rest);
}
