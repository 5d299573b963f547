// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   an address of a JVM's generated code at a time -> the method there, and those inlined
 *          into it
 * units:   CLOCK_MONOTONIC nanoseconds
 * threads: the model's
 * errors:  an interpreted method that cannot be named is [interpreted], or Interpreter where its
 *          frame was not even found; neither counts as a name
 * source:  none
 *
 * Compiled code and stubs are named by what the agent said of them, interpreted methods by what the
 * JVM's memory says.
 */
#ifndef FG_SYMBOLIZE_JAVA_FRAMES_H
#define FG_SYMBOLIZE_JAVA_FRAMES_H

#include "symbolize/frame_texts.h"
#include "symbolize/symbolizer_context.h"
#include "unwind/stack.h"

/*
 * How many frames the place has, innermost first; 0: it is none that an agent spoke of. Inlined
 * frames for which there is no room are left out, and their caller says so. *ret_is_named becomes
 * false if the method's name is missing, and is left alone otherwise.
 */
size_t java_frames_name(struct frame_texts *texts, const struct symbolizer_context *context,
			const struct stack_entry *entry, struct frame_room room,
			bool *ret_is_named);

/* Whether it is the frame by which a carrier thread runs a virtual one. */
bool java_frames_is_mounting(const struct symbolizer_context *context,
			     const struct stack_entry *entry);

#endif
