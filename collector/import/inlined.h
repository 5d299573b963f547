// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a frame of perf script -> the functions inlined there, by the DWARF of its file
 * units:   elf_addr
 * threads: one
 * errors:  none: a frame that cannot be found has 0 places and is counted
 * source:  symbolize/native_lines.h
 *
 * The text of perf script says at which address of a process the code was. The address in the file
 * follows from the function's name and the offset in it, by the file's symbol table. Files are the
 * files of this host at the paths in the text. Only regular files are read, each by a process that
 * can open no other file.
 */
#ifndef FG_IMPORT_INLINED_H
#define FG_IMPORT_INLINED_H

#include "symbolize/dwarf_lines.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INLINED_MAX_FILES 256

struct inlined; /* opaque */

/* The frame as in the text. */
struct inlined_place {
	const char *file; /* terminated */
	const char *name; /* terminated */
	uint64_t pc;
	uint64_t offset; /* offset in the function */
	bool has_offset;
	bool is_return; /* pc is a return address */
};

struct inlined_stats {
	uint64_t no_files;   /* files that could not be read, or beyond INLINED_MAX_FILES */
	uint64_t no_debug;   /* files without DWARF, or with broken DWARF */
	uint64_t late;	     /* places whose answer did not come in time */
	uint64_t no_symbols; /* places in functions that their file does not have */
};

struct inlined *inlined_new(void);	    /* NULL if out of memory */
void inlined_free(struct inlined *inlined); /* NULL is legal */

/* As dwarf_lines_find; the texts are borrowed until the next call. */
size_t inlined_find(struct inlined *inlined, const struct inlined_place *place,
		    struct dwarf_place ret[DWARF_LINES_MAX_DEPTH]);

void inlined_stats(const struct inlined *inlined, struct inlined_stats *ret);

#endif
