// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what the JVM says of one piece of code -> the section "inline table"
 * units:   bytes
 * threads: one at a time, under the naming lock
 * errors:  false if it finds no room; what it has named is then to be taken back
 * source:  shared/README.md, section 1
 */
#ifndef FGAGENT_INLINE_TABLE_H
#define FGAGENT_INLINE_TABLE_H

#include "naming.h"

struct inline_table {
	const struct method_reader *reader;
	struct naming_memory *memory; /* the section is built there */
	size_t max_bytes;
	struct method_text *self; /* filled if the record itself has to name the method */
	bool failed;		  /* the JVM did not tell all names */
	size_t len;		  /* of the section */
};

/* Reader to self are given; self is to be freed by the caller in any case. */
bool inline_table_encode(struct inline_table *table, const struct naming_code *code);

#endif
