// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a stack of a process at a time -> named frames, leaf first
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: the model's
 * errors:  what cannot be named becomes [unknown: reason] of kind FRAME_UNKNOWN and is counted
 * source:  none
 */
#ifndef FG_SYMBOLIZE_SYMBOLIZER_H
#define FG_SYMBOLIZE_SYMBOLIZER_H

#include "symbolize/debuginfod.h"
#include "symbolize/frame.h"
#include "symbolize/kernel_code.h"
#include "symbolize/module_cache.h"
#include "symbolize/native_lines.h"
#include "symbolize/symbolizer_context.h"
#include "unwind/stack.h"

#include <stdbool.h>
#include <stddef.h>

struct symbolizer; /* opaque */

/* What a stack's frames say about its quality. */
struct symbolizer_verdict {
	bool is_java_named; /* every frame in generated code has one */
	/* A frame of interpreted code is of no method, and no other frame is without a name. */
	bool is_interpreted_unnamed;
	bool is_rooted; /* the last frame is a thread's or the process's entry */
	/*
	 * Symbols are still being loaded, and somebody patient asks (files/table_cache.h): the stack
	 * is to be named again, and nothing has been counted.
	 */
	bool is_waiting;
};

/* tables is borrowed. */
int symbolizer_new(struct table_cache *tables, struct symbolizer **ret);
void symbolizer_free(struct symbolizer *symbolizer); /* NULL is legal */

/* Why kernel frames have no names, a sentence with the remedy, or NULL. */
const char *symbolizer_kernel_problem(const struct symbolizer *symbolizer);

/* A recording is about to begin; takes some 0.2 s where the kernel's symbols are read. */
void symbolizer_begin(struct symbolizer *symbolizer);

/* The kernel says that code of its own came or went. */
void symbolizer_apply_kernel(struct symbolizer *symbolizer, const struct perf_record *record);

/* The most frames of a stack; past it inlined ones are left out, and their caller says so. */
#define SYMBOLIZER_MAX_FRAMES (16 * STACK_MAX)

/*
 * Names the stack into ret, which has room for SYMBOLIZER_MAX_FRAMES: one frame an entry, and in
 * front of it those that were inlined into it; behind a stack that is not whole a label with the
 * reason. Returns how many. Their texts live until the next
 * call.
 */
size_t symbolizer_name(struct symbolizer *symbolizer, const struct symbolizer_context *context,
		       const struct stack *stack, struct frame *ret,
		       struct symbolizer_verdict *ret_verdict);

/* A text of the caller's as a frame of kind FRAME_LABEL; lives until symbolizer_name is called. */
struct frame symbolizer_label(struct symbolizer *symbolizer, const char *text);

/* How far DWARF was read; zero-filled if nobody asked. */
void symbolizer_lines_stats(const struct symbolizer *symbolizer, struct native_lines_stats *ret);
/* What servers were asked for; zero-filled if the user did not want that. */
void symbolizer_debuginfod_stats(const struct symbolizer *symbolizer, struct debuginfod_stats *ret);
void symbolizer_kernel_stats(const struct symbolizer *symbolizer, struct kernel_code_stats *ret);
/* The memory of names, and how often all were forgotten because they had too much. */
void symbolizer_names_stats(const struct symbolizer *symbolizer, size_t *ret_bytes,
			    uint64_t *ret_forgotten);

#endif
