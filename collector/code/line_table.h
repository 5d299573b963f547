// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   HotSpot's compressed line number table of a method -> the line of a bytecode
 * units:   bytecode indices; lines count from 1, 0 is not known
 * threads: any
 * errors:  a broken table ends at the first byte that makes no sense
 * source:  CompressedLineNumberReadStream and UNSIGNED5 of HotSpot, JDK 8 to 25
 */
#ifndef FG_CODE_LINE_TABLE_H
#define FG_CODE_LINE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct line_table {
	const uint8_t *bytes; /* borrowed; may be longer than the table */
	size_t len;
	bool is_biased; /* JDK 20 and later */
};

/* The size of the table with its end mark; 0 if the bytes have no end mark. */
size_t line_table_bytes(const struct line_table *table);

/* The line of the bytecode at index bci; 0 if not known. */
uint32_t line_table_find(const struct line_table *table, int32_t bci);

/* A walk through the entries, in the order of the class file. Only table is set at first. */
struct line_table_walk {
	const struct line_table *table;
	size_t pos;
	uint32_t bci, line; /* of the entry */
};

/* False at the end of the table, and where it is broken. */
bool line_table_next(struct line_table_walk *walk);

#endif
