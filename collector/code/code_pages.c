// SPDX-License-Identifier: Apache-2.0
/*
 * The page index of a code map, see code_pages.h.
 *
 * A hash table of chained pages. A page and its links are one allocation, which doubles. A page is
 * made with its first link and freed with its last link. The hash has a random key, because the
 * addresses come from inside a container.
 */
#include "code/code_pages.h"

#include "guard/heap_bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define FIRST_BUCKET_BITS 6
#define FIRST_LINKS	  2

static size_t bucket_count(const struct code_pages *pages)
{
	return (size_t)1 << pages->bucket_bits;
}

int code_pages_init(struct code_pages *pages)
{
	uint64_t random[2] = {0, 0};

	*pages = (struct code_pages){.bucket_bits = FIRST_BUCKET_BITS};
	pages->buckets = calloc(bucket_count(pages), sizeof(struct code_page *));
	if (!pages->buckets)
		return -ENOMEM;
	/*
	 * Early in a boot there may be no random bytes yet. The address of pages then serves as the
	 * seed.
	 */
	if (getrandom(random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
		random[0] = random[1] = (uint64_t)(uintptr_t)pages;
	pages->seed = random[0];
	pages->factor = random[1] | 1;
	return 0;
}

bool code_pages_free_some(struct code_pages *pages, size_t max)
{
	for (; pages->freed < bucket_count(pages); pages->freed++) {
		struct code_page **const bucket = &pages->buckets[pages->freed];

		if (max-- == 0)
			return false;
		for (struct code_page *page; (page = *bucket);) {
			*bucket = page->next;
			free(page);
		}
	}
	return true;
}

void code_pages_fini(struct code_pages *pages)
{
	code_pages_free_some(pages, SIZE_MAX);
	free(pages->buckets);
}

/* The pointer to the page, or the NULL pointer where the page belongs. */
static struct code_page **page_slot(const struct code_pages *pages, uint64_t number)
{
	struct code_page **slot = &pages->buckets[code_pages_bucket(pages, number)];

	while (*slot && (*slot)->number != number)
		slot = &(*slot)->next;
	return slot;
}

/* Doubles the number of buckets. Without memory for more buckets the chains only become longer. */
static void grow_buckets(struct code_pages *pages)
{
	const size_t count = bucket_count(pages);
	struct code_page **old = pages->buckets;
	struct code_page **buckets = calloc(count * 2, sizeof(struct code_page *));

	if (!buckets)
		return;
	pages->buckets = buckets;
	pages->bucket_bits++;
	for (size_t i = 0; i < count; i++) {
		for (struct code_page *page = old[i], *next; page; page = next) {
			struct code_page **bucket =
				&buckets[code_pages_bucket(pages, page->number)];

			next = page->next;
			page->next = *bucket;
			*bucket = page;
		}
	}
	free(old);
}

static size_t bytes_of_page(uint32_t size)
{
	return sizeof(struct code_page) + size * sizeof(struct code_link);
}

/* Makes room for one more link in *slot, which may be NULL. */
static int grow_page(struct code_pages *pages, struct code_page **slot, uint64_t number)
{
	const uint32_t old_size = *slot ? (*slot)->size : 0;
	const uint32_t size = old_size ? old_size * 2 : FIRST_LINKS;
	struct code_page *page = realloc(*slot, bytes_of_page(size));

	if (!page)
		return -ENOMEM;
	if (old_size == 0) {
		*page = (struct code_page){.number = number};
		pages->page_count++;
	}
	pages->page_bytes += heap_bytes(bytes_of_page(size));
	pages->page_bytes -= old_size ? heap_bytes(bytes_of_page(old_size)) : 0;
	page->size = size;
	*slot = page;
	return 0;
}

int code_pages_add(struct code_pages *pages, uint64_t number, struct code_link link)
{
	struct code_page **slot;

	if (pages->page_count >= bucket_count(pages))
		grow_buckets(pages);
	slot = page_slot(pages, number);
	if (*slot && (*slot)->count == CODE_PAGE_LINKS_MAX)
		return -ENOSPC;
	if (!*slot || (*slot)->count == (*slot)->size) {
		const int err = grow_page(pages, slot, number);

		if (err)
			return err;
	}
	(*slot)->links[(*slot)->count++] = link;
	pages->link_count++;
	return 0;
}

struct code_link *code_pages_link(struct code_pages *pages, uint64_t number, uint32_t id)
{
	struct code_page *page = *page_slot(pages, number);

	for (uint32_t i = 0; page && i < page->count; i++) {
		if (page->links[i].id == id)
			return &page->links[i];
	}
	return NULL;
}

int code_pages_add_big(struct code_pages *pages, uint32_t id)
{
	if (pages->big_count == CODE_BIG_MAX)
		return -ENOSPC;
	pages->bigs[pages->big_count++] = id;
	return 0;
}

static void remove_big(struct code_pages *pages, uint32_t id)
{
	uint32_t *bigs = pages->bigs;
	size_t i = 0;

	while (i < pages->big_count && bigs[i] != id)
		i++;
	if (i == pages->big_count)
		return;
	pages->big_count--;
	memmove(&bigs[i], &bigs[i + 1], (pages->big_count - i) * sizeof(bigs[0]));
}

static void remove_link(struct code_pages *pages, uint64_t number, uint32_t id)
{
	struct code_page **slot = page_slot(pages, number), *page = *slot;
	struct code_link *link = code_pages_link(pages, number, id);

	if (!link)
		return;
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): the link lies in the page */
	page->count--;
	memmove(link, link + 1, (size_t)(&page->links[page->count] - link) * sizeof(*link));
	pages->link_count--;
	if (page->count > 0)
		return;
	*slot = page->next;
	pages->page_count--;
	pages->page_bytes -= heap_bytes(bytes_of_page(page->size));
	free(page);
}

void code_pages_remove(struct code_pages *pages, uint32_t id, uint64_t addr, uint32_t size)
{
	if (code_pages_is_big(addr, size)) {
		remove_big(pages, id);
		return;
	}
	for (uint64_t n = code_page_number(addr); n <= code_page_last(addr, size); n++)
		remove_link(pages, n, id);
}

size_t code_pages_bytes(const struct code_pages *pages)
{
	return pages->page_bytes + heap_bytes(bucket_count(pages) * sizeof(struct code_page *));
}
