// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a stack's process and time, and the style of its names
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: none; a plain value
 * errors:  none
 * source:  none
 */
#ifndef FG_SYMBOLIZE_SYMBOLIZER_CONTEXT_H
#define FG_SYMBOLIZE_SYMBOLIZER_CONTEXT_H

#include "code/java_name.h"
#include "process/process.h"
#include "symbolize/demangle.h"

#include <stdbool.h>
#include <stdint.h>

/* The process and time of a stack, and how its frames are to be named. */
struct symbolizer_context {
	/* NULL: user frames stay unknown. Names of interpreted methods are added to it. */
	struct process *process;
	uint64_t time_ns;
	struct java_name_options names;
	enum demangle_style cxx_names; /* style of C++ and Rust names */
	/* inlined functions of files, and lines, are read from DWARF */
	bool has_native_lines;
	/* the stack of a virtual thread ends where it is mounted on its carrier thread */
	bool cuts_carriers;
};

#endif
