// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   an address and a time -> the kernel's function, module or BPF program there at that time
 * units:   kernel addresses, CLOCK_MONOTONIC nanoseconds
 * threads: one at a time; kernel_code_use_thread makes one more
 * errors:  false: no name; kernel_code_problem says why the kernel shows no names at all
 * source:  /proc/kallsyms, /proc/modules, PERF_RECORD_KSYMBOL of perf_event_open(2)
 *
 * /proc/kallsyms is read at the start and again in three cases: a recording begins and the last
 * reading is KERNEL_LOOK_INTERVAL_NS old; modules have come or gone; an address has no name. In the
 * last two cases at least KERNEL_READ_INTERVAL_NS lies between two readings, because one takes some
 * tenths of a second. For addresses without a name the pause doubles with each reading that finds
 * no name, up to KERNEL_READ_MAX_PAUSE_NS.
 *
 * After kernel_code_use_thread a thread reads, and nobody waits for the thread. Answers are those
 * of the last reading until the next one is done. An address without a name is late then, not
 * unnamed.
 *
 * While something is recorded, the kernel reports BPF programs and trampolines that come and go,
 * with their times. These reports count for more than kallsyms, because the addresses are used
 * again.
 */
#ifndef FG_SYMBOLIZE_KERNEL_CODE_H
#define FG_SYMBOLIZE_KERNEL_CODE_H

#include "base/counters.h"
#include "sample/record.h"
#include "symbolize/kernel_symbols.h"

#include <stdbool.h>

#define KERNEL_READ_INTERVAL_NS	 UINT64_C(2000000000)
#define KERNEL_READ_MAX_PAUSE_NS UINT64_C(64000000000)
#define KERNEL_LOOK_INTERVAL_NS	 UINT64_C(1000000000)

struct kernel_code; /* opaque */

struct kernel_code_stats {
	size_t symbols;	  /* symbols in kallsyms */
	uint64_t reads;	  /* readings of kallsyms that are done */
	uint64_t late;	  /* look-ups without a name while kallsyms was being read */
	uint64_t told;	  /* reports of the kernel that code came or went */
	uint64_t lost;	  /* reports for which there was no room */
	uint64_t unnamed; /* look-ups without a name */
	size_t bytes;	  /* memory of symbols, of those that are being read, and of reports */
};
extern const struct counters kernel_code_counters;

/*
 * Paths of files to read in place of the kernel's, for tests; a NULL pointer to the struct: the
 * kernel's.
 */
struct kernel_code_files {
	const char *symbols, *modules;
	kernel_load_fn load; /* NULL: kernel_symbols_load_from */
};

int kernel_code_new(const struct kernel_code_files *files, uint64_t now_ns,
		    struct kernel_code **ret);
void kernel_code_free(struct kernel_code *code); /* NULL is legal */
/* Has a thread read from now on. */
int kernel_code_use_thread(struct kernel_code *code);
/* Readings that are done, the one included that has not been taken from the thread. */
uint64_t kernel_code_reads(const struct kernel_code *code);
/* Look-ups without a name that may have one when the reading under way is done. */
uint64_t kernel_code_late(const struct kernel_code *code);

/*
 * Call it when a recording is about to begin, because code that came before was not reported. Code
 * that comes between this call and the recording's first event is read when a sample hits it.
 */
void kernel_code_begin(struct kernel_code *code, uint64_t now_ns);

/* Applies a PERF_RECORD_KSYMBOL: kernel code came or went. */
void kernel_code_apply(struct kernel_code *code, const struct record *record);

struct kernel_place {
	const char *name, *module; /* module in brackets */
	uint64_t owner; /* owner for frame_cache.h, of all answers that hold at any time; 0: none */
};

/*
 * Finds the code at addr at time_ns; the texts are borrowed until the next call. now_ns limits how
 * often the kernel's files are read. Returns false if there is no name.
 */
bool kernel_code_find(struct kernel_code *code, uint64_t addr, uint64_t time_ns, uint64_t now_ns,
		      struct kernel_place *ret);
/*
 * For an address that kernel_code_find does not know: reads kallsyms again if that is due, and
 * looks again.
 */
bool kernel_code_read_for(struct kernel_code *code, uint64_t addr, uint64_t now_ns,
			  struct kernel_place *ret);
/*
 * The owner that an answer at addr has at any time. 0: the kernel has reported code there, or the
 * list of modules is due to be read.
 */
uint64_t kernel_code_owner(const struct kernel_code *code, uint64_t addr, uint64_t now_ns);

/*
 * kernel_code_problem: why there are no names, a sentence with the remedy, or NULL.
 * kernel_code_hidden: what kernel frames are called then.
 */
const char *kernel_code_problem(const struct kernel_code *code);
const char *kernel_code_hidden(const struct kernel_code *code);

void kernel_code_stats(const struct kernel_code *code, struct kernel_code_stats *ret);

#endif
