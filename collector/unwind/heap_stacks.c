// SPDX-License-Identifier: Apache-2.0
/* A ring of kept stacks, which is searched from the newest on; see heap_stacks.h. */
#include "unwind/heap_stacks.h"

#include <stdlib.h>
#include <string.h>

static size_t bytes_of(uint32_t depth)
{
	return depth * sizeof(struct stack_entry);
}

static void drop_oldest(struct heap_stacks *stacks)
{
	struct heap_kept *oldest = &stacks->ring[stacks->oldest];

	stacks->bytes -= bytes_of(oldest->depth);
	free(oldest->entries);
	*oldest = (struct heap_kept){0};
	stacks->oldest = (stacks->oldest + 1) % HEAP_STACKS_MAX;
	stacks->count--;
	stacks->dropped++;
}

void heap_stacks_fini(struct heap_stacks *stacks)
{
	while (stacks->count > 0)
		drop_oldest(stacks);
}

void heap_stacks_keep(struct heap_stacks *stacks, const struct heap_key *key,
		      const struct heap_stack *stack)
{
	const size_t bytes = bytes_of(stack->depth);
	struct stack_entry *entries = malloc(bytes);

	if (!entries)
		return;
	memcpy(entries, stack->entries, bytes);
	while (stacks->count == HEAP_STACKS_MAX ||
	       (stacks->count > 0 && stacks->bytes + bytes > HEAP_STACKS_MAX_BYTES))
		drop_oldest(stacks);
	stacks->ring[(stacks->oldest + stacks->count) % HEAP_STACKS_MAX] = (struct heap_kept){
		.key = *key, .entries = entries, .depth = stack->depth, .has_gap = stack->has_gap};
	stacks->count++;
	stacks->bytes += bytes;
}

const struct heap_kept *heap_stacks_find(const struct heap_stacks *stacks,
					 const struct heap_key *key)
{
	for (uint32_t i = stacks->count; i-- > 0;) {
		const struct heap_kept *kept =
			&stacks->ring[(stacks->oldest + i) % HEAP_STACKS_MAX];

		if (kept->key.time_ns == key->time_ns && kept->key.sp == key->sp &&
		    kept->key.pid == key->pid)
			return kept;
	}
	return NULL;
}
