// SPDX-License-Identifier: Apache-2.0
/* Grows arrays, see array.h. */
#include "base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A pointer is copied by its bytes, because pointers of all types are stored alike. */
int array_reserve(void *array, size_t *size, size_t wanted, size_t element_bytes)
{
	size_t grown = *size ? *size : ARRAY_FIRST;
	void *items, *moved;

	if (wanted <= *size)
		return 0;
	while (grown < wanted && grown <= SIZE_MAX / 2)
		grown *= 2;
	memcpy(&items, array, sizeof(items));
	if (grown < wanted || grown > SIZE_MAX / element_bytes)
		return -ENOMEM;
	moved = realloc(items, grown * element_bytes);
	if (!moved)
		return -ENOMEM;
	memcpy(array, &moved, sizeof(moved));
	*size = grown;
	return 0;
}

int array_reserve_u32(void *array, uint32_t *size, size_t wanted, size_t element_bytes)
{
	size_t grown = *size;
	int err;

	/* The last doubling may not lead past what the size can say. */
	if (wanted > UINT32_MAX / 2 + 1)
		return -ENOMEM;
	err = array_reserve(array, &grown, wanted, element_bytes);
	*size = (uint32_t)grown;
	return err;
}

void *array_trim(void *items, size_t count, size_t element_bytes)
{
	void *const exact = count ? reallocarray(items, count, element_bytes) : NULL;

	return exact ? exact : items;
}

int array_by_u64(const void *a, const void *b)
{
	const uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;

	return (one > other) - (one < other);
}

int array_by_i32(const void *a, const void *b)
{
	const int32_t one = *(const int32_t *)a, other = *(const int32_t *)b;

	return (one > other) - (one < other);
}
