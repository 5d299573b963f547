// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   what the symbolizer asks of the kernel's symbols, of files and of their DWARF -> whoever
 *          is to know, or is to answer
 * units:   kernel addresses; addr in the target's address space; elf_addr
 * threads: the model's
 * errors:  none
 * source:  none
 *
 * A watch is told of questions and answers while stacks are named. A source answers in the place of
 * this host, for a replay of stacks that were named elsewhere.
 */
#ifndef FG_SYMBOLIZE_NAME_SOURCE_H
#define FG_SYMBOLIZE_NAME_SOURCE_H

#include "files/file_watch.h"
#include "symbolize/dwarf_lines.h"
#include "symbolize/frame.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An address in the kernel, and the address that called it; caller 0: not known. */
struct kernel_call {
	uint64_t addr, caller;
};

/* An address of a process's file whose lines are asked for. */
struct line_place {
	pid_t pid;
	const struct mapping *mapping;
	uint64_t elf_addr;
};

/* The texts are borrowed for the call. */
struct name_watch {
	struct file_watch files; /* of symbol tables */
	void (*kernel)(void *arg, const struct kernel_call *call, const struct frame *frame);
	void (*lines)(void *arg, const struct line_place *place, const struct dwarf_place *found,
		      size_t n);
	void *arg;
};

/* The texts of answers must live until the next question. */
struct name_source {
	bool (*kernel)(void *arg, const struct kernel_call *call, struct frame *ret);
	/* ret has room for DWARF_LINES_MAX_DEPTH places. Returns their number. */
	size_t (*lines)(void *arg, const struct line_place *place, struct dwarf_place *ret);
	void *arg;
};

#endif
