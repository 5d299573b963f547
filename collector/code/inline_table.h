// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   an offset in compiled code -> the methods that were inlined there
 * units:   offsets in bytes from the start of the code
 * threads: the model's; a table never changes once made
 * errors:  negative errno
 * source:  shared/README.md, METHOD_LOAD, section 1; HotSpot's jvmticmlr.h
 *
 * A table divides the code into regions; the instructions of a region have the same frames. Regions
 * stay encoded, some bytes each, because tables are many and look-ups are few.
 */
#ifndef FG_CODE_INLINE_TABLE_H
#define FG_CODE_INLINE_TABLE_H

#include "code/code_methods.h"

#include <stdbool.h>

/*
 * The most frames of a table's checkpoints, of which each 16th region is one. HotSpot compiles no
 * method of which they are a tenth of it.
 */
#define INLINE_TABLE_MAX_FRAMES (1u << 18)

/* The most methods of a table, as said. HotSpot inlines some hundred methods into one. */
#define INLINE_TABLE_MAX_METHODS 8192u

struct inline_table; /* opaque */

struct inline_frame {
	const struct code_method *method;
	int32_t bci; /* bytecode index; WIRE_BCI_UNKNOWN: not known */
};

/*
 * Makes a table of methods that were read already and of rest, the part of the wire's table behind
 * the methods. methods[0] is the compiled method; size is the size of the code. Adds a reference to
 * each method. -EBADMSG if a region is broken or reaches beyond size, -ENOSPC past
 * INLINE_TABLE_MAX_FRAMES or the store's max_bytes, -ENOMEM.
 */
int inline_table_new(struct code_methods *store, struct code_method *const *methods,
		     const struct wire_inline *rest, uint32_t size, struct inline_table **ret);
void inline_table_free(struct inline_table *table); /* NULL is legal */

/* The table's serial number, see base/serial.h. */
uint64_t inline_table_serial(const struct inline_table *table);

/* The compiled method, borrowed. */
const struct code_method *inline_table_root(const struct inline_table *table);

/*
 * Sets ret to the frames at the instruction in which offset lies, innermost first; at least one
 * frame, that of the compiled method. If there are more than max, the outermost frames are left
 * out. Returns the number of frames.
 */
size_t inline_table_find(const struct inline_table *table, uint32_t offset,
			 struct inline_frame *ret, size_t max);

/* Where the last region ends. HotSpot's handlers and stubs of the code lie behind. */
uint32_t inline_table_end(const struct inline_table *table);

/* Whether a region ends at one of the offsets from first to last. */
bool inline_table_ends_within(const struct inline_table *table, uint32_t first, uint32_t last);

/*
 * Calls visit for each region in turn, frames innermost first; code without a region is left out.
 */
typedef void inline_table_visit(void *arg, uint32_t start, uint32_t end,
				const struct inline_frame *frames, size_t n);
void inline_table_walk(const struct inline_table *table, inline_table_visit *visit, void *arg);

#endif
