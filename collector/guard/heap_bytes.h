// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the size that malloc is asked for -> the memory that malloc takes for it
 * units:   bytes
 * threads: any
 * errors:  none
 * source:  glibc malloc/malloc.c (request2size, sysmalloc_mmap); 64-bit machines
 *
 * Whoever sends many small things must pay for headers and rounding too, because these can be more
 * than the things. HEAP_MMAP_BYTES is what guard/heap.h sets.
 */
#ifndef FG_GUARD_HEAP_BYTES_H
#define FG_GUARD_HEAP_BYTES_H

#include <stddef.h>

#define HEAP_MMAP_BYTES ((size_t)256 << 10) /* from here on an allocation is a mapping of its own */

static inline size_t heap_bytes(size_t asked)
{
	const size_t header = 8, align = 16, least = 32, page = 4096;
	const size_t chunk = (asked + header + align - 1) & ~(align - 1);

	if (asked >= HEAP_MMAP_BYTES)
		return (asked + 2 * header + page - 1) & ~(page - 1);
	return chunk < least ? least : chunk;
}

#endif
