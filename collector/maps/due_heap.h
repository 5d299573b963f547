// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   many times at which something is due -> the first of them
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: one at a time
 * errors:  -ENOMEM
 * source:  none
 *
 * A binary heap. Whoever is due has a struct due, which the heap moves about by pointer. A time
 * that changes costs the logarithm of their number. Zero-filled structs are valid: nothing is due.
 */
#ifndef FG_MAPS_DUE_HEAP_H
#define FG_MAPS_DUE_HEAP_H

#include <stddef.h>
#include <stdint.h>

struct due {
	uint64_t at_ns;
	size_t place; /* in the heap, from 1; 0: never due */
};

struct due_heap {
	struct due **dues;
	size_t count, room;
};

void due_heap_fini(struct due_heap *heap);
/* Makes room for so many that are due. */
int due_heap_reserve(struct due_heap *heap, size_t count);
/* at_ns 0: never, which takes the due out of the heap. There has to be room for all. */
void due_heap_set(struct due_heap *heap, struct due *due, uint64_t at_ns);
/* NULL: nothing is due. */
struct due *due_heap_first(const struct due_heap *heap);
size_t due_heap_bytes(const struct due_heap *heap);

#endif
