// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a load event's code and inlining -> the section "inline table" of its record
 * units:   bytes
 * threads: one at a time, under the naming lock
 * errors:  false if there is no room; the caller then takes back the IDs that were given
 * source:  shared/README.md, section 1
 */
#ifndef FGAGENT_METHODS_INLINE_TABLE_H
#define FGAGENT_METHODS_INLINE_TABLE_H

#include "methods/loaded_code.h"
#include "methods/method_ids.h"
#include "methods/method_set.h"
#include "methods/method_text.h"

#define INLINE_TABLE_MAX_BYTES (256u << 10)

/* Room in which a table is built; pages that are not used cost nothing. */
struct inline_table_memory {
	struct method_set set;
	struct wire_line lines[METHOD_LINES_MAX];
	uint8_t section[INLINE_TABLE_MAX_BYTES];
};

struct inline_table {
	const struct method_reader *reader;
	struct method_ids *ids;		    /* IDs of methods that have been named */
	struct inline_table_memory *memory; /* room for the section */
	size_t max_bytes;
	struct method_text *self; /* filled if the record's own strings have to name the method */
	bool failed;		  /* the JVM did not tell all names */
	size_t len;		  /* bytes of the section */
};

/* The caller sets the members reader to self, and frees self's texts afterwards in any case. */
bool inline_table_encode(struct inline_table *table, const struct loaded_code *code);

#endif
