// SPDX-License-Identifier: Apache-2.0
/* Keeps what lies behind copies of stacks, see stack_remainder.h. */
#include "unwind/stack_remainder.h"

#include "memory/process_memory.h"

#include <errno.h>
#include <stdlib.h>

#define PLACE_BYTES (1u << 20)
#define PAGE_BYTES  4096
#define MAX_BYTES   (1u << 20)
#define WANT_NS	    UINT64_C(30000000000)
/* Of stacks of which it is not known how deep they are. */
#define UNKNOWN_BYTES (128u << 10)

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

static uint64_t end_of(const struct stack_copy *copy)
{
	return copy->bytes.addr + copy->bytes.len;
}

static size_t slot_of(pid_t pid, uint64_t place)
{
	const uint64_t mixed = (place ^ (uint64_t)pid << 32) * UINT64_C(0x9e3779b97f4a7c15);

	return (size_t)(mixed >> 32) % STACK_RESTS_WANTED;
}

void stack_rests_note(struct stack_rests *rests, const struct stack_copy *copy, uint64_t root)
{
	const uint64_t place = end_of(copy) / PLACE_BYTES;
	struct stack_want *want = &rests->wanted[slot_of(copy->pid, place)];

	if (want->pid != copy->pid || want->place != place)
		*want = (struct stack_want){.pid = copy->pid, .place = place};
	want->time_ns = copy->time_ns;
	if (root > want->root)
		want->root = root;
}

/*
 * As long as was asked for: else it would end with the stack's memory, or where that is unwritten.
 */
static bool is_full(const struct stack_copy *copy)
{
	return end_of(copy) % PAGE_BYTES != 0;
}

size_t stack_rests_wanted(const struct stack_rests *rests, const struct stack_copy *copy)
{
	const uint64_t end = end_of(copy), place = end / PLACE_BYTES;
	const struct stack_want *want = &rests->wanted[slot_of(copy->pid, place)];

	if (stack_tail_len(&copy->bytes) == 0)
		return 0;
	if (want->pid != copy->pid || want->place != place ||
	    copy->time_ns > want->time_ns + WANT_NS)
		return is_full(copy) ? UNKNOWN_BYTES : 0;
	if (want->root == 0)
		return UNKNOWN_BYTES;
	if (want->root <= end)
		return 0;
	return want->root - end < MAX_BYTES ? want->root - end : MAX_BYTES;
}

/* ---- which of those kept ---- */

static bool fits(const struct stack_rest *rest, const struct stack_copy *copy, uint64_t frame)
{
	const uint64_t end = end_of(copy), in_front = end - rest->addr;

	if (copy->bytes.len == 0)
		return rest->addr == copy->bytes.addr && rest->time_ns == copy->time_ns;
	return end > rest->addr && in_front < rest->len &&
	       stack_tail_is_same(&copy->bytes, frame, rest->bytes, in_front);
}

/* The last time that it is known to have been so behind the copy's end. */
static uint64_t last_seen(const struct stack_rest *rest, const struct stack_copy *copy)
{
	return end_of(copy) >= rest->settled ? rest->seen_ns : rest->read_ns;
}

/* How far the times at which it is known to have been so are from when the copy was taken. */
static uint64_t distance(const struct stack_rest *rest, const struct stack_copy *copy)
{
	const uint64_t last_ns = last_seen(rest, copy);

	if (rest->read_ns > copy->time_ns)
		return rest->read_ns - copy->time_ns;
	return last_ns < copy->time_ns ? copy->time_ns - last_ns : 0;
}

/* However late a copy's own rest was read. */
static bool is_too_old(const struct stack_rest *rest, const struct stack_copy *copy)
{
	return distance(rest, copy) > STACK_RESTS_AGE_NS && rest->time_ns != copy->time_ns;
}

static const struct stack_rest *nearer(const struct stack_rest *a, const struct stack_rest *b,
				       const struct stack_copy *copy)
{
	if (!a || !b)
		return a ? a : b;
	return distance(b, copy) < distance(a, copy) ? b : a;
}

struct stack_rests_found stack_rests_find(const struct stack_rests *rests,
					  const struct stack_copy *copy, uint64_t frame)
{
	const struct stack_rest *before = NULL, *after = NULL;
	struct stack_rests_found found = {0};

	for (uint32_t i = 0; i < rests->count; i++) {
		const struct stack_rest *rest = &rests->ring[(rests->oldest + i) % STACK_RESTS_MAX];

		if (rest->pid != copy->pid || is_too_old(rest, copy) || !fits(rest, copy, frame))
			continue;
		if (rest->read_ns <= copy->time_ns)
			before = nearer(before, rest, copy);
		else
			after = nearer(after, rest, copy);
	}
	found.nearest = nearer(before, after, copy);
	if (before && after && distance(before, copy) > 0)
		found.other = found.nearest == before ? after : before;
	return found;
}

void stack_rests_drop_last(struct stack_rests *rests, const struct stack_copy *copy)
{
	const uint32_t last = (rests->oldest + rests->count - 1) % STACK_RESTS_MAX;
	struct stack_rest *rest = &rests->ring[last];

	if (rests->count == 0 || rest->pid != copy->pid || rest->time_ns != copy->time_ns ||
	    rest->addr != copy->bytes.addr)
		return;
	rests->bytes -= rest->len;
	free(rest->bytes);
	*rest = (struct stack_rest){0};
	rests->count--;
}

/* ---- reading ---- */

/* Whether the copy's last words are in it, where they were. */
static bool has_end_of(const struct stack_rest *rest, const struct stack_copy *copy)
{
	const size_t at = end_of(copy) - rest->addr - STACK_TAIL_LEAST_BYTES;
	const struct snapshot *bytes = &copy->bytes;

	return memcmp(rest->bytes + at, bytes->bytes + bytes->len - STACK_TAIL_LEAST_BYTES,
		      STACK_TAIL_LEAST_BYTES) == 0;
}

static struct stack_rest *newest(struct stack_rests *rests, const struct stack_copy *copy)
{
	struct stack_rest *found = NULL;

	for (uint32_t i = 0; i < rests->count; i++) {
		struct stack_rest *rest = &rests->ring[(rests->oldest + i) % STACK_RESTS_MAX];

		if (rest->pid == copy->pid && fits(rest, copy, copy->bytes.addr) &&
		    (!found || last_seen(rest, copy) > last_seen(found, copy)))
			found = rest;
	}
	return found;
}

static bool has_behind(const struct stack_rest *rest, const struct stack_copy *copy, size_t len)
{
	return rest->is_all || rest->len - (end_of(copy) - rest->addr) >= len;
}

/*
 * Whether rest, read now, says the same of what lies behind the copy, and no more than known does.
 */
static bool is_same_behind(const struct stack_rest *known, const struct stack_rest *rest,
			   const struct stack_copy *copy)
{
	const size_t known_at = end_of(copy) - known->addr, at = end_of(copy) - rest->addr;

	return known->len - known_at >= rest->len - at &&
	       memcmp(known->bytes + known_at, rest->bytes + at, rest->len - at) == 0;
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

/* Its bytes are allocated; none if they are not to be had, or are of another stack by now. */
static void read_behind(struct stack_rests *rests, const struct stack_copy *copy, size_t len,
			struct stack_rest *rest)
{
	const size_t tail = stack_tail_len(&copy->bytes);
	const struct iovec remote = {.iov_base = (void *)(uintptr_t)(end_of(copy) - tail),
				     .iov_len = tail + len};
	struct iovec local = {.iov_base = malloc(tail + len), .iov_len = tail + len};
	ssize_t n;

	if (!local.iov_base)
		return;
	rests->reads++;
	n = process_memory_read(copy->pid, &local, &remote, 1);
	rests->refused += n == -EPERM;
	rest->addr = end_of(copy) - tail;
	rest->bytes = local.iov_base;
	rest->len = n > 0 ? (size_t)n : 0;
	rest->is_all = rest->len < tail + len;
	if (rest->len > tail && (tail == 0 || has_end_of(rest, copy)))
		return;
	free(rest->bytes);
	rest->bytes = NULL;
}

void stack_rests_keep(struct stack_rests *rests, const struct stack_copy *copy, size_t len,
		      uint64_t now_ns)
{
	struct stack_rest rest = {
		.pid = copy->pid, .time_ns = copy->time_ns, .read_ns = now_ns, .seen_ns = now_ns};
	struct stack_rest *known;
	uint8_t *shrunk;

	if (copy->bytes.len > 0 && stack_tail_len(&copy->bytes) == 0)
		return;
	if (len > MAX_BYTES)
		len = MAX_BYTES;
	known = newest(rests, copy);
	if (known && last_seen(known, copy) >= copy->time_ns && has_behind(known, copy, len))
		return;
	read_behind(rests, copy, len, &rest);
	if (!rest.bytes)
		return;
	if (known && is_same_behind(known, &rest, copy)) {
		if (known->settled < end_of(copy))
			known->settled = end_of(copy);
		known->seen_ns = now_ns;
		free(rest.bytes);
		return;
	}
	shrunk = realloc(rest.bytes, rest.len);
	rest.bytes = shrunk ? shrunk : rest.bytes;
	add(rests, &rest);
}
