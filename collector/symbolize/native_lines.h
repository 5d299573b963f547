// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a place in a process's file -> the functions inlined there, with lines, from its DWARF
 * units:   elf_addr; nanoseconds
 * threads: the model's
 * errors:  none: what is not known, or not yet, is 0 places, and is counted
 * source:  dwarf_lines.h, fork(2), setrlimit(2)
 *
 * Each file's DWARF is opened and read by a process of its own (fork), which can open nothing more
 * once it has it, has limits of memory and processor time, and ends with this one: a file made to
 * crash libdw, or to keep it busy, costs its own lines and nothing else. An answer is waited for
 * only as long as a file's budget of waiting lasts; one that comes later serves the next question.
 */
#ifndef FG_SYMBOLIZE_NATIVE_LINES_H
#define FG_SYMBOLIZE_NATIVE_LINES_H

#include "symbolize/dwarf_lines.h"
#include "memory/address_space.h"

#include <stdbool.h>
#include <sys/types.h>

#define NATIVE_LINES_MAX_FILES 32

struct native_lines; /* opaque */

struct native_lines_file {
	uint64_t serial; /* of its symbols: files of one serial have the same DWARF */
	pid_t pid;	 /* a process that maps it, for when it has to be opened */
	const struct mapping *mapping;
	bool sees_root; /* debug files of pid's root are read: only if serial is that root's alone */
};

struct native_lines_stats {
	size_t files; /* that have a process now */
	uint64_t answers;
	uint64_t late;	 /* questions whose answer was not there in time */
	uint64_t failed; /* files without DWARF, or whose process has ended */
};

struct native_lines *native_lines_new(void);	    /* NULL if out of memory */
void native_lines_free(struct native_lines *lines); /* NULL is legal */

/* So long all answers of a file may be waited for together; 400 ms unless this says otherwise. */
void native_lines_wait(struct native_lines *lines, uint64_t wait_ns);

/* As dwarf_lines_find; texts are borrowed until the next call. */
size_t native_lines_find(struct native_lines *lines, const struct native_lines_file *file,
			 uint64_t elf_addr, struct dwarf_place *ret);

void native_lines_stats(const struct native_lines *lines, struct native_lines_stats *ret);

#endif
