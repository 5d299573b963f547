// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   whose code is to be named, as of when, in which style
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: none; a plain value
 * errors:  none
 * source:  none
 */
#ifndef FG_SYMBOLIZE_SYMBOLIZER_CONTEXT_H
#define FG_SYMBOLIZE_SYMBOLIZER_CONTEXT_H

#include "symbolize/demangle.h"
#include "code/java_name.h"
#include "process/process.h"

#include <stdbool.h>
#include <stdint.h>

/* Whose stack it is, when, and how its Java methods are to be called. */
struct symbolizer_context {
	struct process *process; /* NULL: user frames are unknown; learns of interpreted methods */
	uint64_t time_ns;
	struct java_name_options names;
	enum demangle_style cxx_names; /* of C++ and Rust */
	bool has_native_lines;	       /* functions inlined in files, and their lines, from DWARF */
	bool cuts_carriers;	       /* a virtual thread's stack ends where it was mounted */
};

#endif
