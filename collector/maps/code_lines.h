// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a code range's inline table -> the source line of each of its addresses
 * units:   addr in the target's address space, lines count from 1
 * threads: one at a time
 * errors:  without memory the list ends early
 * source:  linux tools/perf/Documentation/jitdump-specification.txt, JIT_CODE_DEBUG_INFO
 *
 * Where methods were inlined, the line is that of the innermost method. A file's name is the path
 * by which javac finds the source: java/lang/String.java.
 */
#ifndef FG_MAPS_CODE_LINES_H
#define FG_MAPS_CODE_LINES_H

#include "base/arena.h"
#include "code/code_map.h"
#include "maps/jitdump.h"

/* A zero-filled struct is valid and empty. */
struct code_lines {
	struct jitdump_line *lines; /* rising by addr, neighbours differ */
	size_t count, size;
	struct arena files;
	const struct code_method *last; /* the method of the last line */
	uint64_t addr;
};

/* Replaces the lines by those of the range. */
void code_lines_collect(struct code_lines *lines, const struct code_range *range);
void code_lines_fini(struct code_lines *lines);

#endif
