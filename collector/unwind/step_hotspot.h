// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a frame of HotSpot's generated code -> its caller's registers, by the kind of the code
 * units:   addr in the target's address space; words of 8 bytes where called so
 * threads: the model's
 * errors:  enum step; false and NULL where the snapshot or the code map do not say
 * source:  HotSpot's frame.hpp, codeBlob.hpp, frame_<cpu>.hpp
 *
 * HotSpot's frames are of three kinds, and each kind has a step of its own. step_hotspot() (step.h)
 * chooses among the three by the frame's code range. This header is for the four of them alone.
 *
 *   compiled code      A frame of fixed size, whole from a known offset on. In a prologue or an
 *                      epilogue the code's own bytes say how much of the frame there is.
 *   interpreted code   A frame with a frame pointer. The Method, the bytecode's address and the
 *                      sender's stack pointer lie at fixed distances from the frame pointer.
 *   stub               Mostly no frame, or a frame of fixed size. The call stub keeps a frame
 *                      pointer.
 */
#ifndef FG_UNWIND_STEP_HOTSPOT_H
#define FG_UNWIND_STEP_HOTSPOT_H

#include "unwind/step.h"

#include <string.h>

#define HOTSPOT_STACK_ALIGN_BYTES 16 /* alignment of compiled frames */

/* Leaves a frame of an nmethod, native wrappers included. entry gets a deoptimized frame's call. */
enum step step_compiled(struct walk *walk, const struct code_range *range,
			struct stack_entry *entry);
/* Leaves an interpreted frame. entry gets the frame's Method and bytecode. */
enum step step_interpreted(struct walk *walk, const struct code_range *range,
			   struct stack_entry *entry);
/* Leaves a frame of a stub, a blob or an adapter. */
enum step step_stub(struct walk *walk, const struct code_range *range);

/*
 * Reads from the code's bytes how much of a frame there is: of a leaf, or of compiled code that has
 * called a function of a file. False: the bytes could not be read, and *ret is a guess from the
 * pc's offset in the code.
 */
bool hotspot_read_frame(struct walk *walk, const struct code_range *range, enum arch_frame *ret);
/* Likewise, and what is left of an interpreted frame. */
bool hotspot_read_form(struct walk *walk, const struct code_range *range, struct leaf_form *ret);
bool hotspot_is_interpreter(const struct code_range *range);

/* Finds the compiled code of known frame size that return_addr leads into. NULL: no such code. */
const struct code_range *hotspot_find_compiled(const struct walk *walk, uint64_t return_addr);

/*
 * Whether compiled code at pc, with its stack pointer at sp, returns to code. True for other code
 * than compiled code, because its frame is not known.
 */
bool hotspot_leads_on(const struct walk *walk, uint64_t pc, uint64_t sp);

/*
 * Reads the word at a slot of the frame, counted from the frame pointer. False for a slot that has
 * not been pushed yet, because a frame is made word by word.
 */
bool hotspot_read_slot(const struct walk *walk, int slot, uint64_t *ret);

/*
 * Leaves a frame that an exception passes through. Such a frame is taken down before the VM is
 * asked where to go on. Meanwhile the return address lies on top of the stack, and the exception
 * lies in front of or behind the return address. words_behind: the words behind the return address
 * that are removed, too.
 */
enum step hotspot_leave_unwound(struct walk *walk, uint64_t words_behind);

/*
 * Whether the range is code that thaws frames of a virtual thread: it has them copied from the heap
 * to the stack. hotspot_leave_thawing leaves that code while the code is on the carrier's stack.
 */
bool hotspot_thaws(const struct code_range *range);
enum step hotspot_leave_thawing(struct walk *walk, const struct code_range *range);

static inline bool hotspot_is_named(const struct code_range *range, const char *part)
{
	return range->name && strstr(range->name, part);
}

/*
 * Whether the range is the stub by which the VM calls Java. A native function calls Java by stubs
 * of other frames, upcall_stub_(JJ)J for instance.
 */
static inline bool hotspot_is_call_stub(const struct code_range *range)
{
	return range->kind == CODE_STUB && hotspot_is_named(range, "call_stub") &&
	       !hotspot_is_named(range, "upcall_stub");
}

#endif
