// SPDX-License-Identifier: Apache-2.0
/* Finds out what pages of a stack were that the kernel could not read, see recording.h. */
#include "recording/recording.h"

#include "memory/page_map.h"
#include "sample/sample_regs.h"

#include <assert.h>
#include <string.h>

#define PAGE_BYTES PAGE_MAP_PAGE_BYTES

static_assert(SAMPLER_MAX_STACK_BYTES / PAGE_BYTES + 2 <= PAGE_MAP_MAX_PAGES,
	      "the pages of a snapshot fit into a word");

/* Where page i of the stack lies in the snapshot. The first page is that of the stack pointer. */
static size_t page_at(uint64_t sp, unsigned i)
{
	return i == 0 ? 0 : (size_t)(i * PAGE_BYTES - sp % PAGE_BYTES);
}

/* The number of pages that the snapshot touches. */
static unsigned count_pages(uint64_t sp, size_t len)
{
	return (unsigned)((sp % PAGE_BYTES + len + PAGE_BYTES - 1) / PAGE_BYTES);
}

static void end_at_page(struct sample *sample, size_t len)
{
	sample->stack_len = (uint32_t)(len / sizeof(uint64_t) * sizeof(uint64_t));
	sample->ends_at_page = true;
}

void recording_settle_pages(const struct record *record, struct record *ret)
{
	static uint8_t bytes[SAMPLER_MAX_STACK_BYTES + PAGE_BYTES]; /* the model's thread's */
	struct sample *const sample = &ret->sample;
	uint64_t sp, unread = record->sample.unread_pages;
	struct page_map map = {0};
	unsigned n;

	*ret = *record;
	if (!sample->stack || !sample->regs)
		return;
	if (sample->stack_len > sizeof(bytes))
		sample->stack_len = sizeof(bytes);
	sp = sample_regs_get(sample->regs, SAMPLE_REG_SP);
	n = count_pages(sp, sample->stack_len);
	memcpy(bytes, sample->stack, sample->stack_len);
	sample->stack = bytes;
	page_map_read(ret->pid, sp, n, &map); /* of who is gone nothing is known */
	for (unsigned i = 0; i < n; i++) {
		const size_t at = page_at(sp, i), end = page_at(sp, i + 1);

		if (!(unread >> i & 1))
			continue;
		if (map.swapped >> i & 1) {
			unread &= (UINT64_C(1) << i) - 1;
			end_at_page(sample, at);
			break;
		}
		memset(bytes + at, 0, (end < sample->stack_len ? end : sample->stack_len) - at);
		if (map.untouched >> i & 1)
			unread &= ~(UINT64_C(1) << i);
	}
	sample->unread_pages = unread;
}
