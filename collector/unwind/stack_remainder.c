// SPDX-License-Identifier: Apache-2.0
/* Reads, keeps and finds stack remainders, see stack_remainder.h. */
#include "unwind/stack_remainder.h"

#include "base/array.h"
#include "memory/process_memory.h"

#include <errno.h>
#include <stdlib.h>

#define PLACE_BYTES (1u << 20)
#define PAGE_BYTES  4096
#define MAX_BYTES   (1u << 20)
#define WANT_NS	    UINT64_C(30000000000)
/* Bytes kept of a stack whose depth is not known. */
#define UNKNOWN_BYTES (128u << 10)

static void drop_oldest(struct stack_remainders *remainders)
{
	struct stack_remainder *remainder = &remainders->ring[remainders->oldest];

	remainders->bytes -= remainder->len;
	free(remainder->bytes);
	*remainder = (struct stack_remainder){0};
	remainders->oldest = (remainders->oldest + 1) % STACK_REMAINDERS_MAX;
	remainders->count--;
}

void stack_remainders_fini(struct stack_remainders *remainders)
{
	while (remainders->count > 0)
		drop_oldest(remainders);
}

static uint64_t end_of(const struct stack_copy *copy)
{
	return copy->bytes.addr + copy->bytes.len;
}

static size_t slot_of(pid_t pid, uint64_t place)
{
	const uint64_t mixed = (place ^ (uint64_t)pid << 32) * UINT64_C(0x9e3779b97f4a7c15);

	return (size_t)(mixed >> 32) % STACK_REMAINDERS_WANTED;
}

void stack_remainders_note(struct stack_remainders *remainders, const struct stack_copy *copy,
			   uint64_t root)
{
	const uint64_t place = end_of(copy) / PLACE_BYTES;
	struct stack_want *want = &remainders->wanted[slot_of(copy->pid, place)];

	if (want->pid != copy->pid || want->place != place)
		*want = (struct stack_want){.pid = copy->pid, .place = place};
	want->time_ns = copy->time_ns;
	if (root > want->root)
		want->root = root;
}

/*
 * Whether the snapshot is as long as the kernel was asked for. Otherwise the snapshot ends with a
 * page: where the stack's memory ends, or has never been written to.
 */
static bool is_full(const struct stack_copy *copy)
{
	return end_of(copy) % PAGE_BYTES != 0;
}

size_t stack_remainders_wanted(const struct stack_remainders *remainders,
			       const struct stack_copy *copy)
{
	const uint64_t end = end_of(copy), place = end / PLACE_BYTES;
	const struct stack_want *want = &remainders->wanted[slot_of(copy->pid, place)];

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

/* ---- which remainder ---- */

static bool fits(const struct stack_remainder *remainder, const struct stack_copy *copy,
		 uint64_t frame)
{
	const uint64_t end = end_of(copy), in_front = end - remainder->addr;

	if (copy->bytes.len == 0)
		return remainder->addr == copy->bytes.addr && remainder->time_ns == copy->time_ns;
	return end > remainder->addr && in_front < remainder->len &&
	       stack_tail_is_same(&copy->bytes, frame, remainder->bytes, in_front);
}

/* The last time at which the bytes behind the copy's end are known to have been unchanged. */
static uint64_t last_seen(const struct stack_remainder *remainder, const struct stack_copy *copy)
{
	return end_of(copy) >= remainder->settled ? remainder->seen_ns : remainder->read_ns;
}

/*
 * How far the copy's time is from the times at which these bytes are known to have been unchanged.
 */
static uint64_t distance(const struct stack_remainder *remainder, const struct stack_copy *copy)
{
	const uint64_t last_ns = last_seen(remainder, copy);

	if (remainder->read_ns > copy->time_ns)
		return remainder->read_ns - copy->time_ns;
	return last_ns < copy->time_ns ? copy->time_ns - last_ns : 0;
}

/* Whether the remainder is too far from the copy in time. A copy's own remainder never is. */
static bool is_too_old(const struct stack_remainder *remainder, const struct stack_copy *copy)
{
	return distance(remainder, copy) > STACK_REMAINDERS_AGE_NS &&
	       remainder->time_ns != copy->time_ns;
}

static const struct stack_remainder *nearer(const struct stack_remainder *a,
					    const struct stack_remainder *b,
					    const struct stack_copy *copy)
{
	if (!a || !b)
		return a ? a : b;
	return distance(b, copy) < distance(a, copy) ? b : a;
}

struct stack_remainders_found stack_remainders_find(const struct stack_remainders *remainders,
						    const struct stack_copy *copy, uint64_t frame)
{
	const struct stack_remainder *before = NULL, *after = NULL;
	struct stack_remainders_found found = {0};

	for (uint32_t i = 0; i < remainders->count; i++) {
		const struct stack_remainder *remainder =
			&remainders->ring[(remainders->oldest + i) % STACK_REMAINDERS_MAX];

		if (remainder->pid != copy->pid || is_too_old(remainder, copy) ||
		    !fits(remainder, copy, frame))
			continue;
		if (remainder->read_ns <= copy->time_ns)
			before = nearer(before, remainder, copy);
		else
			after = nearer(after, remainder, copy);
	}
	found.nearest = nearer(before, after, copy);
	if (before && after && distance(before, copy) > 0)
		found.other = found.nearest == before ? after : before;
	return found;
}

void stack_remainders_drop_last(struct stack_remainders *remainders, const struct stack_copy *copy)
{
	const uint32_t last = (remainders->oldest + remainders->count - 1) % STACK_REMAINDERS_MAX;
	struct stack_remainder *remainder = &remainders->ring[last];

	if (remainders->count == 0 || remainder->pid != copy->pid ||
	    remainder->time_ns != copy->time_ns || remainder->addr != copy->bytes.addr)
		return;
	remainders->bytes -= remainder->len;
	free(remainder->bytes);
	*remainder = (struct stack_remainder){0};
	remainders->count--;
}

/* ---- reading ---- */

/* Whether the remainder has the copy's last words at their addresses. */
static bool has_end_of(const struct stack_remainder *remainder, const struct stack_copy *copy)
{
	const size_t at = end_of(copy) - remainder->addr - STACK_TAIL_LEAST_BYTES;
	const struct snapshot *bytes = &copy->bytes;

	return memcmp(remainder->bytes + at, bytes->bytes + bytes->len - STACK_TAIL_LEAST_BYTES,
		      STACK_TAIL_LEAST_BYTES) == 0;
}

static struct stack_remainder *newest(struct stack_remainders *remainders,
				      const struct stack_copy *copy)
{
	struct stack_remainder *found = NULL;

	for (uint32_t i = 0; i < remainders->count; i++) {
		struct stack_remainder *remainder =
			&remainders->ring[(remainders->oldest + i) % STACK_REMAINDERS_MAX];

		if (remainder->pid == copy->pid && fits(remainder, copy, copy->bytes.addr) &&
		    (!found || last_seen(remainder, copy) > last_seen(found, copy)))
			found = remainder;
	}
	return found;
}

static bool has_behind(const struct stack_remainder *remainder, const struct stack_copy *copy,
		       size_t len)
{
	return remainder->is_all || remainder->len - (end_of(copy) - remainder->addr) >= len;
}

/*
 * Whether remainder, which was read now, has the same bytes behind the copy as known, and no more
 * bytes than known.
 */
static bool is_same_behind(const struct stack_remainder *known,
			   const struct stack_remainder *remainder, const struct stack_copy *copy)
{
	const size_t known_at = end_of(copy) - known->addr, at = end_of(copy) - remainder->addr;

	return known->len - known_at >= remainder->len - at &&
	       memcmp(known->bytes + known_at, remainder->bytes + at, remainder->len - at) == 0;
}

/* Adds the remainder, and takes ownership of its bytes. */
static void add(struct stack_remainders *remainders, const struct stack_remainder *remainder)
{
	while (remainders->count > 0 &&
	       remainders->ring[remainders->oldest].time_ns + STACK_REMAINDERS_KEPT_NS <
		       remainder->time_ns)
		drop_oldest(remainders);
	while (remainders->count == STACK_REMAINDERS_MAX ||
	       (remainders->count > 0 &&
		remainders->bytes + remainder->len > STACK_REMAINDERS_MAX_BYTES)) {
		drop_oldest(remainders);
		remainders->dropped++;
	}
	remainders->ring[(remainders->oldest + remainders->count++) % STACK_REMAINDERS_MAX] =
		*remainder;
	remainders->bytes += remainder->len;
}

/*
 * Reads the remainder behind the copy, and allocates its bytes. The bytes stay NULL if they cannot
 * be read, or belong to another stack by now.
 */
static void read_behind(struct stack_remainders *remainders, const struct stack_copy *copy,
			size_t len, struct stack_remainder *remainder)
{
	const size_t tail = stack_tail_len(&copy->bytes);
	const struct iovec remote = {.iov_base = (void *)(uintptr_t)(end_of(copy) - tail),
				     .iov_len = tail + len};
	struct iovec local = {.iov_base = malloc(tail + len), .iov_len = tail + len};
	ssize_t n;

	if (!local.iov_base)
		return;
	remainders->reads++;
	n = process_memory_read(copy->pid, &local, &remote, 1);
	remainders->refused += n == -EPERM;
	remainder->addr = end_of(copy) - tail;
	remainder->bytes = local.iov_base;
	remainder->len = n > 0 ? (size_t)n : 0;
	remainder->is_all = remainder->len < tail + len;
	if (remainder->len > tail && (tail == 0 || has_end_of(remainder, copy)))
		return;
	free(remainder->bytes);
	remainder->bytes = NULL;
}

void stack_remainders_keep(struct stack_remainders *remainders, const struct stack_copy *copy,
			   size_t len, uint64_t now_ns)
{
	struct stack_remainder remainder = {
		.pid = copy->pid, .time_ns = copy->time_ns, .read_ns = now_ns, .seen_ns = now_ns};
	struct stack_remainder *known;

	if (copy->bytes.len > 0 && stack_tail_len(&copy->bytes) == 0)
		return;
	if (len > MAX_BYTES)
		len = MAX_BYTES;
	known = newest(remainders, copy);
	if (known && last_seen(known, copy) >= copy->time_ns && has_behind(known, copy, len))
		return;
	read_behind(remainders, copy, len, &remainder);
	if (!remainder.bytes)
		return;
	if (known && is_same_behind(known, &remainder, copy)) {
		if (known->settled < end_of(copy))
			known->settled = end_of(copy);
		known->seen_ns = now_ns;
		free(remainder.bytes);
		return;
	}
	remainder.bytes = array_trim(remainder.bytes, remainder.len, 1);
	add(remainders, &remainder);
}
