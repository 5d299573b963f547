// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what the JVM says of one piece of code -> the section "inline table"
 * units:   bytes
 * threads: one at a time, under the naming lock
 * errors:  false if it finds no room; what it has named is then to be taken back
 * source:  shared/README.md, section 1
 */
#ifndef FGAGENT_METHODS_INLINE_TABLE_H
#define FGAGENT_METHODS_INLINE_TABLE_H

#include "methods/loaded_code.h"
#include "methods/method_ids.h"
#include "methods/method_set.h"
#include "methods/method_text.h"

#define INLINE_TABLE_MAX_BYTES (256u << 10)

/* What a table is built in; pages that are not used cost nothing. */
struct inline_table_memory {
	struct method_set set;
	struct wire_line lines[METHOD_LINES_MAX];
	uint8_t section[INLINE_TABLE_MAX_BYTES];
};

struct inline_table {
	const struct method_reader *reader;
	struct method_ids *ids;		    /* of the methods that have been named */
	struct inline_table_memory *memory; /* the section is built there */
	size_t max_bytes;
	struct method_text *self; /* filled if the record itself has to name the method */
	bool failed;		  /* the JVM did not tell all names */
	size_t len;		  /* of the section */
};

/* Reader to self are given; self is to be freed by the caller in any case. */
bool inline_table_encode(struct inline_table *table, const struct loaded_code *code);

#endif
