// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a stack of a process at a time -> named frames, leaf first
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: the model's
 * errors:  a frame that cannot be named becomes [unknown: reason] of kind FRAME_UNKNOWN and is
 *          counted
 * source:  none
 */
#ifndef FG_SYMBOLIZE_SYMBOLIZER_H
#define FG_SYMBOLIZE_SYMBOLIZER_H

#include "symbolize/debuginfod.h"
#include "symbolize/demangler.h"
#include "symbolize/frame.h"
#include "symbolize/kernel_code.h"
#include "symbolize/module_cache.h"
#include "symbolize/name_source.h"
#include "symbolize/native_lines.h"
#include "symbolize/symbolizer_context.h"
#include "unwind/stack.h"

#include <stdbool.h>
#include <stddef.h>

struct symbolizer; /* opaque */

/* tables is borrowed. */
int symbolizer_new(struct table_cache *tables, struct symbolizer **ret);
void symbolizer_free(struct symbolizer *symbolizer); /* NULL is legal */

/*
 * A symbolizer for a replay: source answers for the kernel's symbols and for DWARF, borrowed.
 * Nothing of this host is read, and debuginfod is not asked.
 */
int symbolizer_new_replayed(struct table_cache *tables, const struct name_source *source,
			    struct symbolizer **ret);

/* Tells watch of what is named from now on; watch is borrowed, NULL: nobody is told. */
void symbolizer_watch(struct symbolizer *symbolizer, const struct name_watch *watch);

/* Why kernel frames have no names, a sentence with the remedy, or NULL. */
const char *symbolizer_kernel_problem(const struct symbolizer *symbolizer);

/* Call it when a recording is about to begin. Takes some 0.2 s if the kernel's symbols are read. */
void symbolizer_begin(struct symbolizer *symbolizer);
/* A count of tables, of lists of the kernel's symbols and of demangled names, that have come. */
uint64_t symbolizer_loads(const struct symbolizer *symbolizer);
/* A count of names and tables that were used before they were there. */
uint64_t symbolizer_put_off(const struct symbolizer *symbolizer);
/*
 * Asks for texts of names and takes them, see demangler.h. symbolizer_fd: readable when some came.
 */
void symbolizer_step(struct symbolizer *symbolizer);
int symbolizer_fd(const struct symbolizer *symbolizer); /* -1: none is ever to come */

/* Applies a PERF_RECORD_KSYMBOL: kernel code came or went. */
void symbolizer_apply_kernel(struct symbolizer *symbolizer, const struct record *record);

/* The most frames of a stack. Beyond them inlined frames are left out, and their caller says so. */
#define SYMBOLIZER_MAX_FRAMES (16 * STACK_MAX)

/*
 * Names the stack into ret, which has room for SYMBOLIZER_MAX_FRAMES, and returns the number of
 * frames: one for each entry, in front of it the frames inlined there, and behind a stack that is
 * not whole a label with the reason. Their texts live until the next call.
 */
size_t symbolizer_name(struct symbolizer *symbolizer, const struct symbolizer_context *context,
		       const struct stack *stack, struct frame *ret,
		       struct symbolizer_verdict *ret_verdict);

/*
 * Makes a frame of kind FRAME_LABEL with a copy of text, which lives until the next
 * symbolizer_name.
 */
struct frame symbolizer_label(struct symbolizer *symbolizer, const char *text);

/* Counts of the reading of DWARF; all 0 if nothing has asked for lines. */
void symbolizer_lines_stats(const struct symbolizer *symbolizer, struct native_lines_stats *ret);
/* Counts of debuginfod; all 0 if the user has not set it up. */
void symbolizer_debuginfod_stats(const struct symbolizer *symbolizer, struct debuginfod_stats *ret);
void symbolizer_demangler_stats(const struct symbolizer *symbolizer, struct demangler_stats *ret);
void symbolizer_kernel_stats(const struct symbolizer *symbolizer, struct kernel_code_stats *ret);
/* Limits of names and of answers of DWARF readers, in bytes. */
void symbolizer_set_limits(struct symbolizer *symbolizer, size_t names, size_t lines);
/* The memory of names and of frames that are kept. */
size_t symbolizer_bytes(const struct symbolizer *symbolizer);
/* The bytes of all names, and how often all names were freed because they were too many. */
void symbolizer_names_stats(const struct symbolizer *symbolizer, size_t *ret_bytes,
			    uint64_t *ret_forgotten);

#endif
