// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a frame of perf script -> the functions that were inlined there, by its file's DWARF
 * units:   elf_addr
 * threads: one
 * errors:  none: what cannot be found is 0 places, and is counted
 * source:  symbolize/native_lines.h
 *
 * The text says where a process had its code; where that is in the file follows from the function's
 * name and the offset in it, as the file's symbols have them. Files are those of this host, at the
 * paths that the text says: regular ones alone, each read by a process that can open no other.
 */
#ifndef FG_IMPORT_INLINED_H
#define FG_IMPORT_INLINED_H

#include "symbolize/dwarf_lines.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INLINED_MAX_FILES 256

struct inlined; /* opaque */

/* All as the text has it. */
struct inlined_place {
	const char *file; /* terminated */
	const char *name; /* likewise */
	uint64_t pc;
	uint64_t offset; /* in the function */
	bool has_offset;
	bool is_return; /* pc is behind a call */
};

struct inlined_stats {
	uint64_t no_files;   /* that could not be read, or past INLINED_MAX_FILES */
	uint64_t no_debug;   /* without DWARF, or whose DWARF is broken */
	uint64_t late;	     /* places whose answer did not come in time */
	uint64_t no_symbols; /* places in functions that their file does not have */
};

struct inlined *inlined_new(void);	    /* NULL if out of memory */
void inlined_free(struct inlined *inlined); /* NULL is legal */

/* As dwarf_lines_find; texts are borrowed until the next call. */
size_t inlined_find(struct inlined *inlined, const struct inlined_place *place,
		    struct dwarf_place ret[DWARF_LINES_MAX_DEPTH]);

void inlined_stats(const struct inlined *inlined, struct inlined_stats *ret);

#endif
