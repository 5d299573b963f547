// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a code range's inline table -> which source line each of its addresses is of
 * units:   addr in the target's address space, lines count from 1
 * threads: one at a time
 * errors:  without memory the list ends early
 * source:  linux tools/perf/Documentation/jitdump-specification.txt, JIT_CODE_DEBUG_INFO
 *
 * Of a place at which methods were inlined it is the innermost's line. Files are called as javac
 * would have found them: java/lang/String.java.
 */
#ifndef FG_MAPS_CODE_LINES_H
#define FG_MAPS_CODE_LINES_H

#include "base/arena.h"
#include "code/code_map.h"
#include "maps/jitdump.h"

/* A zero-filled one is a valid, empty one. */
struct code_lines {
	struct jitdump_line *lines; /* rising by addr, neighbours differ */
	size_t count, size;
	struct arena files;
	const struct code_method *last; /* whose file the last line's is */
	uint64_t addr;
};

void code_lines_collect(struct code_lines *lines, const struct code_range *range);
void code_lines_fini(struct code_lines *lines);

#endif
