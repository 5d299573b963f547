// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a frame of perf script -> the frames that it means, root first
 * units:   none
 * threads: any
 * errors:  none: a frame without a name is called by its file
 * source:  the names that perf, perf-map-agent and HotSpot's perf map write; stackcollapse-perf.pl
 *
 * The kernel's files are [kernel.kallsyms], [module], vmlinux and *.ko, but not [vdso]. Generated
 * code is in /tmp/perf-PID.map or jitted-PID-N.so; a name there is a method only if it has the form
 * of one. root->caller->inlined is three frames, and "inlined in root" two, as the styles of perf
 * maps have them (code/perf_map_style.h). Names of C++ and Rust that are still as the linker has
 * them are demangled. A JIT's cache, such as [JIT app cache], is no module of the kernel.
 */
#ifndef FG_IMPORT_PERF_NAMES_H
#define FG_IMPORT_PERF_NAMES_H

#include "base/arena.h"
#include "import/import_options.h"
#include "symbolize/dwarf_lines.h"
#include "symbolize/frame.h"

#include <stdbool.h>
#include <stddef.h>

/* Bytes that perf_names_of may add to a frame without a name: brackets and an address. */
#define PERF_NAMES_ROOM 8u

/*
 * All texts are terminated. name is changed; its buffer must have room for file, pc and
 * PERF_NAMES_ROOM more bytes. The frames point into name and file.
 */
struct perf_names {
	char *name;
	const char *file; /* as in the text, without the parentheses; "inlined"; or "" */
	const char *pc;
	/* the functions inlined at pc, innermost first, the function itself last */
	const struct dwarf_place *inlined;
	size_t inlined_count; /* 0: not known */
	struct arena *arena;  /* for their names, which live as long */
};

/*
 * Writes at most max frames to ret and returns their number; further inlined methods are left out.
 */
size_t perf_names_of(const struct import_options *options, struct perf_names *names,
		     struct frame *ret, size_t max);

/* The name in the arena, demangled and without parameters; name itself if it is not mangled. */
const char *perf_names_plain(struct arena *arena, const char *name);
/*
 * Cuts off the hash with which names of Rust end where they are demangled in the old way, and
 * spells out what rustc writes for other characters than letters. False: the name has no hash.
 */
bool perf_names_cut_hash(char *name);

#endif
