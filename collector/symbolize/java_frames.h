// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   an address in a JVM's generated code at a time -> the method there, and the methods
 *          inlined there
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: the model's
 * errors:  an interpreted method that cannot be named is [interpreted], or Interpreter if its frame
 *          was not found either; both count as unnamed
 * source:  none
 *
 * The agent's records name compiled code and stubs. The JVM's memory names interpreted methods.
 */
#ifndef FG_SYMBOLIZE_JAVA_FRAMES_H
#define FG_SYMBOLIZE_JAVA_FRAMES_H

#include "symbolize/frame_texts.h"
#include "symbolize/symbolizer_context.h"
#include "unwind/stack.h"

/*
 * Names the frames at entry, the innermost inlined one first, and returns their number; 0: the
 * agent told of no code there. If there is no room, inlined frames are left out and their caller
 * says so. The verdict is told of a method without a name, and stays as it is otherwise.
 */
size_t java_frames_name(struct frame_texts *texts, const struct symbolizer_context *context,
			const struct stack_entry *entry, struct frame_room room,
			struct symbolizer_verdict *verdict);

/*
 * Whether the entry is Continuation.enterSpecial, by which a carrier thread runs a virtual thread.
 */
bool java_frames_is_mounting(const struct symbolizer_context *context,
			     const struct stack_entry *entry);
/*
 * Whether one of the frames is of an interpreter that has no frames of its own: that of a Zero VM,
 * which is C++ and keeps Java's frames elsewhere. Its Java methods are not among the frames.
 */
bool java_frames_are_hidden(const struct frame *frames, size_t n);

#endif
