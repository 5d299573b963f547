// SPDX-License-Identifier: Apache-2.0
/* A binary heap of times, see due_heap.h. The place of an element is its index and 1. */
#include "maps/due_heap.h"

#include "base/array.h"

#include <assert.h>
#include <stdlib.h>

void due_heap_fini(struct due_heap *heap)
{
	free(heap->dues);
	*heap = (struct due_heap){0};
}

int due_heap_reserve(struct due_heap *heap, size_t count)
{
	return ARRAY_RESERVE(heap->dues, heap->room, count);
}

static void put(struct due_heap *heap, size_t place, struct due *due)
{
	heap->dues[place - 1] = due;
	due->place = place;
}

static uint64_t at(const struct due_heap *heap, size_t place)
{
	return heap->dues[place - 1]->at_ns;
}

/* Puts the due into a place that is free, or above or below it. */
static void settle(struct due_heap *heap, size_t place, struct due *due)
{
	while (place > 1 && at(heap, place / 2) > due->at_ns) {
		put(heap, place, heap->dues[place / 2 - 1]);
		place /= 2;
	}
	for (size_t child; (child = 2 * place) <= heap->count; place = child) {
		child += child < heap->count && at(heap, child + 1) < at(heap, child);
		if (at(heap, child) >= due->at_ns)
			break;
		put(heap, place, heap->dues[child - 1]);
	}
	put(heap, place, due);
}

static void take_out(struct due_heap *heap, struct due *due)
{
	struct due *const last = heap->dues[--heap->count];
	const size_t place = due->place;

	due->place = 0;
	if (last != due)
		settle(heap, place, last);
}

void due_heap_set(struct due_heap *heap, struct due *due, uint64_t at_ns)
{
	if (at_ns == 0) {
		if (due->place)
			take_out(heap, due);
		return;
	}
	due->at_ns = at_ns;
	if (!due->place) {
		assert(heap->count < heap->room);
		due->place = ++heap->count;
	}
	settle(heap, due->place, due);
}

struct due *due_heap_first(const struct due_heap *heap)
{
	return heap->count ? heap->dues[0] : NULL;
}

size_t due_heap_bytes(const struct due_heap *heap)
{
	return heap->room * sizeof(struct due *);
}
