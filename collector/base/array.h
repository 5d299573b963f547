// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   an array by malloc, with the number of elements it has room for -> room for more
 * units:   elements
 * threads: one at a time
 * errors:  -ENOMEM, also where the bytes would not fit in size_t; the array is as it was
 * source:  none
 *
 * An array starts with ARRAY_FIRST elements and doubles. Where somebody pays for the memory, or
 * there is a most, the caller looks before it asks.
 */
#ifndef FG_BASE_ARRAY_H
#define FG_BASE_ARRAY_H

#include <stddef.h>
#include <stdint.h>

#define ARRAY_FIRST 16u

/* What ARRAY_RESERVE calls. array: the address of the pointer. */
int array_reserve(void *array, size_t *size, size_t wanted, size_t element_bytes);
int array_reserve_u32(void *array, uint32_t *size, size_t wanted, size_t element_bytes);

/*
 * Makes room for so many elements in items, a pointer; size, a size_t or uint32_t, is for how many
 * there is room. Returns 0. Elements that are new are not cleared. Arguments are evaluated twice.
 */
#define ARRAY_RESERVE(items, size, wanted)                                                         \
	((wanted) <= (size) ? 0                                                                    \
			    : _Generic((size), uint32_t                                            \
				       : array_reserve_u32, size_t                                 \
				       : array_reserve)((void *)&(items), &(size), (wanted),       \
							sizeof(*(items))))

/*
 * The index of the first element from first to end that is not below something; end: all are.
 * Elements are sorted, is_below says so of element i, and is evaluated for as few as bisection
 * needs.
 */
#define ARRAY_COUNT_BELOW(first, end, i, is_below)                                                 \
	__extension__({                                                                            \
		size_t low_ = (first), high_ = (end);                                              \
		while (low_ < high_) {                                                             \
			const size_t i = low_ + (high_ - low_) / 2;                                \
			if (is_below)                                                              \
				low_ = i + 1;                                                      \
			else                                                                       \
				high_ = i;                                                         \
		}                                                                                  \
		low_;                                                                              \
	})

/* For qsort(3) and bsearch(3). */
int array_by_u64(const void *a, const void *b);
int array_by_i32(const void *a, const void *b);

/* Gives back the room behind count elements, which it returns, moved or not. */
void *array_trim(void *items, size_t count, size_t element_bytes);

#endif
