// SPDX-License-Identifier: Apache-2.0
/* Finds blocks by the heaps' segment maps, see code_heaps.h. */
#include "outside/code_heaps.h"

#include "base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WORD		 8
#define MAX_LOG2_SEGMENT 20
#define SEGMENTS_AT_ONCE ((size_t)256 << 10)

struct heap {
	uint64_t boundary; /* up to there memory may grow */
	struct vm_span memory, segmap;
	int32_t log2_segment;
};

static bool is_pointer(uint64_t addr)
{
	return addr && addr % WORD == 0 && addr < UINT64_C(1) << 56;
}

/* Reads pointers to heaps; *ret_n of them. */
static int find_heaps(struct vm_memory *memory, const struct code_layout *layout,
		      uint64_t ret[CODE_HEAPS_MAX], size_t *ret_n)
{
	uint64_t array = 0, data = 0;
	int32_t len = 0;
	int err;

	*ret_n = 0;
	if (!layout->heaps) {
		err = vm_memory_get(memory, layout->heap, &ret[0], WORD);
		*ret_n = !err && ret[0] ? 1 : 0;
		return err;
	}
	err = vm_memory_get(memory, layout->heaps, &array, WORD);
	if (err || !array)
		return err;
	if (!is_pointer(array))
		return -EPROTO;
	err = vm_memory_get(memory, array + layout->array_len, &len, sizeof(len));
	if (!err)
		err = vm_memory_get(memory, array + layout->array_data, &data, WORD);
	if (err)
		return err;
	if (len < 0 || len > CODE_HEAPS_MAX || (len > 0 && !is_pointer(data)))
		return -EPROTO;
	*ret_n = (size_t)len;
	return len > 0 ? vm_memory_get(memory, data, ret, (size_t)len * WORD) : 0;
}

static bool is_sound(const struct heap *heap)
{
	uint64_t segments;

	if (heap->memory.low > heap->memory.high || heap->segmap.low > heap->segmap.high ||
	    heap->memory.high - heap->memory.low > CODE_HEAPS_MAX_BYTES || heap->log2_segment < 4 ||
	    heap->log2_segment > MAX_LOG2_SEGMENT)
		return false;
	segments = (heap->memory.high - heap->memory.low) >> heap->log2_segment;
	return heap->boundary >= heap->memory.high &&
	       heap->boundary - heap->memory.low <= CODE_HEAPS_MAX_BYTES &&
	       segments <= heap->segmap.high - heap->segmap.low;
}

static int read_heap(struct vm_memory *memory, const struct code_layout *layout, uint64_t at,
		     struct heap *ret)
{
	const uint64_t space = at + layout->memory, map = at + layout->segmap;
	struct vm_piece pieces[] = {
		{.addr = space + layout->low, .into = &ret->memory.low, .len = WORD},
		{.addr = space + layout->high, .into = &ret->memory.high, .len = WORD},
		{.addr = map + layout->low, .into = &ret->segmap.low, .len = WORD},
		{.addr = map + layout->high, .into = &ret->segmap.high, .len = WORD},
		{.addr = at + layout->log2_segment,
		 .into = &ret->log2_segment,
		 .len = sizeof(ret->log2_segment)},
		{.addr = space + (layout->has_boundary ? layout->boundary : layout->high),
		 .into = &ret->boundary,
		 .len = WORD},
	};

	if (!is_pointer(at))
		return -EPROTO;
	vm_memory_gather(memory, pieces, sizeof(pieces) / sizeof(*pieces));
	for (size_t i = 0; i < sizeof(pieces) / sizeof(*pieces); i++) {
		if (!pieces[i].is_read)
			return memory->err ? memory->err : -EFAULT;
	}
	return is_sound(ret) ? 0 : -EPROTO;
}

static int add_block(struct code_blocks *blocks, uint64_t addr, uint64_t end)
{
	if (blocks->count >= CODE_HEAPS_MAX_BLOCKS) {
		blocks->left_out++;
		return 0;
	}
	if (ARRAY_RESERVE(blocks->blocks, blocks->size, blocks->count + 1) < 0)
		return -ENOMEM;
	blocks->blocks[blocks->count++] = (struct code_block){.addr = addr, .end = end};
	return 0;
}

/* Adds the blocks that begin in a part of the map; first: the number of its first segment. */
static int add_blocks(const struct heap *heap, const uint8_t *map, size_t n, uint64_t first,
		      struct code_blocks *ret)
{
	const uint8_t *at = map;
	int err = 0;

	while (!err && (at = memchr(at, 0, n - (size_t)(at - map)))) {
		const uint64_t segment = first + (uint64_t)(at - map);

		err = add_block(ret, heap->memory.low + (segment << heap->log2_segment),
				heap->memory.high);
		at++;
	}
	return err;
}

static int list_heap(struct vm_memory *memory, const struct heap *heap, uint8_t *map,
		     struct code_blocks *ret)
{
	const uint64_t segments = (heap->memory.high - heap->memory.low) >> heap->log2_segment;

	for (uint64_t at = 0; at < segments;) {
		const uint64_t left = segments - at;
		const size_t n = left < SEGMENTS_AT_ONCE ? (size_t)left : SEGMENTS_AT_ONCE;
		int err = vm_memory_get(memory, heap->segmap.low + at, map, n);

		if (!err)
			err = add_blocks(heap, map, n, at, ret);
		if (err)
			return err;
		at += n;
	}
	return 0;
}

/* Reads all heaps, in order of address. Heaps that overlap are none. */
static int read_heaps(struct vm_memory *memory, const struct code_layout *layout,
		      struct heap ret[CODE_HEAPS_MAX], size_t *ret_n)
{
	uint64_t addrs[CODE_HEAPS_MAX];
	size_t n = 0;
	int err = find_heaps(memory, layout, addrs, &n);

	for (size_t i = 0; !err && i < n; i++) {
		struct heap heap;
		size_t at = i;

		err = read_heap(memory, layout, addrs[i], &heap);
		for (; !err && at > 0 && ret[at - 1].memory.low > heap.memory.low; at--)
			ret[at] = ret[at - 1];
		if (!err)
			ret[at] = heap;
	}
	for (size_t i = 1; !err && i < n; i++) {
		if (ret[i].memory.low < ret[i - 1].memory.high)
			err = -EPROTO;
	}
	*ret_n = err ? 0 : n;
	return err;
}

int code_heaps_list(struct vm_memory *memory, const struct code_layout *layout,
		    struct code_blocks *ret)
{
	uint8_t *const map = malloc(SEGMENTS_AT_ONCE);
	struct heap heaps[CODE_HEAPS_MAX];
	size_t n = 0;
	int err = map ? read_heaps(memory, layout, heaps, &n) : -ENOMEM;

	ret->count = 0;
	ret->left_out = 0;
	ret->n_heaps = 0;
	for (size_t i = 0; !err && i < n; i++) {
		ret->heaps[ret->n_heaps++] =
			(struct vm_span){heaps[i].memory.low, heaps[i].boundary};
		err = list_heap(memory, &heaps[i], map, ret);
	}
	free(map);
	return err;
}

void code_blocks_fini(struct code_blocks *blocks)
{
	free(blocks->blocks);
	*blocks = (struct code_blocks){0};
}
