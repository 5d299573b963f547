// SPDX-License-Identifier: Apache-2.0
/* Finds addresses by segment, see elf_layout.h. */
#include "elf/elf_layout.h"

#include <errno.h>
#include <string.h>

#define MAX_PAGE_BYTES (64u << 10) /* segments are mapped in whole pages; no page is larger */

/* Whether the segment holds file_off when it is widened to whole pages, as the kernel maps it. */
static bool segment_holds(const struct elf_segment *segment, uint64_t file_off, uint64_t page_bytes)
{
	const uint64_t end = segment->file_off + segment->file_bytes;
	const uint64_t start = segment->file_off & ~(page_bytes - 1);

	return segment->file_bytes > 0 && file_off >= start &&
	       file_off < end + (-end & (page_bytes - 1));
}

/*
 * Mappings of interest hold code: of segments that share a page of the file, the executable segment
 * is chosen. A segment that holds the byte itself is chosen before a segment that is only mapped
 * with it.
 */
int elf_layout_addr_of(const struct elf_layout *layout, uint64_t file_off, uint64_t *ret_elf_addr)
{
	const struct elf_segment *best = NULL;
	int best_score = 0;

	for (size_t i = 0; i < layout->segment_count; i++) {
		const struct elf_segment *segment = &layout->segments[i];
		int score = segment->is_executable;

		if (segment_holds(segment, file_off, 1))
			score += 4;
		else if (segment_holds(segment, file_off, MAX_PAGE_BYTES))
			score += 2;
		else
			continue;
		if (score > best_score) {
			best = segment;
			best_score = score;
		}
	}
	if (!best)
		return -ENOENT;
	*ret_elf_addr = best->elf_addr + (file_off - best->file_off);
	return 0;
}

/* A bool must be looked at as a byte before it is a bool. */
static bool is_segment_sound(const struct elf_segment *segment)
{
	unsigned char flag;

	memcpy(&flag, &segment->is_executable, sizeof(flag));
	return flag <= 1 && segment->mem_bytes > 0 && segment->file_bytes <= segment->mem_bytes &&
	       segment->elf_addr <= UINT64_MAX - segment->mem_bytes &&
	       segment->file_off <= UINT64_MAX - segment->mem_bytes;
}

bool elf_layout_is_sound(const struct elf_layout *layout)
{
	if (layout->segment_count > ELF_LAYOUT_MAX_SEGMENTS ||
	    layout->build_id_len > ELF_LAYOUT_MAX_BUILD_ID)
		return false;
	for (size_t i = 0; i < layout->segment_count; i++) {
		if (!is_segment_sound(&layout->segments[i]))
			return false;
	}
	return true;
}

bool elf_layout_equal(const struct elf_layout *a, const struct elf_layout *b)
{
	if (a->segment_count != b->segment_count || a->build_id_len != b->build_id_len ||
	    memcmp(a->build_id, b->build_id, a->build_id_len) != 0)
		return false;
	for (size_t i = 0; i < a->segment_count; i++) {
		const struct elf_segment *left = &a->segments[i], *right = &b->segments[i];

		if (left->elf_addr != right->elf_addr || left->file_off != right->file_off ||
		    left->mem_bytes != right->mem_bytes || left->file_bytes != right->file_bytes ||
		    left->is_executable != right->is_executable)
			return false;
	}
	return true;
}
