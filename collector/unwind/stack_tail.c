// SPDX-License-Identifier: Apache-2.0
/* Compares the end of a snapshot with the same addresses later, see stack_tail.h. */
#include "unwind/stack_tail.h"

#define PAGE_BYTES	4096	    /* a page, or a fraction of a page */
#define MOST_CHANGED	8	    /* at most one changed word in so many */
#define NEAR_CODE_BYTES (16u << 10) /* size of one function, with others inlined into it */

size_t stack_tail_len(const struct snapshot *copy)
{
	if (copy->len < STACK_TAIL_LEAST_BYTES)
		return 0;
	return copy->len < STACK_TAIL_BYTES ? copy->len : STACK_TAIL_BYTES;
}

static uint64_t word_at(const uint8_t *bytes)
{
	uint64_t word;

	memcpy(&word, bytes, sizeof(word));
	return word;
}

static bool is_near(uint64_t a, uint64_t b)
{
	return (a > b ? a - b : b - a) < NEAR_CODE_BYTES;
}

static bool is_alike(const uint8_t *then, const uint8_t *now, size_t words)
{
	size_t changed = 0;

	for (size_t i = 0; i < words; i++)
		changed += word_at(then + i * WORD_BYTES) != word_at(now + i * WORD_BYTES);
	return changed * MOST_CHANGED <= words;
}

static bool is_equal(const uint8_t *then, const uint8_t *now, size_t len)
{
	return memcmp(then, now, len) == 0;
}

bool stack_tail_is_same(const struct snapshot *copy, uint64_t frame, const uint8_t *now, size_t len)
{
	const uint64_t end = copy->addr + copy->len;
	const uint64_t own = frame < end ? end - frame : 0;
	const size_t all = stack_tail_len(copy);
	const size_t equal = all < STACK_TAIL_EQUAL_BYTES ? all : STACK_TAIL_EQUAL_BYTES;
	const bool is_one = end % PAGE_BYTES == 0 && all > WORD_BYTES && own <= all - WORD_BYTES;
	const uint8_t *const then_end = copy->bytes + copy->len, *const now_end = now + len;
	const size_t least = STACK_TAIL_LEAST_BYTES;

	if (all == 0 || len < least || len < (is_one ? own + WORD_BYTES : equal))
		return false;
	if (!is_one)
		return is_equal(then_end - equal, now_end - equal, equal);
	return is_equal(then_end - least, now_end - least, least) &&
	       is_near(word_at(then_end - own - WORD_BYTES), word_at(now_end - own - WORD_BYTES)) &&
	       is_alike(then_end - own, now_end - own, own / WORD_BYTES);
}
