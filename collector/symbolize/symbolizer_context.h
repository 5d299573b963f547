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

/* What the frames say about a stack's quality. */
struct symbolizer_verdict {
	bool is_java_named; /* every frame in generated code has a name, and Java is not hidden */
	/* An interpreted frame has no method's name, and no frame is of kind FRAME_UNKNOWN. */
	bool is_interpreted_unnamed;
	bool is_rooted; /* the last frame is the entry of a thread or of the process */
	/*
	 * Symbol tables are still being loaded, and the table cache is patient
	 * (files/table_cache.h): name the stack again later.
	 */
	bool is_waiting;
	/* Frames of interpreted methods without a name, to be counted where the stack is taken. */
	uint32_t unnamed[JAVA_METHODS_REASONS];
};

#endif
