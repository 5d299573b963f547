// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   an address in a process's file -> the functions inlined there, with lines, from its
 *          DWARF
 * units:   elf_addr; nanoseconds
 * threads: the model's
 * errors:  none: an address that is not known, or not yet, has 0 places and is counted
 * source:  dwarf_lines.h, confine/zygote.h
 *
 * Each file's DWARF is read by a parser of its own (confine/zygote.h), so a zygote has to be there.
 * So a file made to crash libdw or to keep it busy loses its own lines and nothing else.
 * All answers of a file are waited for within one budget of time; an answer that comes later serves
 * the next question for its address.
 */
#ifndef FG_SYMBOLIZE_NATIVE_LINES_H
#define FG_SYMBOLIZE_NATIVE_LINES_H

#include "base/counters.h"
#include "memory/address_space.h"
#include "symbolize/dwarf_lines.h"

#include <stdbool.h>
#include <sys/types.h>

#define NATIVE_LINES_MAX_FILES 32

struct native_lines; /* opaque */

struct native_lines_file {
	/* serial number of its symbol table: files with one serial have the same DWARF */
	uint64_t serial;
	pid_t pid; /* a process that maps the file, through which the file is opened */
	const struct mapping *mapping;
	/*
	 * debug files in pid's root are read too; set it only if the symbol table is private to
	 * that root
	 */
	bool sees_root;
};

struct native_lines_stats {
	size_t files; /* files that have a parser now */
	uint64_t answers;
	uint64_t late;	    /* questions whose answer came too late */
	uint64_t failed;    /* files without DWARF, or whose parser has ended */
	uint64_t forgotten; /* times that a file's answers were forgotten: too many */
	size_t bytes;	    /* memory of answers */
};
extern const struct counters native_lines_counters;

struct native_lines *native_lines_new(void);	    /* NULL if out of memory */
void native_lines_free(struct native_lines *lines); /* NULL is legal */

/* Sets how long all answers of a file together may be waited for; 400 ms without this call. */
void native_lines_wait(struct native_lines *lines, uint64_t wait_ns);

/*
 * Sets the limit of the memory of all answers together; none without this call. Past it the file
 * with the most has its answers forgotten.
 */
void native_lines_limit(struct native_lines *lines, size_t bytes);

/* As dwarf_lines_find; the texts are borrowed until the next call. */
size_t native_lines_find(struct native_lines *lines, const struct native_lines_file *file,
			 uint64_t elf_addr, struct dwarf_place *ret);

void native_lines_stats(const struct native_lines *lines, struct native_lines_stats *ret);

#endif
