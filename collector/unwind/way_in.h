// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a frame and its caller -> whether the caller can have entered Java there
 * units:   addr in the target's address space
 * threads: any, values
 * errors:  what is not known is not doubted
 * source:  HotSpot's stubGenerator_x86_64.cpp (generate_call_stub), sharedRuntime_x86_64.cpp
 *          (gen_i2c_adapter)
 *
 * Java is entered by HotSpot's call stub, and by stubs for upcalls; no function of a file calls a
 * Java method. The call stub's frame says how many words of arguments it has pushed, and so where
 * the frame of the method that it has called begins. Old words of a stack often are return
 * addresses into the call stub. A walk that takes one of them comes to the thread's entry all the
 * same, and has lost the frames between.
 */
#ifndef FG_UNWIND_WAY_IN_H
#define FG_UNWIND_WAY_IN_H

#include "unwind/step.h"

/* Where a walk has come to, and from where. */
struct way_in {
	const struct code_range *callee; /* of the frame before; NULL: it was not generated code */
	const struct code_range *range;	 /* of the frame now; NULL: likewise */
	const struct mapping *mapping;	 /* of the frame now, if range is NULL; or NULL */
};

/* Whether the frame before can have been called by the frame that the walk is in. */
bool way_in_is_possible(const struct walk *walk, const struct way_in *way);

#endif
