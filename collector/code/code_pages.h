// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   page number -> links to the code ranges that touch the page, the newest last
 * units:   addr in the target's address space, pages of 4 KiB, low and high bytes within a page,
 *          birth_ns as in struct code_range
 * threads: one at a time
 * errors:  negative errno; -ENOSPC where a page or the list of big ranges is full
 * source:  none
 *
 * The index of struct code_map. The index knows a range by the id, the addr and the size with which
 * the range was added. Which ranges live, and which range is forgotten when a page is full, is
 * decided by the code map. A page that exists has at least one link.
 *
 * A range of more than CODE_BIG_PAGES pages is linked to no page: its id is in bigs, and every
 * look-up has to walk bigs too. An ordinary JVM has hardly any range of this size.
 *
 * Look-ups are on the path of every sample and read the structs below directly. A link has the
 * birth of its range, so that most look-ups end without reading the range.
 */
#ifndef FG_CODE_CODE_PAGES_H
#define FG_CODE_CODE_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CODE_PAGE_SHIFT 12
#define CODE_PAGE_BYTES (UINT64_C(1) << CODE_PAGE_SHIFT)

/* A page has room for 256 living ranges of 16 bytes; the other links are for dead ranges. */
#define CODE_PAGE_LINKS_MAX 512

#define CODE_BIG_PAGES 64
#define CODE_BIG_MAX   64

/* The bytes of a page that a range covers: low <= offset < high. */
struct code_link {
	uint32_t id;
	uint16_t low, high;
	uint64_t birth_ns;
};

struct code_page {
	struct code_page *next; /* in the hash bucket */
	uint64_t number;
	uint32_t count, size;
	struct code_link links[]; /* the newest last */
};

struct code_pages {
	struct code_page **buckets;
	unsigned int bucket_bits;
	size_t page_count, page_bytes, link_count;
	size_t freed; /* buckets whose pages code_pages_free_some has freed */
	uint64_t seed,
		factor; /* random, so that agents cannot send addresses that collide in the hash */

	uint32_t bigs[CODE_BIG_MAX]; /* ids of big ranges, the newest last */
	size_t big_count;
};

int code_pages_init(struct code_pages *pages); /* -ENOMEM: code_pages_fini must not be called */
void code_pages_fini(struct code_pages *pages);
/* Frees the pages of max buckets at most. True: all are freed. Only code_pages_fini may follow. */
bool code_pages_free_some(struct code_pages *pages, size_t max);

/* Adds a link to one page. -ENOMEM; -ENOSPC if the page has CODE_PAGE_LINKS_MAX links. */
int code_pages_add(struct code_pages *pages, uint64_t number, struct code_link link);

/* The range's link on one page, whose birth_ns the caller may change; NULL if there is none. */
struct code_link *code_pages_link(struct code_pages *pages, uint64_t number, uint32_t id);

/* -ENOSPC if there are CODE_BIG_MAX big ranges already. */
int code_pages_add_big(struct code_pages *pages, uint32_t id);

/*
 * Removes a range, big or not, from all its pages. A range that was never added, or was added to
 * some of its pages only, is legal. Pages that become empty are freed.
 */
void code_pages_remove(struct code_pages *pages, uint32_t id, uint64_t addr, uint32_t size);

/* The allocated memory, without the struct itself. */
size_t code_pages_bytes(const struct code_pages *pages);

static inline uint64_t code_page_number(uint64_t addr)
{
	return addr >> CODE_PAGE_SHIFT;
}

static inline unsigned int code_page_offset(uint64_t addr)
{
	return addr & (CODE_PAGE_BYTES - 1);
}

/* The number of the last page of a range; size must not be 0, and addr + size must not wrap. */
static inline uint64_t code_page_last(uint64_t addr, uint32_t size)
{
	return code_page_number(addr + size - 1);
}

static inline bool code_pages_is_big(uint64_t addr, uint32_t size)
{
	return code_page_last(addr, size) - code_page_number(addr) >= CODE_BIG_PAGES;
}

/* The link of a range on a page that the range touches; birth_ns is 0. */
static inline struct code_link code_link_of(uint32_t id, uint64_t addr, uint32_t size,
					    uint64_t number)
{
	const uint64_t page_addr = number << CODE_PAGE_SHIFT, last = addr + size - 1 - page_addr;

	return (struct code_link){
		.id = id,
		.low = addr > page_addr ? (uint16_t)(addr - page_addr) : 0,
		.high = (uint16_t)(last < CODE_PAGE_BYTES ? last + 1 : CODE_PAGE_BYTES),
	};
}

static inline size_t code_pages_bucket(const struct code_pages *pages, uint64_t number)
{
	uint64_t hash = (number ^ pages->seed) * UINT64_C(0x9e3779b97f4a7c15);

	hash = (hash ^ hash >> 32) * pages->factor;
	return (size_t)(hash >> (64 - pages->bucket_bits));
}

/* Borrowed until the next add or remove; NULL if no range is linked to the page. */
static inline const struct code_page *code_pages_find(const struct code_pages *pages,
						      uint64_t number)
{
	const struct code_page *page = pages->buckets[code_pages_bucket(pages, number)];

	while (page && page->number != number)
		page = page->next;
	return page;
}

#endif
