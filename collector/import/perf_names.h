// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a frame of perf script -> the frames that it means, root first
 * units:   none
 * threads: any
 * errors:  none: what has no name is called by its file
 * source:  the names that perf, perf-map-agent and HotSpot's map give; stackcollapse-perf.pl's
 *          users
 *
 * Kept apart: the kernel's files are [kernel.kallsyms], [module], vmlinux and *.ko, and not [vdso];
 * generated code is in /tmp/perf-PID.map or jitted-PID-N.so, and is a method only if it is called
 * like one. root->caller->inlined are three frames.
 */
#ifndef FG_IMPORT_PERF_NAMES_H
#define FG_IMPORT_PERF_NAMES_H

#include "base/arena.h"
#include "import/import_options.h"
#include "symbolize/dwarf_lines.h"
#include "symbolize/frame.h"

#include <stddef.h>

/* What perf_names_of writes itself of a frame without a name: brackets and an address. */
#define PERF_NAMES_ROOM 8u

/*
 * All terminated. name is changed, and has room for file, pc and PERF_NAMES_ROOM bytes; the frames
 * point into it and into file.
 */
struct perf_names {
	char *name;
	const char *file; /* as perf shows it, without the parentheses; "inlined"; or "" */
	const char *pc;
	const struct dwarf_place *inlined; /* in it, innermost first, the function itself last */
	size_t inlined_count;		   /* 0: nothing is known */
	struct arena *arena;		   /* for names of these; they live as long */
};

/* At most max; the rest of a long chain of inlined methods is left out. */
size_t perf_names_of(const struct import_options *options, struct perf_names *names,
		     struct frame *ret, size_t max);

#endif
