// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a place in a piece of compiled code -> the methods that were inlined there
 * units:   offsets in bytes from the code's first
 * threads: the model's; a table never changes once made
 * errors:  negative errno
 * source:  shared/README.md, METHOD_LOAD, section 1; HotSpot's jvmticmlr.h
 *
 * It keeps the regions encoded, some bytes each, because tables are many and look-ups are few.
 */
#ifndef FG_CODE_INLINE_TABLE_H
#define FG_CODE_INLINE_TABLE_H

#include "code/code_methods.h"

#include <stdbool.h>

struct inline_table; /* opaque */

struct inline_frame {
	const struct code_method *method;
	int32_t bci; /* WIRE_BCI_UNKNOWN if not known */
};

/*
 * From methods that were read already and what is left of the wire's table. Takes a reference of
 * each method; methods[0] is the one that was compiled. Regions that reach beyond size, are broken
 * or too many refuse the table as a whole: -EBADMSG, -ENOSPC, -ENOMEM.
 */
int inline_table_new(struct code_methods *store, struct code_method *const *methods,
		     const struct wire_inline *rest, uint32_t size, struct inline_table **ret);
void inline_table_free(struct inline_table *table); /* NULL is legal */

/* The table's own number, base/serial.h. */
uint64_t inline_table_serial(const struct inline_table *table);

/* The method that was compiled. */
const struct code_method *inline_table_root(const struct inline_table *table);

/*
 * The frames at the instruction that offset lies in, innermost first; at least one, the compiled
 * method's. Of more than max the outermost are left out.
 */
size_t inline_table_find(const struct inline_table *table, uint32_t offset,
			 struct inline_frame *ret, size_t max);

/* Whether a region ends at one of the offsets from first to last. */
bool inline_table_ends_within(const struct inline_table *table, uint32_t first, uint32_t last);

/* One region after the other, frames innermost first; what no region covers is not shown. */
typedef void inline_table_visit(void *arg, uint32_t start, uint32_t end,
				const struct inline_frame *frames, size_t n);
void inline_table_walk(const struct inline_table *table, inline_table_visit *visit, void *arg);

#endif
