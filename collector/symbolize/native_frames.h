// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   an address in the kernel, in a mapped file or in another runtime's code -> its function,
 *          and the functions inlined there
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: the model's
 * errors:  an address that cannot be named becomes [unknown: reason] of kind FRAME_UNKNOWN
 * source:  none
 *
 * Kernel addresses are named by kernel_code.h. Addresses of a file are named by its best symbol
 * table, and where that has no name, by the start of their function. Other runtimes' code is named
 * by the perf maps that they write.
 */
#ifndef FG_SYMBOLIZE_NATIVE_FRAMES_H
#define FG_SYMBOLIZE_NATIVE_FRAMES_H

#include "files/library_name.h"
#include "symbolize/debuginfod.h"
#include "symbolize/demangler.h"
#include "symbolize/frame_texts.h"
#include "symbolize/kernel_code.h"
#include "symbolize/module_cache.h"
#include "symbolize/name_source.h"
#include "symbolize/native_lines.h"
#include "symbolize/symbolizer_context.h"
#include "unwind/stack.h"

struct native_frames; /* opaque */

/*
 * tables, texts and source are borrowed. source answers for the kernel's symbols and for DWARF;
 * NULL: this host does.
 */
int native_frames_new(struct table_cache *tables, struct frame_texts *texts,
		      const struct name_source *source, struct native_frames **ret);
void native_frames_free(struct native_frames *native); /* NULL is legal */

/* Tells watch of what is named from now on; watch is borrowed, NULL: nobody is told. */
void native_frames_watch(struct native_frames *native, const struct name_watch *watch);

/* The kernel's code, borrowed; NULL if a source answers. */
struct kernel_code *native_frames_kernel(const struct native_frames *native);

/*
 * caller: the return address of the frame, or 0. Filters of classic BPF, such as the seccomp filter
 * of nearly every container, are compiled and have no symbol: the name of their caller tells what
 * they are.
 */
struct frame native_frames_name_kernel(struct native_frames *native, uint64_t addr, uint64_t caller,
				       uint64_t time_ns);

/*
 * Names the frames at entry, the innermost inlined one first, and returns their number, at least 1.
 * If there is no room for all, only the function's own frame is given. *ret_is_named becomes false
 * for generated code that no runtime told of, and stays as it is otherwise.
 */
size_t native_frames_name(struct native_frames *native, const struct symbolizer_context *context,
			  const struct stack_entry *entry, struct frame_room room,
			  bool *ret_is_named);

/*
 * The module name of a mapping's file, without a random part (library_name.h) unless names are raw.
 * The result may be ret.
 */
const char *native_frames_module(struct native_frames *native,
				 const struct symbolizer_context *context,
				 const struct mapping *mapping, char ret[LIBRARY_NAME_BYTES]);

/* What demangles names, borrowed. */
struct demangler *native_frames_demangler(const struct native_frames *native);
/* Counts of names whose texts were still to come: for those who ask again, and for the others. */
uint64_t native_frames_late(const struct native_frames *native);
uint64_t native_frames_put_off(const struct native_frames *native);

/* Whether the frame has no name and shows its function's start instead. */
bool native_frames_is_by_start(const struct frame *frame);

/* Sets the limit of answers of DWARF readers, in bytes. */
void native_frames_limit_lines(struct native_frames *native, size_t bytes);
void native_frames_lines_stats(const struct native_frames *native, struct native_lines_stats *ret);
void native_frames_debuginfod_stats(const struct native_frames *native,
				    struct debuginfod_stats *ret);

#endif
