// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   an address of the kernel, of a file that a process has mapped, or of code that another
 *          runtime told of -> its function, and those inlined into it
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: the model's
 * errors:  what cannot be named becomes [unknown: reason] of kind FRAME_UNKNOWN
 * source:  none
 *
 * The kernel's are named by kallsyms and by what the kernel told of code that came and went, those
 * of a file by its best table, and by their function's start if that has no name.
 */
#ifndef FG_SYMBOLIZE_NATIVE_FRAMES_H
#define FG_SYMBOLIZE_NATIVE_FRAMES_H

#include "symbolize/debuginfod.h"
#include "symbolize/frame_texts.h"
#include "symbolize/kernel_code.h"
#include "symbolize/library_name.h"
#include "symbolize/module_cache.h"
#include "symbolize/native_lines.h"
#include "symbolize/symbolizer_context.h"
#include "unwind/stack.h"

struct native_frames; /* opaque */

/* Both are borrowed. */
int native_frames_new(struct table_cache *tables, struct frame_texts *texts,
		      struct native_frames **ret);
void native_frames_free(struct native_frames *native); /* NULL is legal */

/* Borrowed. */
struct kernel_code *native_frames_kernel(const struct native_frames *native);

/*
 * caller: the place that it returns to, or 0. Filters of classic BPF, such as the seccomp filter of
 * nearly every container, are compiled and have no symbol: their caller says what they are.
 */
struct frame native_frames_name_kernel(struct native_frames *native, uint64_t addr, uint64_t caller,
				       uint64_t time_ns);

/*
 * How many frames the place has, innermost first, at least 1; if there is no room for all, the
 * function's own. *ret_is_named becomes false if it is generated code that nobody told of, and is
 * left alone otherwise.
 */
size_t native_frames_name(struct native_frames *native, const struct symbolizer_context *context,
			  const struct stack_entry *entry, struct frame_room room,
			  bool *ret_is_named);

/*
 * What the file of a mapping is called in frames: not by a part of its name that is another one in
 * each run, unless names are raw. May be ret.
 */
const char *native_frames_module(struct native_frames *native,
				 const struct symbolizer_context *context,
				 const struct mapping *mapping, char ret[LIBRARY_NAME_BYTES]);

/* Whether the frame has no name but its function's start. */
bool native_frames_is_by_start(const struct frame *frame);

void native_frames_lines_stats(const struct native_frames *native, struct native_lines_stats *ret);
void native_frames_debuginfod_stats(const struct native_frames *native,
				    struct debuginfod_stats *ret);

#endif
