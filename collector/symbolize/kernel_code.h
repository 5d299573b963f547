// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   address and time -> the kernel's function, module or BPF program that was there
 * units:   addr in the kernel, CLOCK_MONOTONIC nanoseconds
 * threads: one at a time
 * errors:  NULL for what has no name; why there are no names at all is kernel_code_problem
 * source:  /proc/kallsyms, /proc/modules, PERF_RECORD_KSYMBOL of perf_event_open(2)
 *
 * The symbols are read at the start, and again when a recording begins, when modules have come or
 * gone, and for an address that has no name: at most every KERNEL_READ_INTERVAL_NS, and less often
 * while that leads to no name, for it takes some tenths of a second. BPF programs and trampolines
 * that come and go while something is recorded are told of with their times, which counts for more:
 * their addresses are used again.
 */
#ifndef FG_SYMBOLIZE_KERNEL_CODE_H
#define FG_SYMBOLIZE_KERNEL_CODE_H

#include "sample/perf_record.h"
#include "symbolize/kernel_symbols.h"

#include <stdbool.h>

#define KERNEL_READ_INTERVAL_NS	 UINT64_C(2000000000)
#define KERNEL_READ_MAX_PAUSE_NS UINT64_C(64000000000)
#define KERNEL_LOOK_INTERVAL_NS	 UINT64_C(1000000000)

struct kernel_code; /* opaque */

struct kernel_code_stats {
	size_t symbols;	  /* of kallsyms */
	uint64_t reads;	  /* of kallsyms */
	uint64_t told;	  /* pieces of code that the kernel said came or went */
	uint64_t lost;	  /* of these, those for which there was no room */
	uint64_t unnamed; /* look-ups in vain */
};

/* Where symbols and modules are read from; NULL: the kernel's own files. For tests. */
struct kernel_code_files {
	const char *symbols, *modules;
};

int kernel_code_new(const struct kernel_code_files *files, uint64_t now_ns,
		    struct kernel_code **ret);
void kernel_code_free(struct kernel_code *code); /* NULL is legal */

/*
 * A recording is about to begin: what came before it was not told. What comes between this and its
 * first event is read once a sample hits it.
 */
void kernel_code_begin(struct kernel_code *code, uint64_t now_ns);

/* The kernel says that code came or went. */
void kernel_code_apply(struct kernel_code *code, const struct perf_record *record);

struct kernel_place {
	const char *name, *module; /* module in brackets */
	uint64_t owner; /* of frame_cache.h: of all answers alike, at any time; 0: of none */
};

/* Borrowed until the next call. now_ns paces looks at the kernel's files. */
bool kernel_code_find(struct kernel_code *code, uint64_t addr, uint64_t time_ns, uint64_t now_ns,
		      struct kernel_place *ret);
/* For what kernel_code_find does not know: the symbols are read again, if that is due. */
bool kernel_code_read_for(struct kernel_code *code, uint64_t addr, uint64_t now_ns,
			  struct kernel_place *ret);
/*
 * The owner that answers at addr would have whatever the time, or 0: something was told of there,
 * or it is time to look at the kernel's files.
 */
uint64_t kernel_code_owner(const struct kernel_code *code, uint64_t addr, uint64_t now_ns);

/* Why there are no names, a sentence with the remedy, or NULL; and what frames are called then. */
const char *kernel_code_problem(const struct kernel_code *code);
const char *kernel_code_hidden(const struct kernel_code *code);

void kernel_code_stats(const struct kernel_code *code, struct kernel_code_stats *ret);

#endif
