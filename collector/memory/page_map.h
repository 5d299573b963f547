// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   addresses of a process -> what the kernel has of their pages
 * units:   addresses, pages of PAGE_MAP_PAGE_BYTES
 * threads: the model's
 * errors:  negative errno; -ETIMEDOUT: the kernel has not answered in time
 * source:  Documentation/admin-guide/mm/pagemap.rst
 *
 * A page that cannot be read in an interrupt was either never written to, and reads as zeros, or
 * has been swapped out, or is on the move. Only the page map tells which.
 */
#ifndef FG_MEMORY_PAGE_MAP_H
#define FG_MEMORY_PAGE_MAP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PAGE_MAP_PAGE_BYTES 4096u
#define PAGE_MAP_MAX_PAGES  64u

/* Of n pages; bit i is of page i. */
struct page_map {
	uint64_t untouched; /* the kernel has nothing: the page was never written to */
	uint64_t swapped;   /* the page has been swapped out */
};

/* Finds out about n pages from the one of addr on. */
int page_map_read(pid_t pid, uint64_t addr, size_t n, struct page_map *ret);

#endif
