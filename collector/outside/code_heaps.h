// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a JVM's code heaps -> the blocks of them that are in use
 * units:   addr in the process; bytes
 * threads: one at a time, any
 * errors:  negative errno: -EPROTO heaps that cannot be HotSpot's, -ENOMEM, those of vm_memory.h
 * source:  HotSpot's memory/heap.hpp and heap.cpp of JDK 8 to 26
 *
 * A code heap is an array of segments of 2^n bytes, with a map of one byte for each segment: 0
 * begins a block, any other value says how many segments to go back at least, 0xff is free. A block
 * is a header and, if it is in use, a CodeBlob behind the header.
 */
#ifndef FG_OUTSIDE_CODE_HEAPS_H
#define FG_OUTSIDE_CODE_HEAPS_H

#include "outside/code_layout.h"

#define CODE_HEAPS_MAX	      8
#define CODE_HEAPS_MAX_BLOCKS (1u << 19) /* as code_map.h has ranges */
#define CODE_HEAPS_MAX_BYTES  (UINT64_C(4) << 30)

struct code_block {
	uint64_t addr; /* of the header */
	uint64_t end;  /* of the heap's memory */
};

struct code_blocks {
	struct code_block *blocks; /* of each heap in rising order */
	size_t count, size;
	uint64_t left_out;		      /* past CODE_HEAPS_MAX_BLOCKS */
	struct vm_span heaps[CODE_HEAPS_MAX]; /* with what they may grow by, if it is known */
	size_t n_heaps;
};

/*
 * Finds all blocks, in rising order. Blocks that are free are among them, and are told
 * apart by their headers. A JVM that has no heaps yet has no blocks.
 */
int code_heaps_list(struct vm_memory *memory, const struct code_layout *layout,
		    struct code_blocks *ret);
void code_blocks_fini(struct code_blocks *blocks);

#endif
